package kv

import (
	"errors"
	"fmt"
	"io/fs"
)

// Held returns an error that is ErrLocked, and names the process, if another process holds the database in a directory.
func Held(dir string) error {
	lock, err := lockDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("kv: %s: %w", dir, err)
	}
	lock.release()
	return nil
}
