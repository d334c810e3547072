package index

import (
	"cmp"
	"math/bits"
	"slices"

	"odarchive/triplestore/term"
)

// Sorter sorts the same quads in several layouts. It assigns ranks to each column's distinct values, so that a quad
// usually packs into one machine word, and sorts the words by radix.
type Sorter struct {
	quads  []term.IDQuad
	tables [numFields][]term.ID // distinct values, ascending
	ranks  [numFields][]uint32  // rank of each quad's value
}

// NewSorter returns a Sorter. The quads must not change.
func NewSorter(quads []term.IDQuad) *Sorter {
	s := &Sorter{quads: quads}
	for f := range numFields {
		s.rank(f)
	}
	return s
}

func field(q *term.IDQuad, f int) term.ID {
	switch f {
	case fieldP:
		return q.P
	case fieldS:
		return q.S
	case fieldO:
		return q.O
	}
	return q.G
}

func (s *Sorter) rank(f int) {
	ranks := make([]uint32, len(s.quads))
	s.ranks[f] = ranks
	// Assign provisional ranks in order of appearance, then the final ones.
	seen := make(map[term.ID]uint32)
	var table []term.ID
	var last term.ID
	var lastRank uint32
	for i := range s.quads {
		id := field(&s.quads[i], f)
		if id != last || i == 0 {
			r, ok := seen[id]
			if !ok {
				r = uint32(len(table))
				seen[id] = r
				table = append(table, id)
			}
			last, lastRank = id, r
		}
		ranks[i] = lastRank
	}
	order := make([]uint32, len(table))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return cmp.Compare(table[a], table[b]) })
	real := make([]uint32, len(table))
	s.tables[f] = make([]term.ID, len(table))
	for r, i := range order {
		real[i] = uint32(r)
		s.tables[f][r] = table[i]
	}
	for i, r := range ranks {
		ranks[i] = real[r]
	}
}

// columns returns the columns in the layout's order.
func (l Layout) columns() Tuple {
	return l.Tuple(term.IDQuad{G: fieldG, S: fieldS, P: fieldP, O: fieldO})
}

// Sorted appends the distinct quads that the layout holds to buf, sorted.
func (s *Sorter) Sorted(l Layout, buf []term.IDQuad) []term.IDQuad {
	cols := l.columns()
	var width [4]int
	total := 0
	for i, f := range cols {
		width[i] = bits.Len(uint(max(0, len(s.tables[f])-1)))
		total += width[i]
	}
	if total > 64 {
		return s.sortedSlowly(l, buf)
	}
	words := make([]uint64, 0, len(s.quads))
	for i := range s.quads {
		if !l.Holds(s.quads[i].G) {
			continue
		}
		w := uint64(0)
		for k, f := range cols {
			w = w<<width[k] | uint64(s.ranks[f][i])
		}
		words = append(words, w)
	}
	words = radixSort(words, total)
	buf = slices.Grow(buf, len(words))
	for i, w := range words {
		if i > 0 && words[i-1] == w {
			continue
		}
		var t Tuple
		for k := 3; k >= 0; k-- {
			t[k] = s.tables[cols[k]][w&(1<<width[k]-1)]
			w >>= width[k]
		}
		buf = append(buf, l.Quad(t))
	}
	return buf
}

func (s *Sorter) sortedSlowly(l Layout, buf []term.IDQuad) []term.IDQuad {
	at := len(buf)
	for _, q := range s.quads {
		if l.Holds(q.G) {
			buf = append(buf, q)
		}
	}
	slices.SortFunc(buf[at:], compareIn(l))
	return buf[:at+len(slices.Compact(buf[at:]))]
}

// radixSort sorts words of width bits, eleven bits at a time.
func radixSort(words []uint64, width int) []uint64 {
	const digit = 11
	if len(words) < 1<<digit {
		slices.Sort(words)
		return words
	}
	other := make([]uint64, len(words))
	for shift := 0; shift < width; shift += digit {
		var at [1 << digit]int
		for _, w := range words {
			at[w>>shift&(1<<digit-1)]++
		}
		sum := 0
		for i, n := range at {
			at[i] = sum
			sum += n
		}
		for _, w := range words {
			d := w >> shift & (1<<digit - 1)
			other[at[d]] = w
			at[d]++
		}
		words, other = other, words
	}
	return words
}
