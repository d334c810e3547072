package kv

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Held returns an ErrLocked that names the process if another process holds the database in a directory. It creates no
// file.
func Held(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, ownerName)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	lock, err := lockDir(dir)
	if err != nil {
		return fmt.Errorf("kv: %s: %w", dir, err)
	}
	lock.release()
	return nil
}
