//go:build unix

package listen

import "syscall"

// openFiles returns how many files this process may have open.
func openFiles() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return defaultFiles
	}
	return int(min(uint64(limit.Cur), 1<<20))
}
