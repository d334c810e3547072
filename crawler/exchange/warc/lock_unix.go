//go:build unix

package warc

import (
	"os"
	"syscall"
)

// lockFile marks a file as written by this process, until it is closed. It fails if another process has it.
func lockFile(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }
