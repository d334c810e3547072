package index

import (
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"odarchive/triplestore/term"
)

// changesOf returns n changes, some of named graphs and, if mixed, some removals.
func changesOf(r *rand.Rand, n int, mixed bool) []Change {
	seen := map[term.IDQuad]bool{}
	var out []Change
	for len(out) < n {
		q := term.IDQuad{G: term.DefaultGraph, S: term.Make(term.TagIRI, r.Uint64N(90)+1), P: term.Make(term.TagIRI, r.Uint64N(9)+1),
			O: term.Make(term.TagLiteral, r.Uint64N(900)+1)}
		if r.IntN(9) == 0 {
			q.G = term.Make(term.TagIRI, r.Uint64N(3)+1)
		}
		if seen[q] {
			continue
		}
		seen[q] = true
		sign := int8(1)
		if mixed && r.IntN(4) == 0 {
			sign = -1
		}
		out = append(out, Change{q, sign})
	}
	return out
}

func TestTheLayoutsOfARunAreMadeByWhoeverAsksFirst(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 300, 2 * manyRows} {
		for _, mixed := range []bool{false, true} {
			changes := changesOf(r, n, mixed)
			half := n / 3
			a, b := NewRun(changes[:half]), NewRun(changes[half:])
			whole, merged := NewRun(changes), mergeRuns(a, b)
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					for l := Layout(0); l < Layouts; l++ {
						want := sortSigned(l, slices.DeleteFunc(slices.Clone(changes), func(c Change) bool { return !l.Holds(c.Quad.G) }))
						again := mergeRuns(a, b) // while others read both
						for i, run := range []*Run{whole, merged, again} {
							if got := run.in(l); !slices.Equal(got.rows, want.rows) || !slices.Equal(got.sums, want.sums) {
								t.Errorf("%d changes, %s, run %d: %d rows, want %d", n, l, i, len(got.rows), len(want.rows))
							}
						}
						a.in(l)
						b.in(l)
					}
				})
			}
			all.Wait()
		}
	}
}

// TestAnOverlayLessAnEarlierOneHasWhatWasChangedSince commits changes and changes back, as commits do while blocks are
// written.
func TestAnOverlayLessAnEarlierOneHasWhatWasChangedSince(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		present, all := map[term.IDQuad]bool{}, changesOf(r, 60, false)
		commit := func(o Overlay) Overlay {
			var some []Change
			for _, i := range r.Perm(len(all))[:1+r.IntN(20)] {
				q := all[i].Quad
				sign := int8(1)
				if present[q] {
					sign = -1
				}
				present[q] = !present[q]
				some = append(some, Change{q, sign})
			}
			return o.With(NewRun(some))
		}
		var o Overlay
		for range r.IntN(8) {
			o = commit(o)
		}
		earlier, before := o, maps.Clone(present)
		for range r.IntN(8) {
			o = commit(o)
		}
		var want []Change
		for _, c := range all {
			if present[c.Quad] != before[c.Quad] {
				sign := int8(1)
				if before[c.Quad] {
					sign = -1
				}
				want = append(want, Change{c.Quad, sign})
			}
		}
		got := o.Less(earlier).Flat()
		for l := Layout(0); l < Layouts; l++ {
			expected := NewRun(want).in(l)
			if s := got.in(l); !slices.Equal(s.rows, expected.rows) || !slices.Equal(s.sums, expected.sums) {
				t.Fatalf("%s: %v, want %v", l, s, expected)
			}
		}
	}
}
