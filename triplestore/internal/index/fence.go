package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sort"

	"odarchive/triplestore/fields"
	"odarchive/triplestore/internal/segments"
	"odarchive/triplestore/term"
)

// fence is what is known of a block without reading it.
type fence struct {
	first, last Tuple
	id          uint64
	before      counts // sum over all blocks before this one
}

// counts are sums over consecutive rows of one layout: the number of rows, and of those that differ from the previous
// row in their first one, two and three components. The difference of two counts is the number of distinct prefixes in
// between.
type counts struct {
	rows   uint64
	starts [3]uint64
}

func (c counts) plus(d counts) counts {
	c.rows += d.rows
	for i := range c.starts {
		c.starts[i] += d.starts[i]
	}
	return c
}

func (c counts) minus(d counts) counts {
	c.rows -= d.rows
	for i := range c.starts {
		c.starts[i] -= d.starts[i]
	}
	return c
}

// differAt returns the index of the first component in which two tuples differ, or 4 if they are equal.
func differAt(a, b Tuple) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return 4
}

// add counts a row that differs from the previous one at the given index, which is 0 for the very first row.
func (c *counts) add(differs int) {
	c.rows++
	for i := differs; i < 3; i++ {
		c.starts[i]++
	}
}

// level is the sequence of blocks of one layout. It is immutable.
type level struct {
	fences []fence
	total  counts
	pages  []page  // stored pages of fences, in order
	guide  []Tuple // the last row of every guideStep-th block; see reach
}

// guideStep is the number of blocks between two entries of a guide. A guide of a hundred million quads fits into the
// second cache of a processor, which its fences do not: without it, each search in a large level waits for memory a
// dozen times.
const guideStep = 16

// finish prepares a level for reading when all its fences are there.
func (l *level) finish() {
	l.guide = make([]Tuple, 0, len(l.fences)/guideStep)
	for i := guideStep - 1; i < len(l.fences); i += guideStep {
		l.guide = append(l.guide, l.fences[i].last)
	}
}

// page is a part of a level's fences, stored under one key.
type page struct {
	id uint64
	n  int // number of fences
}

// pageFences is the maximum number of fences in a page.
const pageFences = 512

// upTo returns the counts of all blocks before block i, which may be one past the last.
func (l *level) upTo(i int) counts {
	if i < len(l.fences) {
		return l.fences[i].before
	}
	return l.total
}

// in returns the counts of one block.
func (l *level) in(i int) counts { return l.upTo(i + 1).minus(l.fences[i].before) }

// reach returns the first block, from block i on, whose last row is not less than t.
func (l *level) reach(i int, t Tuple) int {
	if i == 0 && len(l.guide) > 0 {
		g := sort.Search(len(l.guide), func(k int) bool { return !l.guide[k].Less(t) })
		lo := g * guideStep
		return lo + sort.Search(min(guideStep, len(l.fences)-lo), func(k int) bool { return !l.fences[lo+k].last.Less(t) })
	}
	return l.gallop(i, func(f *fence) bool { return !f.last.Less(t) })
}

// gallop returns the first block from block i on for which found reports true, and then true for all after it. It is
// fast if that block is near.
func (l *level) gallop(i int, found func(*fence) bool) int {
	step := 1
	lo := i
	for i+step <= len(l.fences) && !found(&l.fences[i+step-1]) {
		lo = i + step
		step *= 2
	}
	hi := min(i+step, len(l.fences))
	return lo + sort.Search(hi-lo, func(k int) bool { return found(&l.fences[lo+k]) })
}

// blocks returns the range of blocks that may have rows of r.
func (l *level) blocks(r Range) (from, to int) {
	from = l.reach(0, r.From)
	to = len(l.fences)
	if !r.open() {
		to = l.gallop(from, func(f *fence) bool { return !f.first.Less(r.To) })
	}
	return from, to
}

var errPage = errors.New("malformed page of fences")

const pageVersion = 1

// encodePage encodes the fences of a page. own are the counts of each block alone.
func encodePage(layout Layout, id uint64, fences []fence, own []counts) []byte {
	b := []byte{pageVersion, byte(layout)}
	b = binary.AppendUvarint(b, uint64(len(fences)))
	var prev Tuple
	var prevID uint64
	for i, f := range fences {
		b = appendTuple(b, f.first, prev)
		b = appendTuple(b, f.last, f.first)
		prev = f.last
		b = binary.AppendVarint(b, int64(f.id-prevID))
		prevID = f.id
		b = binary.AppendUvarint(b, own[i].rows)
		for _, n := range own[i].starts {
			b = binary.AppendUvarint(b, n)
		}
	}
	return segments.AppendSeal(b, id)
}

func appendTuple(b []byte, t, prev Tuple) []byte {
	for i := range t {
		b = binary.AppendVarint(b, int64(t[i]-prev[i]))
	}
	return b
}

// decodePage appends the fences of a page to l.
func (l *level) decodePage(layout Layout, id uint64, b []byte) error {
	body, err := segments.OpenSeal(b, id)
	if err != nil || len(body) < 2 || body[0] != pageVersion || body[1] != byte(layout) {
		return errPage
	}
	r := numbers{fields.Reader{B: body[2:]}}
	n := r.Uvarint()
	if n == 0 || n > uint64(len(body)) {
		return errPage
	}
	var prev Tuple
	var prevID uint64
	for range n {
		f := fence{first: r.tuple(prev)}
		f.last = r.tuple(f.first)
		prev = f.last
		prevID += uint64(r.Varint())
		f.id = prevID
		f.before = l.total
		own := counts{rows: r.Uvarint()}
		for i := range own.starts {
			own.starts[i] = r.Uvarint()
		}
		if r.Bad() || own.rows == 0 || own.rows > maxBlockRows || f.last.Less(f.first) || len(l.fences) > 0 &&
			!l.fences[len(l.fences)-1].last.Less(f.first) {
			return errPage
		}
		l.total = l.total.plus(own)
		l.fences = append(l.fences, f)
	}
	if r.End() != nil {
		return errPage
	}
	l.pages = append(l.pages, page{id, int(n)})
	return nil
}

// numbers decodes the values that fences consist of.
type numbers struct{ fields.Reader }

func (r *numbers) tuple(prev Tuple) Tuple {
	for i := range prev {
		prev[i] += term.ID(r.Varint())
	}
	return prev
}

// encodeRoot encodes, for each tier and layout, the pages of its fences.
func (b *Base) encodeRoot() []byte {
	out := binary.AppendUvarint([]byte{rootVersion}, uint64(len(b.tiers)))
	for _, t := range b.tiers {
		for l := range t.levels {
			out = binary.AppendUvarint(out, uint64(len(t.levels[l].pages)))
			prev := uint64(0)
			for _, p := range t.levels[l].pages {
				out = binary.AppendVarint(out, int64(p.id-prev))
				prev = p.id
			}
		}
	}
	return segments.AppendSeal(out, 0)
}

const rootVersion = 1

// decodeRoot returns the page ids of each tier and layout.
func decodeRoot(b []byte) (tiers [][Layouts][]uint64, err error) {
	b, err = segments.OpenSeal(b, 0)
	if err != nil {
		return nil, fmt.Errorf("malformed root: %w", err)
	}
	if b[0] != rootVersion {
		return nil, errors.New("malformed root: unknown version")
	}
	r := numbers{fields.Reader{B: b[1:]}}
	n := r.Uvarint()
	if n > uint64(len(b)/Layouts) {
		return nil, errors.New("malformed root")
	}
	tiers = make([][Layouts][]uint64, n)
	for i := range tiers {
		for l := range tiers[i] {
			n := r.Uvarint()
			if n > uint64(len(b)) {
				return nil, errors.New("malformed root")
			}
			prev := uint64(0)
			for range n {
				prev += uint64(r.Varint())
				tiers[i][l] = append(tiers[i][l], prev)
			}
		}
	}
	if r.End() != nil {
		return nil, errors.New("malformed root")
	}
	return tiers, nil
}
