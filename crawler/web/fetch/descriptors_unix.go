//go:build linux || darwin || freebsd

package fetch

import "syscall"

// descriptors returns the limit of files and connections that this process may have open, 0 if it is not known.
func descriptors() uint64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return uint64(limit.Cur)
}
