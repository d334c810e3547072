//go:build unix

package bucket

import (
	"io/fs"
	"os"
	"syscall"
)

// lockFile waits until no other process holds the lock of a file. Closing it releases the lock.
func lockFile(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX) }

// identity returns a number that tells a file from the one that had its name before.
func identity(st fs.FileInfo) uint64 {
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		return uint64(sys.Ino)
	}
	return 0
}
