package kv

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Held returns an ErrLocked that names the process if another process, even of an older version, holds the database in
// a directory. It creates no file.
func Held(dir string) error {
	for _, owned := range []string{dir, filepath.Join(dir, cacheDir)} {
		if _, err := os.Stat(filepath.Join(owned, ownerName)); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		lock, err := lockDir(owned)
		if err != nil {
			return fmt.Errorf("kv: %s: %w", owned, err)
		}
		lock.release()
	}
	return nil
}
