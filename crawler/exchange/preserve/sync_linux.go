package preserve

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// SyncTree makes everything durable that was written below a folder: on Linux, in its whole file system, by one call.
func SyncTree(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(unix.Syncfs(int(f.Fd())), f.Close())
}
