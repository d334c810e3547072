//go:build !unix

package crawler

import "time"

var started = time.Now()

func cpuTime() time.Duration { return time.Since(started) }
