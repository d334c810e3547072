//go:build linux || darwin || freebsd

package spool

import "syscall"

// free bytes of the disk that holds a directory, for those who are not its owner's root.
func free(dir string) (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}
