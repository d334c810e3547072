//go:build !unix

package cputime

import "time"

var started = time.Now()

// Used is the time since the process began: the system does not tell more in the same way.
func Used() time.Duration { return time.Since(started) }
