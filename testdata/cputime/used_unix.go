//go:build unix

package cputime

import (
	"syscall"
	"time"
)

// Used returns the processor time of this process so far, in user and system mode.
func Used() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
