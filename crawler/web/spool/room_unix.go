//go:build linux || darwin || freebsd

package spool

import "syscall"

// Free returns the bytes of a directory's disk that users other than root may still write, and its total size.
func Free(dir string) (free, total int64, err error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), int64(s.Blocks) * int64(s.Bsize), nil
}
