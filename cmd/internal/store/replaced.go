package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"odarchive/crawler/archive/vault"
	"odarchive/triplestore/disk"
)

// replacedFile, in the data directory of an archive that had a continuous backup, says that another directory is the writer
// now. Without it, the directory would be one that may be written as soon as it is opened without --backup-to.
const replacedFile = "replaced"

// ErrReplaced is why a directory is not written whose archive another one writes.
var ErrReplaced = errors.New("another directory has become the writer of this archive")

// NoteReplaced makes the directory remember that another one is the writer, if the error says so.
func (s *Store) NoteReplaced(why error) error {
	if !errors.Is(why, vault.ErrFenced) {
		return nil
	}
	text := time.Now().UTC().Format(time.RFC3339) + " " + s.Config.Backup.To + "\n"
	if err := disk.WriteFile(disk.OS{}, filepath.Join(s.Config.Data, replacedFile), []byte(text), 0o640); err != nil {
		return fmt.Errorf("note that another directory is the writer: %w", err)
	}
	return nil
}

// forgetReplaced notes that this directory is the writer.
func (s *Store) forgetReplaced() error {
	if err := os.Remove(filepath.Join(s.Config.Data, replacedFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// replaced returns why the directory must not be written: another one is the writer, as far as is known, and no backup is
// named that could be asked.
func (s *Store) replaced() (why, err error) {
	if s.Config.Backup.To != "" {
		return nil, nil
	}
	name := filepath.Join(s.Config.Data, replacedFile)
	text, err := disk.ReadFile(disk.OS{}, name, 4<<10)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	since, backup, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	return fmt.Errorf("%w, since %s: follow it with --follow and --backup-to %s, or remove %s if that one is not used any more", ErrReplaced, since, backup, name), nil
}
