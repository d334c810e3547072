package vault

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"odarchive/triplestore/disk"
	"odarchive/triplestore/wal"
)

// restoredFile, in a directory that was restored with all that its vault had, says with what, until the directory
// becomes the writer of a vault. A directory that was restored as of a moment has none: it is to go on from there.
const restoredFile = "restored"

// restoredWith is the content of restoredFile.
type restoredWith struct {
	Vault  string `json:"vault"`     // its id
	Log    string `json:"log"`       // id of the log there, hexadecimal
	Number uint64 `json:"write_set"` // the last one
}

func (h *History) noteRestored(t Target, dir string) error {
	if t.moment {
		return nil
	}
	text, err := json.Marshal(restoredWith{h.id, hex.EncodeToString(t.log[:]), t.Number})
	if err != nil {
		return err
	}
	return disk.WriteFile(disk.OS{}, filepath.Join(dir, restoredFile), append(text, '\n'), 0o600)
}

// restoredFrom returns with what a directory was restored from a vault; ok is false if it was not.
func restoredFrom(dir string, h *History) (with restoredWith, ok bool, err error) {
	text, err := disk.ReadFile(disk.OS{}, filepath.Join(dir, restoredFile), maxSmall)
	if errors.Is(err, fs.ErrNotExist) {
		return with, false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &with)
	}
	if err != nil {
		return with, false, fmt.Errorf("%s: %w", filepath.Join(dir, restoredFile), err)
	}
	return with, with.Vault == h.id, nil
}

// lacksSince returns an error if a directory was restored, and the vault has got more since then: the directory would
// drop that if it became the writer.
func lacksSince(dir string, h *History, end wal.Position) error {
	with, ok, err := restoredFrom(dir, h)
	if err != nil || !ok {
		return err
	}
	const then = "restore the backup again, or with --at, if the archive is to go on without them"
	switch {
	case with.Log != hex.EncodeToString(end.Log[:]):
		return fmt.Errorf(
			"%w: it was restored from the backup, in which another directory has begun anew since then, with write sets that this one "+
				"lacks: %s", ErrBehind, then)
	case end.Number > with.Number:
		return fmt.Errorf(
			"%w: it was restored from the backup, which has got %d more write sets since then, from %d on: stop the writer, and %s",
			ErrBehind, end.Number-with.Number, with.Number+1, then)
	}
	return nil
}

// forgetRestored removes restoredFile of a directory that has become the writer of the vault it was restored from.
func forgetRestored(dir string, h *History) error {
	if _, ok, err := restoredFrom(dir, h); err != nil || !ok {
		return err
	}
	if err := os.Remove(filepath.Join(dir, restoredFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
