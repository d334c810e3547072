package kv

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Held returns an error that is ErrLocked, and names the process, if another process holds the database in a directory,
// also one of an older program. It makes no file.
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
