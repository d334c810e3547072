// Package memory keeps the memory of the process near what it uses.
//
// By default, Go lets the heap grow to twice of what was in use at the last collection. The database's tables in memory and
// its buffers come and go, so a crawl that uses 200 MB would take up to a gigabyte. Govern sets a soft limit a little above
// what is in use, so that garbage is collected earlier when there is much of it.
package memory

import (
	"context"
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	floor = 256 << 20 // no limit below this: collecting a small heap more often saves little
	spare = 256 << 20 // maximum of memory above what is in use; the database's buffers for writing would otherwise pile up
	large = 1 << 30   // no limit for a heap in use of this size: collecting it costs more than the memory
	every = time.Second
)

// limitFor returns the soft limit for a number of bytes in use at the last collection: half as much again, but no more
// than spare.
func limitFor(inUse uint64) int64 {
	if inUse >= large {
		return math.MaxInt64
	}
	return max(floor, int64(inUse+min(inUse/2, spare)))
}

// Govern adjusts the limit until ctx ends, and removes it then. It does nothing if the environment sets GOMEMLIMIT or GOGC.
func Govern(ctx context.Context) {
	if os.Getenv("GOMEMLIMIT") != "" || os.Getenv("GOGC") != "" {
		return
	}
	before := debug.SetMemoryLimit(limitFor(inUse()))
	defer debug.SetMemoryLimit(before)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			debug.SetMemoryLimit(limitFor(inUse()))
		}
	}
}

// inUse returns the bytes that the last collection found in use: those of the heap, stacks and what the collector scans
// besides.
func inUse() uint64 {
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}, {Name: "/memory/classes/metadata/mspan/inuse:bytes"}}
	metrics.Read(samples)
	var sum uint64
	for _, s := range samples {
		if s.Value.Kind() == metrics.KindUint64 {
			sum += s.Value.Uint64()
		}
	}
	return sum
}
