package index

import (
	"slices"
	"testing"

	"odarchive/triplestore/term"
)

func TestNumberedQuadsAreSortedAsQuads(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, size := range []int{0, 1, 7, 300, 5000} {
		// Ids of all kinds in no order, some of them twice, and wide ones that do not fit into words.
		ids := []term.ID{term.DefaultGraph}
		for range 1 + size/3 {
			ids = append(ids, term.Make(term.Tag(1+w.rnd.IntN(4)), 1+w.rnd.Uint64N(uint64(1+size))))
		}
		numbered := make([]Numbered, size)
		quads := make([]term.IDQuad, size)
		for i := range quads {
			n := Numbered{}
			for k := range 3 {
				n[k] = uint32(1 + w.rnd.IntN(len(ids)-1))
			}
			if w.rnd.IntN(2) == 0 {
				n[3] = uint32(w.rnd.IntN(len(ids)))
			}
			numbered[i] = n
			quads[i] = term.IDQuad{S: ids[n[0]], P: ids[n[1]], O: ids[n[2]], G: ids[n[3]]}
		}
		s := NewNumberedSorter(numbered, ids)
		for l := Layout(0); l < Layouts; l++ {
			want := slices.DeleteFunc(slices.Clone(quads), func(q term.IDQuad) bool { return !l.Holds(q.G) })
			slices.SortFunc(want, compareIn(l))
			want = slices.Compact(want)
			if got := s.Sorted(l, nil); !slices.Equal(got, want) {
				t.Errorf("%d quads in %s: %d rows, want %d", size, l, len(got), len(want))
			}
			some, n := s.held(l)
			if got := s.sortedSlowly(l, some, n, nil); !slices.Equal(got, want) {
				t.Errorf("%d quads in %s: %d rows by comparison, want %d", size, l, len(got), len(want))
			}
		}
	}
}
