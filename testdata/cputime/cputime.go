// Package cputime tells how much processor time a benchmark has used. On a machine that others use too it says more than
// the clock. For tests only.
package cputime

import "time"

// Of is the processor time that f takes in this process, on all its threads, the garbage collector's included.
func Of(f func()) time.Duration {
	before := Used()
	f()
	return Used() - before
}
