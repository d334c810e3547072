//go:build linux || darwin || freebsd

package content

import (
	"fmt"
	"syscall"
)

// room returns ErrDiskFull if less than Options.MinFree is left on the disk.
func (s *Store) room() error {
	minFree := s.opts.MinFree
	if minFree < 0 {
		return nil
	}
	var fs syscall.Statfs_t
	if err := syscall.Statfs(s.dir, &fs); err != nil {
		return fmt.Errorf("content: free space of %s: %w", s.dir, err)
	}
	if minFree == 0 {
		minFree = min(defaultMinFree, int64(fs.Blocks)*int64(fs.Bsize)/16*5)
	}
	if free := int64(fs.Bavail) * int64(fs.Bsize); free < minFree {
		return fmt.Errorf("content: put: %w: %d MiB left, %d MiB wanted", ErrDiskFull, free>>20, minFree>>20)
	}
	return nil
}
