package kv

import "syscall"

// readOnlyDisk reports whether the disk that holds a directory is mounted read-only.
func readOnlyDisk(dir string) bool {
	const readOnly = 1 // ST_RDONLY
	var fs syscall.Statfs_t
	return syscall.Statfs(dir, &fs) == nil && fs.Flags&readOnly != 0
}
