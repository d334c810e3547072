// Package cputime measures the processor time of benchmarks. On a shared machine it is more meaningful than wall-clock
// time. It is for tests only.
package cputime

import "time"

// Of returns the processor time that the process uses while f runs, on all threads and including garbage collection.
func Of(f func()) time.Duration {
	before := Used()
	f()
	return Used() - before
}
