//go:build !linux && !darwin && !freebsd

package spool

import "math"

// Free reports unlimited space, since the free space is not known on this system.
func Free(string) (free, total int64, err error) { return math.MaxInt64, math.MaxInt64, nil }
