package dict

import (
	"context"
	"math/bits"
	"sync/atomic"
)

// filter is a Bloom filter of hashes of terms. It spares reading the runs for terms that are new, which most look-ups
// of a commit or a load are for: without it, each costs a block of every run, and every chunk of a load reads all runs.
//
// All bits of a hash are in one group of 512, so that a question reads one line of the processor's cache. One goroutine
// may add hashes while others ask.
type filter struct {
	groups   [][8]uint64
	hashes   atomic.Uint64 // added so far
	capacity uint64        // hashes beyond which too many others are found
}

const (
	filterBits    = 16                        // bits of a filter for each hash it has room for
	filterSets    = 5                         // bits that a hash sets
	filterSmall   = 4 << 20                   // minimum capacity
	filterLargest = 64 << 20 * 8 / filterBits // maximum capacity: a filter of 64 MiB
	filterGrowth  = 3                         // how much more a new filter has room for than it begins with
	filterFrom    = 1 << 20                   // terms in blocks from which on commits have one: before, blocks are mostly in the cache
)

func newFilter(hashes uint64) *filter {
	capacity := min(max(filterGrowth*hashes, filterSmall), filterLargest)
	return &filter{groups: make([][8]uint64, capacity*filterBits/512), capacity: capacity}
}

// place returns the group of a hash, and a number whose parts of nine bits say which bits of the group it sets.
// Groups are in the order of hashes: for hashes in order, memory is read from its beginning to its end.
func (f *filter) place(hash uint64) (group *[8]uint64, set uint64) {
	at, _ := bits.Mul64(hash<<(64-hashBits), uint64(len(f.groups)))
	mixed := hash * 0x9E3779B97F4A7C15
	mixed ^= mixed >> 32
	return &f.groups[at], mixed * 0xD6E8FEB86659FD93 >> (64 - 9*filterSets)
}

func (f *filter) add(hash uint64) {
	f.hashes.Add(1)
	g, set := f.place(hash)
	for range filterSets {
		atomic.OrUint64(&g[set>>6&7], 1<<(set&63))
		set >>= 9
	}
}

// may reports whether a hash was added. It may be wrong only if it says true.
func (f *filter) may(hash uint64) bool {
	g, set := f.place(hash)
	for range filterSets {
		if atomic.LoadUint64(&g[set>>6&7])&(1<<(set&63)) == 0 {
			return false
		}
		set >>= 9
	}
	return true
}

// crowded reports that a larger filter would be better.
func (f *filter) crowded() bool { return f.hashes.Load() > f.capacity && f.capacity < filterLargest }

// stale reports whether the view has no filter, or one that finds too many others.
func (v *View) stale() bool { return v.maybe == nil || v.maybe.crowded() }

// refilter gives the view a filter of the hashes in all runs.
func (v *View) refilter(ctx context.Context, r Reader) error {
	f := newFilter(v.entries())
	for _, run := range v.runs {
		c := &cursor{rd: r, run: run}
		for n := 0; ; n++ {
			if n%(64*runBlock) == 0 && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			e, ok, err := c.peek()
			if err != nil {
				return err
			}
			if !ok {
				break
			}
			f.add(e.hash)
			c.next()
		}
	}
	v.maybe = f
	return nil
}

// entries returns the number of terms in runs.
func (v *View) entries() (n uint64) {
	for _, run := range v.runs {
		n += run.entries
	}
	return n
}
