package ocfl

import (
	"errors"
	"fmt"
	"os"

	"odarchive/crawler/exchange/preserve"

	"golang.org/x/sys/unix"
)

var errNoExchange = errors.New("this file system cannot exchange two folders")

// exchange exchanges two folders at once.
func exchange(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP) {
		return errNoExchange
	}
	if err != nil {
		return fmt.Errorf("exchange %s and %s: %w", a, b, err)
	}
	return nil
}

// syncFile does nothing: syncAll makes everything durable that was written before.
func syncFile(*os.File) error { return nil }

func lockFile(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }

// syncAll makes durable what was written to a root.
func syncAll(dir string) error { return preserve.SyncTree(dir) }
