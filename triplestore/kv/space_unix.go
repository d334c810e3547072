//go:build linux || darwin || freebsd

package kv

import (
	"fmt"
	"syscall"
)

// checkSpace returns ErrDiskFull if the disk is nearly full. Badger writes through mapped files, and on a full disk
// that raises a SIGBUS, which ends the process, again at every opening.
func (db *DB) checkSpace() error { return db.checkFree(1, 0) }

// Room returns ErrDiskFull if less than twice the space is left that the database needs to accept writes. What writes
// other files beside the database asks it, so that it ends before the database has to.
func (db *DB) Room() error { return db.checkFree(2, 0) }

// RoomBeside returns ErrDiskFull if files of so many bytes would leave less than Room asks for.
func (db *DB) RoomBeside(bytes int64) error { return db.checkFree(2, bytes) }

// roomFor returns ErrDiskFull if a file of so many bytes would leave less space than the database needs.
func (db *DB) roomFor(bytes int64) error { return db.checkFree(1, bytes) }

// checkFree returns ErrDiskFull if less than some times the space is left that the database needs, and so many bytes.
func (db *DB) checkFree(times, bytes int64) error {
	if db.opts.InMemory {
		return nil
	}
	return checkFree(db.dir, db.opts.MinFree, times, bytes)
}

// RoomIn is DB.RoomBeside for a directory whose database is not open, with Options.MinFree.
func RoomIn(dir string, minFree, bytes int64) error { return checkFree(dir, minFree, 2, bytes) }

func checkFree(dir string, minFree, times, bytes int64) error {
	if minFree < 0 {
		return nil
	}
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return fmt.Errorf("kv: free space of %s: %w", dir, err)
	}
	if minFree == 0 {
		minFree = min(defaultMinFree, int64(fs.Blocks)*int64(fs.Bsize)/4)
	}
	minFree = minFree*times + bytes
	if free := int64(fs.Bavail) * int64(fs.Bsize); free < minFree {
		return fmt.Errorf("kv: %s: %w: %d MiB left, %d MiB needed", dir, ErrDiskFull, free>>20, minFree>>20)
	}
	return nil
}

// freeSpace returns the bytes available to this user on the disk that holds dir.
func freeSpace(dir string) (int64, bool) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return 0, false
	}
	return int64(fs.Bavail) * int64(fs.Bsize), true
}
