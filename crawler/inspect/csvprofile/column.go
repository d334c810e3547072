package csvprofile

import (
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/cespare/xxhash/v2"
)

// Limits of what is kept per column.
const (
	tableCap   = 4096 // distinct values that are counted exactly
	longValue  = 256  // in bytes; longer values are not kept
	reservoirN = 1024
	topN       = 10  // most frequent values that are reported
	sampleN    = 512 // values that classOf examines
)

// column collects the values of one column. While they fit, values are counted in a table by hash, and each is read
// (folded into the statistics) only once. When the table is full, the rare values are folded and dropped (Misra and
// Gries, 1982), so that the counts of frequent values are at most rows/tableCap too low. A column in which hardly any
// value occurs twice stops using the table and folds every cell.
type column struct {
	slots []slot // open addressing, length a power of two
	used  int
	text  []byte // the values in slots, concatenated
	exact bool   // nothing has been dropped from the table
	off   bool   // the table is no longer used
	last  kind   // kind of the last value folded
	since int64  // cells looked up since the table was last thinned
	news  int64  // how many of these were new values

	empty  int64 // empty cells
	cells  int64 // other cells
	st     stats
	hll    *registers // nil while the table has all values
	sketch bottom
	sample firstValues
	dup    bool // a value occurred twice
	unique uniqueness
	early  []uint64 // hashes of the values in the table when it was turned off
	memory *int     // number of hashes that may still be remembered, shared by the columns of a table

	former []slot // the slots before the last growth, reused for the next if large enough
}

// firstValues are the first sampleN values, concatenated.
type firstValues struct {
	text []byte
	ends []int
}

// add adds a value. It returns false if there is no room.
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
	pending uint32 // occurrences since the value was last folded
	est     uint32 // occurrences, less what thinning subtracted
	off     uint32
	len     uint32
}

// minSlots is the initial length of a table of values, which doubles as it grows.
const minSlots = 32

func newColumn(memory *int) *column {
	c := spareColumns.Get().(*column)
	c.slots = cleared(c.slots, minSlots)
	c.exact, c.memory = true, memory
	c.st.forms, c.st.minLen = allForms, math.MaxInt
	return c
}

// spareColumns are small columns of finished tables, cleared. Reusing their memory saves more than most columns cost
// otherwise.
var spareColumns = sync.Pool{New: func() any { return new(column) }}

// spareText is the maximum memory for values that a spare column keeps, in bytes.
const spareText = 64 << 10

// release makes a finished column available to other tables.
func (c *column) release() {
	if cap(c.slots) > tableCap || cap(c.former) > tableCap || cap(c.text) > spareText || cap(c.sample.text) > spareText {
		return
	}
	*c = column{slots: c.slots, former: c.former, text: c.text[:0],
		sketch: bottom{h: c.sketch.h[:0]}, sample: firstValues{c.sample.text[:0], c.sample.ends[:0]},
		st: stats{num: numbers{sample: c.st.num.sample[:0]}}}
	spareColumns.Put(c)
}

// cleared returns n free slots, in the memory of s if that suffices.
func cleared(s []slot, n int) []slot {
	if cap(s) < n {
		return make([]slot, n)
	}
	clear(s[:n])
	return s[:n]
}

// add adds one cell.
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
	for ; len(old) > 0; old = old[minSlots:] {
		used := uint32(0) // one bit per slot, since branching on occupancy would be unpredictable
		for i, s := range old[:minSlots] {
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

// thin folds all pending values and drops the rarer half of the values.
func (c *column) thin() {
	if c.exact {
		c.exact = false
		c.startSketches()
	} else {
		c.dup = true // a dropped value may occur again unnoticed
	}
	c.foldPending()
	rare := c.news*10 >= c.since*9 // hardly any value occurred twice
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

// seal removes the free slots, about half of all. The table cannot be searched afterwards.
func (c *column) seal() {
	n := 0
	for i := range c.slots {
		c.slots[n] = c.slots[i]
		n += int(c.slots[i].tag >> 63)
	}
	c.slots = c.slots[:n]
}

// startSketches starts estimating, when the table no longer has all values.
func (c *column) startSketches() { c.hll = new(registers) }

// hashes yields the hashes of the values in the table.
func (c *column) hashes(yield func(uint64) bool) {
	for i := range c.slots {
		if s := &c.slots[i]; s.tag != 0 && !yield(xxhash.Sum64(c.text[s.off:][:s.len])) {
			return
		}
	}
}

// pending yields the values of the table that have not been folded.
func (c *column) pending(yield func(s *slot, cell []byte) bool) {
	for i := range c.slots {
		if s := &c.slots[i]; s.tag != 0 && s.pending > 0 && !yield(s, c.text[s.off:][:s.len]) {
			return
		}
	}
}

// readPending adds the pending values to the statistics. Those of the first call decide how the numbers and dates of
// this column are read. If that is not the default reading, their numbers are added again.
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

// foldPending folds the pending values.
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

// fold adds a value that occurred n times to statistics and sketches.
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
