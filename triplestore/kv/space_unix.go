//go:build linux || darwin || freebsd

package kv

import (
	"fmt"
	"syscall"
)

// checkSpace refuses to write while the disk is nearly full: Badger writes through mapped files, and a full disk
// is then a SIGBUS that ends the process, again on every opening.
func (db *DB) checkSpace() error {
	if db.opts.InMemory || db.opts.MinFree < 0 {
		return nil
	}
	var fs syscall.Statfs_t
	if err := syscall.Statfs(db.dir, &fs); err != nil {
		return fmt.Errorf("kv: free space of %s: %w", db.dir, err)
	}
	least := db.opts.MinFree
	if least == 0 {
		least = min(defaultMinFree, int64(fs.Blocks)*int64(fs.Bsize)/4)
	}
	if free := int64(fs.Bavail) * int64(fs.Bsize); free < least {
		return fmt.Errorf("kv: %s: %w: %d MiB left, %d MiB wanted", db.dir, ErrDiskFull, free>>20, least>>20)
	}
	return nil
}

// freeSpace returns the bytes that a disk has left for this user.
func freeSpace(dir string) (int64, bool) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return 0, false
	}
	return int64(fs.Bavail) * int64(fs.Bsize), true
}
