package content

import "math/bits"

// Anchors find what a new file has in common with an older one: places where a rolling hash (gear) of the last 64 bytes
// begins with zeros. Anchors depend only on these bytes, so both files have them at the same places, whatever was
// inserted or deleted before. Around two anchors with the same hash, the files are compared byte by byte in both
// directions; hashes only suggest where to look.

// match is a stretch of n bytes at the offset at in the new file and old in the older one.
type match struct {
	at, old, n int64
}

const (
	window     = 64      // bytes that the gear hash depends on, one for each of its bits
	anchorBits = 7       // anchors are 128 bytes apart on average
	maxAnchors = 1 << 20 // bigger files have anchors farther apart: 16 MB for files of any size
	minMatch   = 64      // shorter matches are ignored
)

var gear = gearTable()

// gearTable returns a fixed table (SplitMix64), so that the same files match in the same way everywhere.
func gearTable() (t [256]uint64) {
	x := uint64(0x6F64617263686976)
	for i := range t {
		x += 0x9E3779B97F4A7C15
		z := x
		z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
		z = (z ^ z>>27) * 0x94D049BB133111EB
		t[i] = z ^ z>>31
	}
	return t
}

// anchors maps the hash at an anchor to the first place where it was seen: open addressing, no deletion.
type anchors struct {
	shift int // a hash is an anchor's if it is zero after a right shift by this
	hash  []uint64
	at    []int64 // offset of the byte after the window, plus one; 0: free
	mask  uint64
}

func newAnchors(size int64) *anchors {
	b := anchorBits
	for size>>b > maxAnchors {
		b++
	}
	slots := uint64(1) << bits.Len64(uint64(size>>b)*2+64)
	return &anchors{shift: 64 - b, hash: make([]uint64, slots), at: make([]int64, slots), mask: slots - 1}
}

func (a *anchors) slot(h uint64) uint64 { return (h * 0x9E3779B97F4A7C15) >> 20 & a.mask }

func (a *anchors) add(h uint64, at int64) {
	i := a.slot(h)
	for n := 0; a.at[i] != 0; i, n = (i+1)&a.mask, n+1 {
		if a.hash[i] == h || n > 32 { // known already, or the table is nearly full
			return
		}
	}
	a.hash[i], a.at[i] = h, at+1
}

func (a *anchors) find(h uint64) (at int64, ok bool) {
	i := a.slot(h)
	for n := 0; a.at[i] != 0 && n <= 33; i, n = (i+1)&a.mask, n+1 {
		if a.hash[i] == h {
			return a.at[i] - 1, true
		}
	}
	return 0, false
}

// index adds the anchors of v from the byte start on.
func (a *anchors) index(v *view, start int64) {
	h := a.prime(v, start)
	for off := start; ; {
		b := v.from(off)
		if len(b) == 0 {
			return
		}
		for i, c := range b {
			h = h<<1 + gear[c]
			if h>>a.shift == 0 {
				a.add(h, off+int64(i)+1)
			}
		}
		off += int64(len(b))
	}
}

// prime returns the hash of the window that ends before off.
func (a *anchors) prime(v *view, off int64) (h uint64) {
	for at := max(off-window, 0); at < off; {
		b := v.from(at)
		if len(b) == 0 {
			return h
		}
		b = b[:min(int64(len(b)), off-at)]
		for _, c := range b {
			h = h<<1 + gear[c]
		}
		at += int64(len(b))
	}
	return h
}

// matches returns what newer has in common with older, in the order of newer, without overlaps there.
func matches(older, newer *view) (list []match, err error) {
	var done int64 // the end of the last match
	found := func(m match) {
		list = append(list, m)
		done = m.at + m.n
	}
	if n := forward(older, newer, 0, 0); n >= minMatch {
		found(match{0, 0, n})
	}
	if done == newer.size || done == older.size { // nothing is left, or bytes were only appended
		return list, firstError(older, newer)
	}
	a := newAnchors(older.size)
	a.index(older, max(0, done-window)) // what comes before is mostly at the same place in both
	if done > window {
		a.index(prefixView(older, done), 0)
	}
	h, off := a.prime(newer, done), done
	for {
		b := newer.from(off)
		if len(b) == 0 {
			return list, firstError(older, newer)
		}
		next := off + int64(len(b))
		for i, c := range b {
			h = h<<1 + gear[c]
			if h>>a.shift != 0 {
				continue
			}
			m, ok := a.extend(older, newer, h, off+int64(i)+1, done, list)
			if !ok {
				continue
			}
			found(m)
			next, h = done, a.prime(newer, done)
			break
		}
		off = next
	}
}

// prefixView returns a view of the first n bytes of v. It shares only the reader and complete data with v.
func prefixView(v *view, n int64) *view {
	if data := v.blocks[0].data; int64(len(data)) == v.size { // all in memory
		return newView(v.r, n, data[:n])
	}
	return newView(v.r, n, nil)
}

func firstError(views ...*view) error {
	for _, v := range views {
		if v.err != nil {
			return v.err
		}
	}
	return nil
}

// extend compares the bytes around an anchor that ends before at, with the place where the anchor was first seen and
// with the one that continues the last match, and returns the longer match.
func (a *anchors) extend(older, newer *view, h uint64, at, done int64, list []match) (best match, ok bool) {
	try := func(o int64) {
		if o < 0 || o > older.size {
			return
		}
		back := backward(older, newer, o, at, at-done)
		m := match{at - back, o - back, back + forward(older, newer, o, at)}
		if m.n >= minMatch && m.n > best.n {
			best, ok = m, true
		}
	}
	if o, seen := a.find(h); seen {
		try(o)
		if len(list) > 0 {
			last := list[len(list)-1]
			if aligned := at - last.at + last.old; aligned != o {
				try(aligned)
			}
		}
	}
	return best, ok
}

// forward returns the number of equal bytes from both places on.
func forward(older, newer *view, o, n int64) (same int64) {
	for {
		a, b := older.from(o+same), newer.from(n+same)
		k := min(len(a), len(b))
		if k == 0 {
			return same
		}
		eq := commonPrefix(a[:k], b[:k])
		same += int64(eq)
		if eq < k {
			return same
		}
	}
}

// backward returns the number of equal bytes before both places, at most limit.
func backward(older, newer *view, o, n, limit int64) (same int64) {
	for same < limit {
		a, b := older.upTo(o-same), newer.upTo(n-same)
		k := int(min(int64(min(len(a), len(b))), limit-same))
		if k == 0 {
			return same
		}
		a, b = a[len(a)-k:], b[len(b)-k:]
		for i := k - 1; i >= 0; i-- {
			if a[i] != b[i] {
				return same + int64(k-1-i)
			}
		}
		same += int64(k)
	}
	return same
}

func commonPrefix(a, b []byte) int {
	const step = 4096
	n := 0
	for len(a)-n >= step && string(a[n:n+step]) == string(b[n:n+step]) {
		n += step
	}
	for n < len(a) && a[n] == b[n] {
		n++
	}
	return n
}
