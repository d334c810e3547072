package triplestore_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"odarchive/triplestore"
	"odarchive/triplestore/term"
)

// remove removes the quads that each hands out, and inserts none.
func remove(t *testing.T, s *triplestore.Store, each func(func(term.Quad) error) error) error {
	t.Helper()
	return s.Replace(t.Context(), func(remove, _ func(term.Quad) error) error { return each(remove) })
}

func TestReplaceRemovesAnyNumberOfQuadsInOneCommit(t *testing.T) {
	t.Parallel()
	for seed, memory := range []int64{0, 1 << 18} { // one chunk in memory; several in files
		r := rand.New(rand.NewPCG(uint64(seed), 5))
		s := open(t, inMemory(t), triplestore.Options{LoadMemory: memory, KeepChanges: -1, TempDir: t.TempDir()})
		all := slices.Concat(about("a", 6000, ""), about("b", 6000, "<http://e/g"), about("a", 3000, "<http://e/g"),
			about("c", 2000, "<http://e/h"))
		if _, err := s.Load(t.Context(), &quads{q: all}); err != nil {
			t.Fatal(err)
		}
		want := map[term.Quad]bool{}
		var gone []term.Quad
		for _, q := range all {
			if want[q] = r.IntN(3) == 0; !want[q] {
				delete(want, q)
				gone = append(gone, q)
			}
		}
		removed := len(gone)
		gone = slices.Concat(gone, gone[:500], about("none", 50, ""), about("c", 50, ""), about("b", 50, "<http://e/none"))
		r.Shuffle(len(gone), func(i, j int) { gone[i], gone[j] = gone[j], gone[i] })
		sn := s.Snapshot()
		start := sn.Position()
		sn.Release()
		late := term.Quad{S: gone[0].S, P: gone[0].P, O: term.String("added while the others were collected")}
		each := func(fault error) func(func(term.Quad) error) error {
			return func(remove func(term.Quad) error) error {
				for _, q := range append(gone, late) {
					if err := remove(q); err != nil {
						return err
					}
				}
				insertAll(t, s, []term.Quad{late})
				return fault
			}
		}
		fault := errors.New("fault")
		if err := remove(t, s, each(fault)); !errors.Is(err, fault) {
			t.Fatalf("got %v, want %v", err, fault)
		}
		if got := dumped(t, s); len(got) != len(all)+1 {
			t.Fatalf("a failed removal left %d quads of %d", len(got), len(all)+1)
		}
		if err := remove(t, s, each(nil)); err != nil {
			t.Fatal(err)
		}
		got := dumped(t, s)
		if delete(got, late); len(got) != len(want) {
			t.Errorf("memory %d: %d quads are left, want %d", memory, len(got), len(want))
		}
		for q := range want {
			if !got[q] {
				t.Fatalf("memory %d: %v is gone", memory, q)
			}
		}
		seen := map[uint64]int{}
		if _, err := s.Changes(t.Context(), start+1,
			func(c triplestore.Commit) error { seen[c.Position] += len(c.Removed); return nil }); err != nil || len(seen) != 1 {
			t.Errorf("memory %d: %d commits, %v", memory, len(seen), err)
		}
		for _, n := range seen {
			if n != removed+1 {
				t.Errorf("memory %d: the change log has %d removals, want %d", memory, n, removed+1)
			}
		}
		check(t, s)
	}
}

func TestAReplaceOfNothingIsNoCommit(t *testing.T) {
	t.Parallel()
	s := open(t, inMemory(t), triplestore.Options{})
	insertAll(t, s, about("a", 10, ""))
	position := func() uint64 {
		sn := s.Snapshot()
		defer sn.Release()
		return sn.Position()
	}
	before := position()
	for _, list := range [][]term.Quad{nil, about("b", 10, ""),
		{{S: about("a", 1, "")[0].S, P: term.IRI("http://e/p"), O: about("a", 2, "")[1].O}}} {
		err := remove(t, s, func(remove func(term.Quad) error) error {
			for _, q := range list {
				if err := remove(q); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || position() != before {
			t.Errorf("%d quads: position %d, want %d, %v", len(list), position(), before, err)
		}
	}
}
