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

// restoredFile, in a directory that was restored with all that its vault had, says with what, until the directory becomes the writer of a
// vault. A directory that was restored as of a moment has none: it is to go on from there.
const restoredFile = "restored"

// restoredWith is the content of restoredFile.
type restoredWith struct {
	Log    string `json:"log"`       // id of the log in the vault, hexadecimal
	Number uint64 `json:"write_set"` // the last one
}

func (t Target) noteRestored(dir string) error {
	if t.moment {
		return nil
	}
	text, err := json.Marshal(restoredWith{hex.EncodeToString(t.log[:]), t.Number})
	if err != nil {
		return err
	}
	return disk.WriteFile(disk.OS{}, filepath.Join(dir, restoredFile), append(text, '\n'), 0o640)
}

// lacksSince returns an error if a directory was restored, and the vault has got more since then: the directory would drop that if it became
// the writer.
func lacksSince(dir string, end wal.Position) error {
	text, err := disk.ReadFile(disk.OS{}, filepath.Join(dir, restoredFile), maxSmall)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var with restoredWith
	if err == nil {
		err = json.Unmarshal(text, &with)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(dir, restoredFile), err)
	}
	if with.Log != hex.EncodeToString(end.Log[:]) || end.Number <= with.Number {
		return nil
	}
	return fmt.Errorf("%w: it was restored from the backup, which has got %d more write sets since then, from %d on: stop the writer and restore the backup again; or restore it with --at, if the archive is to go on without them",
		ErrBehind, end.Number-with.Number, with.Number+1)
}

// forgetRestored removes restoredFile.
func forgetRestored(dir string) error {
	if err := os.Remove(filepath.Join(dir, restoredFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
