//go:build unix

package transparency

import (
	"os"
	"syscall"
)

// lock waits for an advisory lock on a file, which it creates. Two archives may have the same key by mistake, and must
// not sign at the same time.
func lock(name string) (unlock func(), err error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}
