package index

import (
	"cmp"
	"math/bits"
	"slices"

	"odarchive/triplestore/internal/segments"
	"odarchive/triplestore/term"
)

// Sorter sorts the same quads in several layouts. It assigns ranks to each column's distinct values, so that a quad
// usually packs into one machine word, and sorts the words by radix.
type Sorter struct {
	tables [numFields][]term.ID // distinct values, ascending
	ranks  [numFields][]uint32  // rank of each quad's value
}

// NewSorter returns a Sorter of quads.
func NewSorter(quads []term.IDQuad) *Sorter {
	s := &Sorter{}
	for f := range numFields {
		s.rank(quads, f)
	}
	return s
}

// Numbered is a quad whose subject, predicate, object and graph are indexes into a list of ids.
type Numbered [4]uint32

// NewNumberedSorter returns a Sorter of the quads that numbered ones stand for. It sorts the ids once for all columns,
// which is faster than looking up each component of each quad.
func NewNumberedSorter(quads []Numbered, ids []term.ID) *Sorter {
	order := make([]uint32, len(ids))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return cmp.Compare(ids[a], ids[b]) })
	s := &Sorter{}
	rank := make([]uint32, len(ids)) // in the column; first 1 for ids that it has
	for i, f := range [4]int{fieldS, fieldP, fieldO, fieldG} {
		clear(rank)
		for k := range quads {
			rank[quads[k][i]] = 1
		}
		n := 0
		for _, r := range rank {
			n += int(r)
		}
		table := make([]term.ID, 0, n)
		for _, number := range order {
			if rank[number] == 0 {
				continue
			}
			if id := ids[number]; len(table) == 0 || table[len(table)-1] != id {
				table = append(table, id)
			}
			rank[number] = uint32(len(table) - 1)
		}
		ranks := make([]uint32, len(quads))
		for k := range quads {
			ranks[k] = rank[quads[k][i]]
		}
		s.tables[f], s.ranks[f] = table, ranks
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

func (s *Sorter) rank(quads []term.IDQuad, f int) {
	ranks := make([]uint32, len(quads))
	s.ranks[f] = ranks
	// Assign provisional ranks in order of appearance, then the final ones.
	seen := make(map[term.ID]uint32)
	var table []term.ID
	var last term.ID
	var lastRank uint32
	for i := range quads {
		id := field(&quads[i], f)
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

// Len returns the number of quads, including repeated ones.
func (s *Sorter) Len() int { return len(s.ranks[fieldS]) }

// held returns the indexes of the quads that the layout holds; all if it is nil.
func (s *Sorter) held(l Layout) (some []uint32, n int) {
	graphs := s.tables[fieldG]
	if !slices.ContainsFunc(graphs, func(g term.ID) bool { return !l.Holds(g) }) {
		return nil, s.Len()
	}
	some = []uint32{}
	if !slices.ContainsFunc(graphs, l.Holds) {
		return some, 0
	}
	for i, r := range s.ranks[fieldG] {
		if l.Holds(graphs[r]) {
			some = append(some, uint32(i))
		}
	}
	return some, len(some)
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
	some, n := s.held(l)
	if n == 0 {
		return buf
	}
	if total > 64 {
		return s.sortedSlowly(l, some, n, buf)
	}
	words := make([]uint64, n)
	for k, f := range cols {
		ranks, w := s.ranks[f], width[k]
		if some == nil {
			for i, r := range ranks {
				words[i] = words[i]<<w | uint64(r)
			}
			continue
		}
		for i, at := range some {
			words[i] = words[i]<<w | uint64(ranks[at])
		}
	}
	words = segments.RadixSort(words, 0, total)
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

// sortedSlowly is Sorted for quads that do not fit into words. some and n are what held returned.
func (s *Sorter) sortedSlowly(l Layout, some []uint32, n int, buf []term.IDQuad) []term.IDQuad {
	at := len(buf)
	for i := range n {
		if some != nil {
			i = int(some[i])
		}
		value := func(f int) term.ID { return s.tables[f][s.ranks[f][i]] }
		buf = append(buf, term.IDQuad{S: value(fieldS), P: value(fieldP), O: value(fieldO), G: value(fieldG)})
	}
	slices.SortFunc(buf[at:], compareIn(l))
	return buf[:at+len(slices.Compact(buf[at:]))]
}
