package content

import (
	"fmt"
	"math"
	"sort"
	"sync"

	"odarchive/triplestore/kv"
)

// leaf is a segment of a file in one layout, with its offsets in the file and in its deflate stream.
type leaf struct {
	segment
	extent uint64
	index  int
	rawAt  int64
	defAt  int64
}

func (l *leaf) end() int64    { return l.rawAt + int64(l.raw) }
func (l *leaf) defEnd() int64 { return l.defAt + int64(l.deflated) }

// layout is a file's segments in order.
type layout struct {
	file   fileRecord
	leaves []leaf
}

// at returns the leaf that contains the raw byte off.
func (l *layout) at(off int64) int {
	return sort.Search(len(l.leaves), func(i int) bool { return l.leaves[i].end() > off })
}

// atDeflated returns the leaf that contains the byte off of the deflate stream.
func (l *layout) atDeflated(off int64) int {
	return sort.Search(len(l.leaves), func(i int) bool { return l.leaves[i].defEnd() > off })
}

// resolver follows cuts. It reads each extent once.
type resolver struct {
	tx      getter
	until   uint64 // the last cut to follow
	extents map[uint64]*extent
	leaves  []leaf
	raw     int64
	def     int64
}

// resolve returns the segments of a file as they were after the cut until, and sets the file's layout and deflate size.
// It does not read the extents that are given.
func resolve(tx getter, f fileRecord, until uint64, known ...*extent) (*layout, error) {
	r := &resolver{tx: tx, until: until, extents: make(map[uint64]*extent)}
	for _, x := range known {
		r.extents[x.num] = x
	}
	for _, run := range f.runs {
		x, err := r.extent(run.extent)
		if err != nil {
			return nil, err
		}
		if run.first+run.n > len(x.segments) {
			return nil, &DamageError{File: f.sha,
				Why: fmt.Sprintf("it names segment %d of extent %d, which has %d", run.first+run.n, run.extent, len(x.segments))}
		}
		for i := run.first; i < run.first+run.n; i++ {
			if err := r.add(x, i); err != nil {
				return nil, err
			}
		}
	}
	if r.raw != f.size {
		return nil, &DamageError{File: f.sha, Why: fmt.Sprintf("its segments have %d bytes, not %d", r.raw, f.size)}
	}
	f.layout, f.deflateSize = until, r.def
	return &layout{file: f, leaves: r.leaves}, nil
}

func (r *resolver) extent(num uint64) (*extent, error) {
	if x := r.extents[num]; x != nil {
		return x, nil
	}
	x, err := readExtent(r.tx, num)
	if err == nil {
		r.extents[num] = x
	}
	return x, err
}

func (r *resolver) add(x *extent, i int) error {
	g := x.segments[i]
	if g.cut == 0 || g.cut > r.until {
		r.leaves = append(r.leaves, leaf{segment: g, extent: x.num, index: i, rawAt: r.raw, defAt: r.def})
		r.raw += int64(g.raw)
		r.def += int64(g.deflated)
		return nil
	}
	parts, err := r.extent(g.parts)
	if err != nil {
		return err
	}
	end := r.raw + int64(g.raw)
	for k := range parts.segments {
		if parts.segments[k].raw >= g.raw { // pieces are smaller than the cut segment, so the recursion ends
			return &DamageError{Why: fmt.Sprintf("extent %d holds pieces that are too big", parts.num)}
		}
		if err := r.add(parts, k); err != nil {
			return err
		}
	}
	if r.raw != end {
		return &DamageError{Why: fmt.Sprintf("the pieces in extent %d are not those of segment %d of extent %d", parts.num, i, x.num)}
	}
	return nil
}

// refreshSize updates the deflate size of a record to its family's last cut.
func (s *Store) refreshSize(tx getter, f *fileRecord) error {
	last, err := lastCut(tx, f.family)
	if err != nil || last == f.layout {
		return err
	}
	if size, ok := s.sizes.get(f.sha, last); ok {
		f.layout, f.deflateSize = last, size
		return nil
	}
	full, found, err := readRuns(tx, f.sha)
	if err != nil || !found {
		return err
	}
	l, err := resolve(tx, full, last)
	if err != nil {
		return err
	}
	f.layout, f.deflateSize = last, l.file.deflateSize
	s.sizes.put(f.sha, last, f.deflateSize)
	return nil
}

// Current is the number of the layout that a file has now.
const Current = math.MaxUint64

// layoutOf reads the layout with a number, which may be Current.
func (s *Store) layoutOf(sha Digest, number uint64) (l *layout, err error) {
	err = s.db.View(func(tx *kv.Txn) error {
		f, found, err := readRuns(tx, sha)
		if err != nil {
			return err
		}
		if !found {
			return fmt.Errorf("content: %w: %s", ErrNotFound, sha)
		}
		if number == Current {
			if number, err = lastCut(tx, f.family); err != nil {
				return err
			}
		}
		l, err = resolve(tx, f, number)
		return err
	})
	return l, err
}

// sizeCache caches computed deflate sizes, one layout for each file.
type sizeCache struct {
	mu sync.Mutex // guards m
	m  map[Digest]sizeAt
}

type sizeAt struct {
	layout uint64
	size   int64
}

const sizesKept = 1 << 16 // about 5 MB

func (c *sizeCache) init() { c.m = make(map[Digest]sizeAt) }

func (c *sizeCache) get(d Digest, layout uint64) (int64, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.m[d]
	return v.size, ok && v.layout == layout
}

func (c *sizeCache) put(d Digest, layout uint64, size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.m) >= sizesKept {
		for k := range c.m { // drop any one
			delete(c.m, k)
			break
		}
	}
	c.m[d] = sizeAt{layout, size}
}
