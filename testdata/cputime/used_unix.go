//go:build unix

package cputime

import (
	"syscall"
	"time"
)

// Used returns the processor time of this process so far, in user and system mode.
func Used() time.Duration { return of(syscall.RUSAGE_SELF) }

// Children returns that of the child processes that have ended.
func Children() time.Duration { return of(syscall.RUSAGE_CHILDREN) }

func of(who int) time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(who, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
