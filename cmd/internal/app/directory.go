package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// formatVersion is the layout of a data directory that this program writes; it opens this one and older ones.
//
//	1: db/ (Badger), packs/ (file bytes), spool/ (bytes on their way, nothing to keep)
const formatVersion = 1

// directory is what stands in odarchive.json at the root of a data directory.
type directory struct {
	Format  int       `json:"format"`
	Created time.Time `json:"created"`
	Base    string    `json:"base,omitempty"` // below which its IRIs were minted first
}

const directoryFile = "odarchive.json"

// openDirectory checks that dir is an archive this program can read, and makes one of a missing or empty directory if
// it may. Nothing is touched in a directory that holds something else. It gives the base under which the archive began,
// which is kept where the caller may create one.
func openDirectory(dir, base string, create bool, now time.Time) (first string, err error) {
	raw, err := os.ReadFile(filepath.Join(dir, directoryFile))
	switch {
	case err == nil:
		var d directory
		if err := json.Unmarshal(raw, &d); err != nil || d.Format < 1 {
			return "", fmt.Errorf("data directory %s: %s is damaged; it should read {\"format\":%d,...}", dir, directoryFile, formatVersion)
		}
		if d.Format > formatVersion {
			return "", fmt.Errorf("data directory %s has format %d, and this program knows formats up to %d: use a newer odarchive", dir, d.Format, formatVersion)
		}
		if d.Base == "" && create {
			d.Base = base
			return base, d.write(dir)
		}
		return d.Base, nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("data directory %s: %w", dir, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("data directory %s: %w", dir, err)
	}
	if len(entries) > 0 {
		return "", fmt.Errorf("%s is no archive: it holds other files (%s, ...); name another directory with --data", dir, entries[0].Name())
	}
	if !create {
		return "", fmt.Errorf("there is no archive in %s yet: 'odarchive add', 'harvest', 'load' or 'serve' makes one", dir)
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", fmt.Errorf("data directory: %w", err)
	}
	return base, directory{Format: formatVersion, Created: now.UTC().Truncate(time.Second), Base: base}.write(dir)
}

func (d directory) write(dir string) error {
	raw, err := json.Marshal(d)
	if err != nil {
		return err
	}
	name := filepath.Join(dir, directoryFile)
	f, err := os.OpenFile(name+".new", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o640)
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	_, err = f.Write(append(raw, '\n'))
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(name+".new", name)
	}
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	return nil
}
