//go:build linux || darwin || freebsd

package content

import (
	"fmt"
	"syscall"
)

// room refuses to write while the disk is nearly full.
func (s *Store) room() error {
	least := s.opts.MinFree
	if least < 0 {
		return nil
	}
	var fs syscall.Statfs_t
	if err := syscall.Statfs(s.dir, &fs); err != nil {
		return fmt.Errorf("content: free space of %s: %w", s.dir, err)
	}
	if least == 0 {
		least = min(defaultMinFree, int64(fs.Blocks)*int64(fs.Bsize)/16*5)
	}
	if free := int64(fs.Bavail) * int64(fs.Bsize); free < least {
		return fmt.Errorf("content: put: %w: %d MiB left, %d MiB wanted", ErrDiskFull, free>>20, least>>20)
	}
	return nil
}
