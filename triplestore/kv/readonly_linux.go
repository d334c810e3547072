package kv

import "syscall"

// readOnlyDisk reports whether nobody can write to the disk that holds a directory.
func readOnlyDisk(dir string) bool {
	const readOnly = 1 // ST_RDONLY
	var fs syscall.Statfs_t
	return syscall.Statfs(dir, &fs) == nil && fs.Flags&readOnly != 0
}
