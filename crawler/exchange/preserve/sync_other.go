//go:build !linux

package preserve

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// SyncTree makes everything durable that was written below a folder.
func SyncTree(dir string) error {
	return filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		f, err := os.Open(at)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	})
}
