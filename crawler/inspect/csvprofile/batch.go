package csvprofile

import (
	"bytes"
	"math"

	"github.com/cespare/xxhash/v2"
)

// A column gets its cells of many rows at once. While it counts them in its table, it finds nearly every cell there at
// the first slot. Once the table is off, values are read the way the previous one was written, one step at a time for
// all of them; a value written differently is read the general way. Both lead to the same profile.

// runLen is the maximum number of rows in a batch.
const runLen = 64

// run is a column's share of a batch of rows: every stride-th cell, starting with the first.
type run struct {
	cells  [][]byte
	stride int
}

func (r run) from(n int) run {
	r.cells = r.cells[min(n*r.stride, len(r.cells)):]
	return r
}

// room is the capacity that a cell needs to be read in words.
const room = 32

// addAll adds the cells of a run.
func (c *column) addAll(r run) {
	if !c.off {
		r = c.tally(r)
	}
	if c.off && len(r.cells) > 0 {
		c.foldAll(r)
	}
}

// tally counts cells in the table and returns those that come after the table was turned off.
func (c *column) tally(r run) run {
	hits, news, slots := int64(0), int64(0), c.slots // cells that were looked up, and how many of them were new
	record := func() {
		c.cells += hits
		c.since += hits
		c.dup = c.dup || hits > news
		hits, news = 0, 0
	}
	for i := 0; i < len(r.cells); i += r.stride {
		cell := r.cells[i]
		if len(cell) == 0 {
			c.empty++
			continue
		}
		if cap(cell) >= room && len(cell) < longValue && tight(cell) {
			mask := uint64(len(slots) - 1)
			var h uint64
			if len(cell) <= 16 {
				h = shortTag(cell)
			} else {
				h = xxhash.Sum64(cell) | live
			}
			at := h & mask
			for slots[at].tag != h && slots[at].tag != 0 {
				at = (at + 1) & mask
			}
			if s := &slots[at]; s.tag == h {
				s.pending++
				s.est++
				hits++
				continue
			}
			hits, news = hits+1, news+1
			record()
			c.insert(&slots[at], cell, h)
		} else {
			record()
			c.add(cell)
		}
		if c.off {
			return r.from(i/r.stride + 1)
		}
		slots = c.slots
	}
	record()
	return run{}
}

// tight reports whether a cell has nothing to trim.
func tight(b []byte) bool { return b[0]-'!' <= '~'-'!' && b[len(b)-1]-'!' <= '~'-'!' }

// foldAll folds the cells of a run. The table is off.
func (c *column) foldAll(r run) {
	r = c.filled(r)
	var b batch
	for len(r.cells) > 0 {
		b.n, b.decimals, b.forms, b.minLen, b.maxLen = 0, 0, allForms, math.MaxInt, 0
		if started := c.st.num.n > 0 || 1<<c.last&ordered == 0; started && (c.unique.started || !c.watched()) {
			c.read(&b, r)
		}
		if b.n > 0 {
			c.foldBatch(&b, r)
			r = r.from(b.n)
		}
		if len(r.cells) > 0 && b.n < runLen {
			c.add(r.cells[0])
			r = r.from(1)
		}
	}
}

// filled trims the cells of a run and removes the empty ones, in place.
func (c *column) filled(r run) run {
	w := 0
	for i := 0; i < len(r.cells); i += r.stride {
		cell := r.cells[i]
		if len(cell) == 0 || !tight(cell) {
			if cell = trim(cell); len(cell) == 0 {
				c.empty++
				continue
			}
			r.cells[w] = cell
		} else if w != i {
			r.cells[w] = cell
		}
		w += r.stride
	}
	r.cells = r.cells[:min(w, len(r.cells))]
	return r
}

// foldBatch folds the values of a batch, which are the first of the run.
func (c *column) foldBatch(b *batch, r run) {
	c.cells += int64(b.n)
	var hashes [runLen]uint64
	for i := range b.n {
		hashes[i] = xxhash.Sum64(r.cells[i*r.stride])
	}
	for _, h := range hashes[:b.n] {
		c.hll.add(h)
	}
	for _, h := range hashes[:b.n] {
		if c.sketch.wants(h) {
			c.sketch.add(h)
		}
	}
	if c.watched() {
		c.watch(b, r, hashes[:b.n])
	}
	s := &c.st
	s.forms &= b.forms
	s.minLen, s.maxLen = min(s.minLen, b.minLen), max(s.maxLen, b.maxLen)
	s.texts(b, r)
	for i := 0; i < b.n && c.last == kindText && !s.places.off; i++ {
		s.places.see(r.cells[i*r.stride])
	}
	switch c.last {
	case kindInteger, kindDecimal:
		s.count[kindInteger] += int64(b.n - b.decimals)
		s.count[kindDecimal] += int64(b.decimals)
	default:
		s.count[c.last] += int64(b.n)
	}
	if 1<<c.last&ordered != 0 {
		s.num.addAll(b.num[:b.n], r)
	}
}

// watched reports whether it still matters if a value has occurred before.
func (c *column) watched() bool { return !c.dup && !c.unique.dup && !c.unique.unknown }

// watch updates the uniqueness with the values of a batch, before they are added to the statistics.
func (c *column) watch(b *batch, r run, hashes []uint64) {
	u := &c.unique
	switch {
	case u.order == 0:
		for _, h := range hashes {
			if c.watched() {
				u.remember(h, c.memory)
			}
		}
	case c.last == kindText:
		before := c.st.maxText
		if u.order < 0 {
			before = c.st.minText
		}
		for i := range b.n {
			cell := r.cells[i*r.stride]
			u.unknown = u.unknown || bytes.Compare(cell, before) != int(u.order) || len(cell) > extremeLen
			before = cell
		}
	case c.last == kindInteger && b.decimals == 0 && c.st.count[kindText] == 0:
		before, sign := c.st.num.max, float64(u.order)
		if u.order < 0 {
			before = c.st.num.min
		}
		for _, x := range b.num[:b.n] {
			u.unknown = u.unknown || (x-before)*sign <= 0 || x*sign >= 1<<53
			before = x
		}
	default:
		u.unknown = true
	}
}

// texts updates the minimum and maximum as text with the values of a batch.
func (s *stats) texts(b *batch, r run) {
	low, high := uint64(math.MaxUint64), uint64(0)
	for _, k := range b.key[:b.n] {
		low, high = min(low, k), max(high, k)
	}
	if low > s.minKey && high < s.maxKey {
		return
	}
	for i, k := range b.key[:b.n] {
		if k == low || k == high {
			s.text(r.cells[i*r.stride])
		}
	}
}

// addAll adds the numbers of a batch as add does. None is infinite.
func (q *numbers) addAll(xs []float64, r run) {
	low, high := q.min, q.max
	lowAt, highAt := -1, -1
	sum, sum2 := q.sum, q.sum2
	for i, x := range xs {
		if x < low {
			low, lowAt = x, i
		}
		if x > high {
			high, highAt = x, i
		}
		d := x - q.origin
		sum += d
		sum2 += d * d
	}
	q.n, q.sum, q.sum2 = q.n+int64(len(xs)), sum, sum2
	if lowAt >= 0 {
		q.min, q.minLex = low, append(q.minLex[:0], r.cells[lowAt*r.stride]...)
	}
	if highAt >= 0 {
		q.max, q.maxLex = high, append(q.maxLex[:0], r.cells[highAt*r.stride]...)
	}
	if int64(len(xs)) <= q.skip {
		q.skip -= int64(len(xs))
		return
	}
	for _, x := range xs {
		if q.skip > 0 {
			q.skip--
		} else {
			q.pick(x, 1)
		}
	}
}
