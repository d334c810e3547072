//go:build !unix

package sparql_test

import "time"

var started = time.Now()

func cpuTime() time.Duration { return time.Since(started) }
