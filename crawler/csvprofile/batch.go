package csvprofile

import (
	"bytes"
	"math"

	"github.com/cespare/xxhash/v2"
)

// A column takes its cells of many rows at once. While its table counts them, nearly every cell is found there at first
// sight. Once the table was given up, values are read as the one before them was written, each step for all of them;
// one that is written otherwise goes the general way. Both lead to the same profile.

// runLen is how many rows a batch has at most.
const runLen = 64

// run is a column's share of a batch of rows: every stride-th cell, from the first on.
type run struct {
	cells  [][]byte
	stride int
}

func (r run) from(n int) run {
	r.cells = r.cells[min(n*r.stride, len(r.cells)):]
	return r
}

// room is how many bytes a cell must have at hand, itself included, to be read in words.
const room = 32

// addAll counts the cells of a run.
func (c *column) addAll(r run) {
	if !c.off {
		r = c.tally(r)
	}
	if c.off && len(r.cells) > 0 {
		c.foldAll(r)
	}
}

// tally counts cells in the table and returns those that come after it was given up.
func (c *column) tally(r run) run {
	hits, slots := int64(0), c.slots
	settle := func() {
		c.cells += hits
		c.since += hits
		c.dup = c.dup || hits > 0
		hits = 0
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
		}
		settle()
		c.add(cell)
		if c.off {
			return r.from(i/r.stride + 1)
		}
		slots = c.slots
	}
	settle()
	return run{}
}

// tight tells that a cell has nothing to trim.
func tight(b []byte) bool { return b[0]-'!' <= '~'-'!' && b[len(b)-1]-'!' <= '~'-'!' }

// batch are values of a run that are written alike, as many as stand one after another.
type batch struct {
	n, decimals    int // how many, and how many of them have a fraction
	forms          forms
	minLen, maxLen int
	key            [runLen]uint64
	num            [runLen]float64
}

// take adds one value to the batch.
func (b *batch) take(key uint64, length int, f forms, x float64) {
	b.key[b.n&(runLen-1)], b.num[b.n&(runLen-1)] = key, x
	b.forms &= f
	b.minLen, b.maxLen = min(b.minLen, length), max(b.maxLen, length)
	b.n++
}

// takeOther adds a value that has to be read the general way, unless it is of another kind than the last one.
func (c *column) takeOther(b *batch, cell []byte) bool {
	v := classify(cell)
	f, x := v.forms, v.num
	switch {
	case v.kind == kindDecimal && c.last == kindInteger || v.kind == kindInteger && c.last == kindDecimal:
	case v.kind != c.last || v.kind <= kindNull || v.kind == kindBoolean || x-x != 0:
		return false
	case v.kind == kindText:
		f = allForms
	}
	if v.kind == kindDecimal {
		b.decimals++
	}
	if c.st.alt {
		x = v.alt
	}
	b.take(prefix(cell), runes(cell), f, x)
	return true
}

// foldAll folds the cells of a run, after the table was given up.
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

// read takes values into the batch until one comes of another kind than the last one.
func (c *column) read(b *batch, r run) {
	sep, f := byte('.'), numDotted|numNoZeros
	if c.st.alt {
		sep, f = ',', numCommaed|numNoZeros
	}
	how := c.last
	if how == kindDecimal {
		how = kindInteger
	}
	if how == kindInteger && c.st.forms&unusual != 0 {
		how = kindEmpty
	}
	for i := 0; i < len(r.cells) && b.n < runLen; i += r.stride {
		cell := r.cells[i]
		if cap(cell) >= room {
			done := false
			switch how {
			case kindInteger:
				done = b.number(cell, sep, f)
			case kindDate:
				done = b.date(cell)
			case kindDateTime:
				done = b.dateTime(cell)
			case kindText:
				done = b.text(cell)
			}
			if done {
				continue
			}
		}
		if !c.takeOther(b, cell) {
			return
		}
	}
}

// filled trims the cells of a run and leaves out the empty ones, in place.
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

// unusual are forms of numbers that only the general way tells.
const unusual = boolDigits | numYear | dateNoSep

// number takes digits with or without a minus in front and a point, or a comma, among them.
func (b *batch) number(cell []byte, sep byte, f forms) bool {
	if len(cell) > 16 {
		return false
	}
	digits := cell
	if cell[0] == '-' {
		digits = cell[1:]
	}
	k := key(digits)
	whole := firstByte(k, sep)
	x := 0.0
	if whole == 8 {
		n, ok := digitsOf(k, len(digits))
		if !ok || len(digits) > 8 || len(digits) == 0 {
			return false
		}
		whole, x, f = len(digits), float64(n), numStyles|numNoZeros
	} else {
		fraction := len(digits) - whole - 1
		if whole == 0 || fraction < 1 || fraction > 8 {
			return false
		}
		var n uint64
		ok1, ok2 := true, true
		if len(digits) <= 9 { // without the point they fit a word
			front := ^uint64(0) << (64 - 8*whole)
			n, ok1 = digitsOf(k&front|(k<<8|uint64(digits[:9][8]))&^front, whole+fraction)
		} else {
			var m uint64
			n, ok1 = digitsOf(k, whole)
			m, ok2 = digitsOf(key(digits[whole+1:]), fraction)
			n = n*tens[fraction] + m
		}
		if !ok1 || !ok2 {
			return false
		}
		if fraction == 3 && whole <= 3 && digits[0] != '0' { // may be a thousand
			if sep == ',' {
				return false
			}
			f |= numGroupDot
		}
		x = float64(n) / powers[fraction]
		b.decimals++
	}
	if digits[0] == '0' && whole > 1 {
		f &^= numNoZeros
	}
	if len(digits) < len(cell) {
		x = -x
		k = key(cell)
	}
	b.take(k, len(cell), f, x)
	return true
}

// date takes a date as XML Schema writes it.
func (b *batch) date(cell []byte) bool {
	if len(cell) != 10 {
		return false
	}
	days, ok := isoDay(cell)
	if ok {
		b.take(key(cell), 10, isoForms, days)
	}
	return ok
}

const isoForms = dateYear4 | dateDash | dateYMD | datePadded

// isoDay reads the date in the first ten bytes as days.
func isoDay(b []byte) (days float64, ok bool) {
	if b[4] != '-' || b[7] != '-' {
		return 0, false
	}
	k := key(b)
	n, ok := digitsOf(k&0xFFFFFFFF00000000|k<<8&0xFFFF0000|uint64(b[8])<<8|uint64(b[9]), 8)
	y, m, d := int(n/10000), int(n/100%100), int(n%100)
	if !ok || !realDate(y, m, d) {
		return 0, false
	}
	return float64(dayNumber(y, m, d)), true
}

// dateTime takes a date and a time as XML Schema writes them, in UTC or nowhere, without fractions of a second.
func (b *batch) dateTime(cell []byte) bool {
	f := isoForms | timeT | timeHMS | timePadded | timeNoZone
	switch {
	case len(cell) == 20 && cell[19] == 'Z':
		f ^= timeNoZone | timeZone
	case len(cell) != 19:
		return false
	}
	switch cell[10] {
	case 'T':
	case ' ':
		f ^= timeT | timeSpace
	default:
		return false
	}
	k := key(cell[11:])
	n, ok := digitsOf(k&0xFFFF000000000000|k<<8&0xFFFF00000000|k<<16&0xFFFF0000, 6)
	h, m, s := n/10000, n/100%100, n%100
	if !ok || cell[13] != ':' || cell[16] != ':' || h > 23 || m > 59 || s > 60 {
		return false
	}
	days, ok := isoDay(cell)
	if ok {
		b.take(key(cell), len(cell), f, days*86400+float64(h*3600+m*60+s))
	}
	return ok
}

// text takes a text that does not begin as any word does that may be something else.
func (b *batch) text(cell []byte) bool {
	k := key(cell)
	if !plainText(k) {
		return false
	}
	length := len(cell)
	if length > 8 || k&highs != 0 {
		length = runes(cell)
	}
	b.take(k, length, allForms, 0)
	return true
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

// watched tells whether it still matters if a value came before.
func (c *column) watched() bool { return !c.dup && !c.unique.dup && !c.unique.unknown }

// watch tells uniqueness of the values of a batch; the statistics do not know them yet.
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

// texts keeps the least and greatest values of a batch as text does.
func (s *stats) texts(b *batch, r run) {
	least, greatest := uint64(math.MaxUint64), uint64(0)
	for _, k := range b.key[:b.n] {
		least, greatest = min(least, k), max(greatest, k)
	}
	if least > s.minKey && greatest < s.maxKey {
		return
	}
	for i, k := range b.key[:b.n] {
		if k == least || k == greatest {
			s.text(r.cells[i*r.stride])
		}
	}
}

// addAll adds the numbers of a batch as add does; none is infinite.
func (q *numbers) addAll(xs []float64, r run) {
	least, greatest := q.min, q.max
	leastAt, greatestAt := -1, -1
	sum, sum2 := q.sum, q.sum2
	for i, x := range xs {
		if x < least {
			least, leastAt = x, i
		}
		if x > greatest {
			greatest, greatestAt = x, i
		}
		d := x - q.origin
		sum += d
		sum2 += d * d
	}
	q.n, q.sum, q.sum2 = q.n+int64(len(xs)), sum, sum2
	if leastAt >= 0 {
		q.min, q.minLex = least, append(q.minLex[:0], r.cells[leastAt*r.stride]...)
	}
	if greatestAt >= 0 {
		q.max, q.maxLex = greatest, append(q.maxLex[:0], r.cells[greatestAt*r.stride]...)
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
