//go:build !unix

package cputime

import "time"

var started = time.Now()

// Used returns the time since the process started, since this system offers no comparable measure of processor time.
func Used() time.Duration { return time.Since(started) }

// Children returns 0: the time of child processes is not known.
func Children() time.Duration { return 0 }
