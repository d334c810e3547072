package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"odarchive/cmd/internal/config"
	"odarchive/crawler/copies/vault"
	"odarchive/triplestore/disk"
)

// noteFile, in the data directory, says which continuous backup the directory writes or wrote. Without it, a directory
// could be written that another one has replaced (FORMAT.md).
const noteFile = "continuous-backup"

// backupNote is the content of noteFile.
type backupNote struct {
	To   string `json:"to"` // the backup's URL
	Days int    `json:"days"`
	Wait bool   `json:"wait,omitempty"`
	// Begun says that this directory has been the writer of that backup.
	Begun bool `json:"begun,omitempty"`
	// Epoch is the last one in which this directory wrote the backup; a backup that ends with an earlier one is an
	// older copy. 0 if it is not known.
	Epoch uint64 `json:"epoch,omitempty"`
	// Vault is the id that the backup had then; one that was begun anew in the same place has another. "" if it is not
	// known.
	Vault string `json:"vault,omitempty"`
	// Replaced is when it was seen that another directory is the writer now, and By that one's address, if it is known.
	Replaced time.Time `json:"replaced,omitzero"`
	By       string    `json:"by,omitempty"`
	location
}

// location is where a directory was. What is at another place is a copy of it, or has been moved.
type location struct {
	Dir  string `json:"dir"` // without symbolic links
	Host string `json:"host"`
	// when the file holder was made, in nanoseconds since 1970, as the file system says; 0 if it does not
	Born int64 `json:"born,omitempty"`
}

func locationOf(dir string) (p location, err error) {
	if p.Dir, err = filepath.Abs(dir); err != nil {
		return p, err
	}
	if real, err := filepath.EvalSymlinks(p.Dir); err == nil {
		p.Dir = real
	}
	if p.Host, err = os.Hostname(); err != nil {
		return p, err
	}
	p.Born = born(filepath.Join(dir, holderFile))
	return p, nil
}

// is reports whether two places are of one directory: it may have been moved, mounted elsewhere, or its machine
// renamed, but no copy of it is as old.
func (p location) is(q location) bool {
	return p.Born != 0 && p.Born == q.Born || p.Dir == q.Dir && p.Host == q.Host
}

// maxNote is the most bytes of a note that are read.
const maxNote = 16 << 10

// errNote is the error of a note that cannot be believed.
var errNote = errors.New("it is damaged")

// readNote returns the note of a directory. It is zero if there is none.
func readNote(dir string) (n backupNote, err error) {
	n, err = readNoteFile(dir, noteFile, parseNote)
	if errors.Is(err, errNote) {
		err = fmt.Errorf(
			"%w: start the server once with --backup-to and the backup's URL, or 'odarchive backup --detach' if there is none any more",
			err)
	}
	if err != nil {
		return backupNote{}, fmt.Errorf("%s: %w", filepath.Join(dir, noteFile), err)
	}
	return n, nil
}

// readNoteFile reads a note from a file. It is zero if there is none. What cannot be read is errNote, whatever it is
// instead.
func readNoteFile(dir, name string, parse func([]byte) (backupNote, error)) (n backupNote, err error) {
	text, err := disk.ReadFile(disk.OS{}, filepath.Join(dir, name), maxNote)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return n, nil
	case errors.Is(err, fs.ErrPermission):
		return n, err
	case err != nil:
		return n, fmt.Errorf("%w: %w", errNote, err)
	}
	return parse(text)
}

func parseNote(text []byte) (n backupNote, err error) {
	if _, right := checkSeal(text); !right {
		return n, fmt.Errorf("%w: its checksum does not match", errNote)
	}
	if err := json.Unmarshal(text, &n); err != nil || n.To == "" || n.Dir == "" {
		return n, fmt.Errorf("%w: it names no backup", errNote)
	}
	return n, nil
}

func (n backupNote) write(dir string) error {
	text, err := seal(n)
	if err == nil {
		err = disk.WriteFile(disk.OS{}, filepath.Join(dir, noteFile), text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("note the continuous backup: %w", err)
	}
	return nil
}

// remove removes files of a directory that are there.
func remove(dir string, names ...string) error {
	for _, name := range names {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// NoteWriter notes that a directory is the writer of the archive in a backup, which has an id, since an epoch; 0 and ""
// if that is to come.
func NoteWriter(dir string, to config.Backup, epoch uint64, vault string) error {
	return noteBackup(dir, to, true, epoch, vault)
}

// LastEpoch returns the last epoch in which a directory wrote a backup, also if it was replaced since; 0 if that is not
// known.
func LastEpoch(dir, to string) uint64 {
	if n, err := readNote(dir); err == nil && n.To == to {
		return n.Epoch
	}
	return 0
}

// noteBackup notes the backup of a directory. begun says that the directory is its writer.
func noteBackup(dir string, to config.Backup, begun bool, epoch uint64, vault string) error {
	if _, err := HolderOf(dir); err != nil { // its age is part of the note
		return err
	}
	at, err := locationOf(dir)
	if err != nil {
		return fmt.Errorf("note the continuous backup: %w", err)
	}
	n := backupNote{To: to.To, Days: to.Days, Wait: to.Wait, Begun: begun, Epoch: epoch, Vault: vault, location: at}
	if had, err := readNote(dir); err == nil && had == n {
		return nil
	}
	return n.write(dir)
}

// noteReplaced notes that another directory, at the address by, is the writer of a backup.
func noteReplaced(dir, to, by string) error {
	n, err := readNote(dir)
	if err != nil || n.To != to || n.Replaced.IsZero() {
		n.To, n.Begun, n.Replaced = to, true, time.Now().UTC().Truncate(time.Second)
	}
	if n.By = by; n.Dir == "" {
		if n.location, err = locationOf(dir); err != nil {
			return fmt.Errorf("note that another directory is the writer: %w", err)
		}
	}
	return n.write(dir)
}

// Attach makes a directory, which no process uses, go on with the backup that it wrote last, although it is elsewhere
// now. It returns the backup's URL.
func Attach(dir string) (to string, err error) {
	n, err := readNote(dir)
	if err == nil && n.To == "" {
		err = fmt.Errorf("%s has written no continuous backup", dir)
	}
	if err == nil && !n.Replaced.IsZero() {
		err = replacedBy(n.To, n.By)
	}
	if err == nil {
		n.location, err = locationOf(dir)
	}
	if err != nil {
		return "", err
	}
	return n.To, n.write(dir)
}

// OwnIdentity gives the directory of a follower, which no process uses, an identity of its own if it may have that of
// another directory: it was copied from one. A follower that has taken a backup notes that before.
func OwnIdentity(dir string) (vault.Holder, error) {
	n, err := readNote(dir)
	if err != nil && !errors.Is(err, errNote) {
		return "", err
	}
	if at, err := locationOf(dir); err != nil {
		return "", err
	} else if !n.Begun || !n.location.is(at) {
		if err := remove(dir, noteFile, holderFile); err != nil {
			return "", err
		}
	}
	return HolderOf(dir)
}

// Detach makes a directory, which no process uses, forget its continuous backup, for a copy that goes its own way, or
// where that backup is used no more. It returns the backup's URL; "" if there was none.
func Detach(dir string) (to string, err error) {
	n, err := readNote(dir)
	if err != nil && !errors.Is(err, errNote) {
		return "", err
	}
	names := []string{noteFile}
	if at, err := locationOf(dir); err != nil || !n.location.is(at) {
		names = append(names, holderFile) // the backup shall not take a copy for the directory that it was copied from
	}
	if err := remove(dir, names...); err != nil {
		return "", fmt.Errorf("forget the continuous backup: %w", err)
	}
	return n.To, disk.OS{}.SyncDir(dir)
}
