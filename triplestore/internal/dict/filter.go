package dict

import (
	"context"
	"math/bits"
)

// filter is a Bloom filter of hashes of terms. While a load adds millions of terms, it spares reading the runs for terms
// that are new: without it, every chunk of a load reads all runs, and so costs more the more terms there are.
//
// All bits of a hash are in one group of 512, so that a question reads one line of the processor's cache.
type filter struct {
	groups   [][8]uint64
	hashes   uint64 // added so far
	capacity uint64 // hashes beyond which too many others are found
}

const (
	filterBits    = 16                        // bits of a filter for each hash it has room for
	filterSets    = 5                         // bits that a hash sets
	filterSmall   = 4 << 20                   // minimum capacity
	filterLargest = 64 << 20 * 8 / filterBits // maximum capacity: a filter of 64 MiB
	filterGrowth  = 3                         // how much more a new filter has room for than it begins with
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
	f.hashes++
	g, set := f.place(hash)
	for range filterSets {
		g[set>>6&7] |= 1 << (set & 63)
		set >>= 9
	}
}

// may reports whether a hash was added. It may be wrong only if it says true.
func (f *filter) may(hash uint64) bool {
	g, set := f.place(hash)
	for range filterSets {
		if g[set>>6&7]&(1<<(set&63)) == 0 {
			return false
		}
		set >>= 9
	}
	return true
}

// crowded reports that a larger filter would be better.
func (f *filter) crowded() bool { return f.hashes > f.capacity && f.capacity < filterLargest }

// filter returns a filter of the hashes in all runs.
func (v *View) filter(ctx context.Context, r Reader) (*filter, error) {
	var total uint64
	for _, run := range v.runs {
		total += run.entries
	}
	f := newFilter(total)
	for _, run := range v.runs {
		c := &cursor{rd: r, run: run}
		for n := 0; ; n++ {
			if n%(64*runBlock) == 0 && ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			e, ok, err := c.peek()
			if err != nil {
				return nil, err
			}
			if !ok {
				break
			}
			f.add(e.hash)
			c.next()
		}
	}
	return f, nil
}
