//go:build linux || darwin || freebsd

package faces

import "syscall"

// freeSpace returns the bytes available to this user on the disk that holds dir, and whether that is known.
func freeSpace(dir string) (bytes int64, known bool) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return 0, false
	}
	return int64(fs.Bavail) * int64(fs.Bsize), true
}
