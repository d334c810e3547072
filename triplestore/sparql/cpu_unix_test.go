//go:build unix

package sparql_test

import (
	"syscall"
	"time"
)

// cpuTime is what the process has used so far. On a machine that others use too it says more than the clock.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
