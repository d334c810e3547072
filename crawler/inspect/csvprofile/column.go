package csvprofile

import (
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/cespare/xxhash/v2"
)

// Bounds of what is kept per column.
const (
	tableCap   = 4096 // distinct values that are counted exactly
	longValue  = 256  // bytes; longer values are not kept
	reservoirN = 1024
	topN       = 10
	sampleN    = 512 // values looked at for the semantic class
)

// column gathers one column. Values are counted in a table by hash and read (folded into the statistics) only once
// each while they fit; when there are too many, the rare ones are folded and dropped (Misra and Gries, 1982), so the
// counts of frequent values stay right to within rows/tableCap. A column in which hardly a value comes twice gives
// up the table and folds every cell as it comes.
type column struct {
	slots []slot // open addressing, length a power of two
	used  int
	text  []byte // the values in slots, one after another
	exact bool   // nothing has been dropped from the table
	off   bool   // the table was given up
	last  kind   // of the value folded last
	since int64  // cells looked up since the table was last thinned
	news  int64  // of these, values that were new

	empty  int64 // cells without a character
	cells  int64 // other cells
	st     stats
	hll    *registers // nil while the table is the whole truth
	sketch bottom
	sample firstValues
	dup    bool // some value came twice
	unique uniqueness
	early  []uint64 // hashes of the values in the table when it was given up
	memory *int     // hashes that may still be remembered, shared by the columns of a table

	former []slot // the slots before the last growth, of which the next will be made if they are long enough
}

// firstValues are the first sampleN values, in one piece of memory.
type firstValues struct {
	text []byte
	ends []int
}

// add takes one more value; false where there is no room.
func (s *firstValues) add(cell []byte) bool {
	if len(s.ends) >= sampleN {
		return false
	}
	s.text = append(s.text, cell[:min(len(cell), longValue)]...)
	s.ends = append(s.ends, len(s.text))
	return true
}

func (s *firstValues) values() []string {
	text, at := string(s.text), 0
	values := make([]string, len(s.ends))
	for i, end := range s.ends {
		values[i], at = text[at:end], end
	}
	return values
}

type slot struct {
	tag     uint64 // of the value; 0 = free
	pending uint32 // times seen since the value was last folded
	est     uint32 // times seen, less what thinning took
	off     uint32
	len     uint32
}

// leastSlots is how long a table of values is in the beginning; it doubles from there.
const leastSlots = 32

func newColumn(memory *int) *column {
	c := spareColumns.Get().(*column)
	c.slots = cleared(c.slots, leastSlots)
	c.exact, c.memory = true, memory
	c.st.forms, c.st.minLen = allForms, math.MaxInt
	return c
}

// spareColumns are columns of tables that are finished: small ones, empty but for the memory they bring along, which costs
// more than what most columns do in it.
var spareColumns = sync.Pool{New: func() any { return new(column) }}

// spareText is how much memory for values a spare column may bring along, in bytes.
const spareText = 64 << 10

// release leaves a finished column to tables to come.
func (c *column) release() {
	if cap(c.slots) > tableCap || cap(c.former) > tableCap || cap(c.text) > spareText || cap(c.sample.text) > spareText {
		return
	}
	*c = column{slots: c.slots, former: c.former, text: c.text[:0],
		sketch: bottom{h: c.sketch.h[:0]}, sample: firstValues{c.sample.text[:0], c.sample.ends[:0]}, st: stats{num: numbers{sample: c.st.num.sample[:0]}}}
	spareColumns.Put(c)
}

// cleared is n free slots, in the memory of others where that is enough.
func cleared(s []slot, n int) []slot {
	if cap(s) < n {
		return make([]slot, n)
	}
	clear(s[:n])
	return s[:n]
}

// add counts one cell.
func (c *column) add(cell []byte) {
	cell = trim(cell)
	if len(cell) == 0 {
		c.empty++
		return
	}
	c.cells++
	if c.off {
		c.fold(cell, 1)
		return
	}
	if len(cell) >= longValue {
		if c.exact {
			c.exact = false
			c.startSketches()
		}
		c.unique.unknown = true // the table does not see this value
		c.fold(cell, 1)
		return
	}
	h := tag(cell)
	mask := uint64(len(c.slots) - 1)
	c.since++
	for i := h & mask; ; i = (i + 1) & mask {
		s := &c.slots[i]
		switch s.tag {
		case h:
			s.pending++
			s.est++
			c.dup = true
			return
		case 0:
			c.insert(s, cell, h)
			return
		}
	}
}

func (c *column) insert(s *slot, cell []byte, h uint64) {
	*s = slot{tag: h, pending: 1, est: 1, off: uint32(len(c.text)), len: uint32(len(cell))}
	c.text = append(c.text, cell...)
	c.used++
	c.news++
	if c.used*2 >= len(c.slots) {
		if c.used < tableCap {
			c.grow()
		} else {
			c.thin()
		}
	}
}

func (c *column) grow() {
	old := c.slots
	c.slots, c.former = cleared(c.former, len(old)*2), old
	for ; len(old) > 0; old = old[leastSlots:] {
		used := uint32(0) // one bit a slot: whether one is free is as good as chance
		for i, s := range old[:leastSlots] {
			used |= uint32(s.tag>>63) << i
		}
		for ; used != 0; used &= used - 1 {
			c.place(old[bits.TrailingZeros32(used)])
		}
	}
}

func (c *column) place(s slot) {
	mask := uint64(len(c.slots) - 1)
	i := s.tag & mask
	for c.slots[i].tag != 0 {
		i = (i + 1) & mask
	}
	c.slots[i] = s
}

// thin folds everything that is pending and drops the rarer half of the values.
func (c *column) thin() {
	if c.exact {
		c.exact = false
		c.startSketches()
	} else {
		c.dup = true // values dropped before can come again unseen
	}
	c.foldPending()
	rare := c.news*10 >= c.since*9 // hardly a value came twice
	c.since, c.news = 0, 0
	kept := make([]slot, 0, tableCap/2)
	counts := make([]uint32, 0, c.used)
	for i := range c.slots {
		if c.slots[i].tag != 0 {
			counts = append(counts, c.slots[i].est)
		}
	}
	slices.Sort(counts)
	median := counts[len(counts)/2]
	for i := range c.slots {
		if s := c.slots[i]; s.tag != 0 && s.est > median {
			s.est -= median
			kept = append(kept, s)
		}
	}
	if rare {
		c.off = true
		if !c.dup {
			c.early = slices.Collect(c.hashes)
		}
		slices.SortFunc(kept, func(a, b slot) int { return int(b.est) - int(a.est) })
		kept = kept[:min(len(kept), topN)]
	}
	text := make([]byte, 0, len(c.text)/2)
	size := 32
	for size < len(kept)*4 {
		size *= 2
	}
	if !c.off {
		size = max(size, 2*tableCap)
	}
	c.slots, c.used = make([]slot, size), 0
	for _, s := range kept {
		v := c.text[s.off:][:s.len]
		s.off = uint32(len(text))
		text = append(text, v...)
		c.place(s)
		c.used++
	}
	c.text = text
}

// seal ends the looking up of values: it leaves the free slots out, of which there are as many as others.
func (c *column) seal() {
	n := 0
	for i := range c.slots {
		c.slots[n] = c.slots[i]
		n += int(c.slots[i].tag >> 63)
	}
	c.slots = c.slots[:n]
}

// startSketches begins estimating when the table stops being the whole truth.
func (c *column) startSketches() { c.hll = new(registers) }

// hashes of the values in the table.
func (c *column) hashes(yield func(uint64) bool) {
	for i := range c.slots {
		if s := &c.slots[i]; s.tag != 0 && !yield(xxhash.Sum64(c.text[s.off:][:s.len])) {
			return
		}
	}
}

// pending are the values of the table that were not folded yet.
func (c *column) pending(yield func(s *slot, cell []byte) bool) {
	for i := range c.slots {
		if s := &c.slots[i]; s.tag != 0 && s.pending > 0 && !yield(s, c.text[s.off:][:s.len]) {
			return
		}
	}
}

// readPending takes the values of the table that were not folded yet into the statistics. Those of the first time decide how
// numbers and dates of this column are written; where that is not the likelier way, their numbers are taken again.
func (c *column) readPending() {
	for s, cell := range c.pending {
		v := classify(cell)
		c.last = v.kind
		c.st.add(cell, v, int64(s.pending))
	}
	if c.st.decided {
		return
	}
	if c.st.decide(c.st.forms); c.st.alt {
		c.st.num = numbers{sample: c.st.num.sample[:0]}
		for s, cell := range c.pending {
			if v := classify(cell); 1<<v.kind&ordered != 0 {
				c.st.num.add(v.alt, int64(s.pending), cell)
			}
		}
	}
}

// foldPending folds the values of the table that were not folded yet.
func (c *column) foldPending() {
	c.readPending()
	for s, cell := range c.pending {
		h := xxhash.Sum64(cell)
		c.hll.add(h)
		c.sketch.add(h)
		c.sample.add(cell)
		s.pending = 0
	}
}

// fold reads a value that was seen n times.
func (c *column) fold(cell []byte, n uint64) {
	c.foldValue(cell, classify(cell), xxhash.Sum64(cell), n)
}

func (c *column) foldValue(cell []byte, v value, h uint64, n uint64) {
	if c.hll != nil {
		c.hll.add(h)
	}
	if c.off && !c.dup {
		c.unique.add(cell, v, h, &c.st, slices.Values(c.early), c.memory)
	}
	c.last = v.kind
	c.sketch.add(h)
	c.sample.add(cell)
	c.st.add(cell, v, int64(n))
}
