//go:build unix

package bucket

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// The pauses between two attempts to lock a file.
const (
	shortestTry = time.Millisecond
	longestTry  = 50 * time.Millisecond
)

// lockFile waits until no other process holds the lock of a file, or the context ends. Closing the file releases the
// lock.
func lockFile(ctx context.Context, f *os.File) error {
	for pause := shortestTry; ; pause = min(2*pause, longestTry) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// identity returns a number that tells a file from the one that had its name before.
func identity(st fs.FileInfo) uint64 {
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		return uint64(sys.Ino)
	}
	return 0
}
