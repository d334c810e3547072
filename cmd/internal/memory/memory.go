// Package memory keeps the memory of the process near what it uses.
//
// By default, Go lets the heap grow to twice of what was in use at the last collection, and collects nothing while
// nothing is allocated. The database's tables in memory and its buffers come and go, so a crawl that uses 200 MB would
// take up to a gigabyte, and queries with a budget of a gigabyte would take three. Govern sets a soft limit a little
// above what is in use, so that garbage is collected earlier when there is much of it, and collects what ended queries
// leave behind.
package memory

import (
	"context"
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

const (
	floor = 256 << 20 // no limit below this: collecting a small heap more often saves little
	// maximum of memory above what is in use, up to a gigabyte; the database's buffers for writing would otherwise pile
	// up
	spare = 256 << 20
	every = time.Second
	quiet = 20      // collect after so many times every without a collection
	few   = 4 << 20 // do not if fewer bytes have been allocated since
)

// limitFor returns the soft limit for a number of bytes in use at the last collection: half as much again, but no more
// than spare or, because a large heap is expensive to collect, a quarter.
func limitFor(inUse uint64) int64 {
	if inUse > math.MaxInt64/2 {
		return math.MaxInt64
	}
	return max(floor, int64(inUse+max(min(inUse/2, spare), inUse/4)))
}

// raised is the limit that calls of Raise ask for, 0 if there is none.
var raised atomic.Int64

// Raise lets Govern set no limit below a number of bytes until lower is called: for bulk work in a process of its own,
// whose buffers come and go faster than Govern looks. With a limit that follows what is in use, registering
// 400,000 URLs collected 300 times, with a heap that was hardly larger than what was in use. Calls must not overlap.
func Raise(limit int64) (lower func()) {
	raised.Store(limit)
	return func() { raised.Store(0) }
}

// Govern adjusts the limit until ctx ends, and removes it then. It does nothing if the environment sets GOMEMLIMIT or
// GOGC.
func Govern(ctx context.Context) {
	if os.Getenv("GOMEMLIMIT") != "" || os.Getenv("GOGC") != "" {
		return
	}
	before := debug.SetMemoryLimit(max(limitFor(read().inUse), raised.Load()))
	defer debug.SetMemoryLimit(before)
	tick := time.NewTicker(every)
	defer tick.Stop()
	var idle idleness
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			now := read()
			if idle.garbage(now) {
				debug.FreeOSMemory() // collects, and gives the memory back at once
				now = read()
			}
			debug.SetMemoryLimit(max(limitFor(now.inUse), raised.Load()))
		}
	}
}

// leastCache is the smallest cache, in bytes.
const leastCache = 4 << 20

// ForCache returns the size, in bytes, of a cache that has most bytes by default. If the environment limits the memory
// of the process by GOMEMLIMIT, it is at most the given part of that, a sixteenth for instance: a limit near to what
// caches hold would be kept by collecting garbage without end.
func ForCache(most, part int64) int64 {
	if os.Getenv("GOMEMLIMIT") == "" { // otherwise the limit is that of Govern, which follows what is in use
		return most
	}
	return max(leastCache, min(most, debug.SetMemoryLimit(-1)/part))
}

// figures are what the runtime says of its memory.
type figures struct {
	inUse     uint64 // bytes that the last collection found in use: those of the heap, stacks and what the collector scans besides
	heap      uint64 // bytes of objects, with those that nobody uses any more
	allocated uint64 // bytes allocated since the start
	cycles    uint64 // collections since the start
}

func read() figures {
	samples := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}, {Name: "/memory/classes/metadata/mspan/inuse:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/cycles/total:gc-cycles"},
	}
	metrics.Read(samples)
	value := func(i int) uint64 {
		if samples[i].Value.Kind() != metrics.KindUint64 {
			return 0 // a runtime that does not know the name
		}
		return samples[i].Value.Uint64()
	}
	return figures{inUse: value(0) + value(1) + value(2), heap: value(3), allocated: value(4), cycles: value(5)}
}

// idleness finds out when a large heap has not been collected for long. Go would wait two minutes, or until the program
// has allocated up to the limit, which a server without queries never does.
type idleness struct {
	last  figures // when cycles changed
	ticks int     // since then
}

// garbage reports whether a collection is due. Nothing has become garbage since the last one unless something has run,
// and what runs allocates.
func (i *idleness) garbage(now figures) bool {
	if now.cycles != i.last.cycles {
		i.last, i.ticks = now, 0
		return false
	}
	i.ticks++
	return i.ticks >= quiet && now.heap > floor && now.allocated-i.last.allocated > few
}
