package triplestore_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// about returns n quads about n subjects, some with long literals as objects.
func about(name string, n int, graph term.Key) (out []term.Quad) {
	for i := range n {
		o := term.String(fmt.Sprintf("what is said about %s %d", name, i))
		if i%100 == 0 {
			o = term.String(strings.Repeat("long ", 600) + name + fmt.Sprint(i))
		}
		out = append(out, term.Quad{S: term.IRI(fmt.Sprintf("http://e/%s/%d", name, i)), P: term.IRI("http://e/p"), O: o, G: graph})
	}
	return out
}

func dumped(t testing.TB, s *triplestore.Store) map[term.Quad]bool {
	t.Helper()
	out := map[term.Quad]bool{}
	if err := s.Dump(t.Context(), term.Pattern{}, func(q term.Quad) error { out[q] = true; return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestASweepForgetsTermsThatNothingUses(t *testing.T) {
	t.Parallel()
	db := inMemory(t)
	s := open(t, db, triplestore.Options{KeepChanges: 1, DictCacheBytes: 1 << 20})
	kept, gone, graph := about("kept", 3000, ""), about("gone", 3000, "<http://e/g"), term.Key("<http://e/g")
	mixed := make([]term.Quad, 0, len(kept)+len(gone))
	for i := range kept {
		mixed = append(mixed, kept[i], gone[i])
	}
	if _, err := s.Load(t.Context(), &quads{q: mixed[:3000]}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(t.Context(), &quads{q: mixed[3000:]}); err != nil {
		t.Fatal(err)
	}
	old := s.Snapshot()
	defer old.Release()
	if err := s.DropGraph(t.Context(), graph); err != nil {
		t.Fatal(err)
	}
	before := entries(t, db, kv.SpaceDict)
	n, err := s.Sweep(t.Context())
	if err != nil || n < 5900 || n > 6001 { // the last block is not swept
		t.Fatalf("%d terms swept, %v", n, err)
	}
	if after := entries(t, db, kv.SpaceDict); after > before*2/3 {
		t.Errorf("%d entries of the dictionary before, %d after", before, after)
	}
	if c := check(t, s); c.Terms > 6100 || c.Orphans > 0 {
		t.Errorf("%+v", c)
	}
	if again, err := s.Sweep(t.Context()); again != 0 || err != nil {
		t.Errorf("a second sweep: %d terms, %v", again, err)
	}
	seen := 0
	if err := old.Dump(t.Context(), term.Pattern{}, func(q term.Quad) error { seen++; return nil }); err != nil || seen != 6000 {
		t.Errorf("a snapshot from before reads %d quads, %v", seen, err)
	}
	insertAll(t, s, gone[:1000]) // under new numbers
	if err := s.Merge(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := map[term.Quad]bool{}
	for _, q := range append(kept, gone[:1000]...) {
		want[q] = true
	}
	for range 2 {
		got := dumped(t, s)
		for q := range want {
			if !got[q] {
				t.Fatalf("%q is missing", q)
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%d quads, want %d", len(got), len(want))
		}
		check(t, s)
		s.Close()
		s = open(t, db, triplestore.Options{KeepChanges: 1})
	}
}

func TestASweepThatWasInterruptedGoesOnWhenTheStoreIsOpened(t *testing.T) {
	t.Parallel()
	db := inMemory(t)
	s := open(t, db, triplestore.Options{KeepChanges: 1})
	if _, err := s.Load(t.Context(), &quads{q: about("gone", 5000, "<http://e/g")}); err != nil {
		t.Fatal(err)
	}
	if err := s.DropGraph(t.Context(), "<http://e/g"); err != nil {
		t.Fatal(err)
	}
	before := entries(t, db, kv.SpaceDict)
	if n, err := s.ForgetTerms(t.Context()); err != nil || n < 9900 {
		t.Fatalf("%d terms, %v", n, err)
	}
	check(t, s)
	s.Close()
	s = open(t, db, triplestore.Options{KeepChanges: 1})
	insertAll(t, s, about("gone", 200, ""))
	check(t, s)
	if _, err := s.Sweep(t.Context()); err != nil { // unless the background has swept already
		t.Fatal(err)
	}
	if after := entries(t, db, kv.SpaceDict); after > before/2 {
		t.Errorf("%d entries of the dictionary before, %d after", before, after)
	}
	check(t, s)
	if got := dumped(t, s); len(got) != 200 {
		t.Errorf("%d quads", len(got))
	}
}

func TestATermThatWasSweptGetsAnotherNumberAlsoWhereCommitsKnewItWell(t *testing.T) {
	t.Parallel()
	s := open(t, inMemory(t), triplestore.Options{KeepChanges: 1})
	rare := func(i int) term.Quad {
		return term.Quad{S: term.IRI(fmt.Sprintf("http://e/s/%d", i)), P: term.IRI("http://e/rare"),
			O: term.String("a value that comes again and again")}
	}
	insertAll(t, s, append(about("kept", 100, ""), rare(0)))
	insertAll(t, s, about("later", 100, "")) // to complete its block
	if err := s.Merge(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range 3 { // commits find them in blocks
		insertAll(t, s, []term.Quad{rare(i)})
	}
	err := s.Update(t.Context(), func(txn *triplestore.Txn) error {
		return errors.Join(txn.Delete(rare(0)), txn.Delete(rare(1)), txn.Delete(rare(2)))
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Merge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Sweep(t.Context()); n < 2 || err != nil {
		t.Fatalf("%d terms swept, %v", n, err)
	}
	insertAll(t, s, []term.Quad{rare(7)})
	if err := s.Merge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !dumped(t, s)[rare(7)] {
		t.Errorf("the statement is not there")
	}
	check(t, s)
}

func TestTermsThatTheChangeLogNamesAreNotSwept(t *testing.T) {
	t.Parallel()
	s := open(t, inMemory(t), triplestore.Options{KeepChanges: -1})
	all := about("gone", 1000, "<http://e/g")
	if _, err := s.Load(t.Context(), &quads{q: all}); err != nil {
		t.Fatal(err)
	}
	if err := s.DropGraph(t.Context(), "<http://e/g"); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Sweep(t.Context()); n != 0 || err != nil {
		t.Errorf("%d terms swept, %v", n, err)
	}
	removed := 0
	_, err := s.Changes(t.Context(), 0, func(c triplestore.Commit) error { removed += len(c.Removed); return nil })
	if err != nil || removed != len(all) {
		t.Errorf("the change log has %d removed quads, %v", removed, err)
	}
}

func TestTermsOfALargeRemovalAreNotKeptForTheChangeLog(t *testing.T) {
	t.Parallel()
	const many = 50_000
	for _, c := range []struct {
		keep      int64
		removed   int
		forgotten bool
	}{{0, many, true}, {0, many / 20, false}, {-1, many, false}} {
		s := open(t, inMemory(t), triplestore.Options{KeepChanges: c.keep})
		kept, gone := about("kept", 3000, ""), about("gone", many, "")
		if _, err := s.Load(t.Context(), &quads{q: append(slices.Clone(kept), gone...)}); err != nil {
			t.Fatal(err)
		}
		sn := s.Snapshot()
		start := sn.Position()
		sn.Release()
		err := s.Update(t.Context(), func(txn *triplestore.Txn) error {
			for _, q := range gone[:c.removed] {
				if err := txn.Delete(q); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		n, err := s.Sweep(t.Context())
		if err != nil || c.forgotten != (n > uint64(c.removed)) || !c.forgotten && n > 0 {
			t.Errorf("keep %d: after %d removals, %d terms swept, %v", c.keep, c.removed, n, err)
		}
		seen := 0
		_, err = s.Changes(t.Context(), start, func(c triplestore.Commit) error { seen += len(c.Removed); return nil })
		if c.forgotten != errors.Is(err, triplestore.ErrTrimmed) || !c.forgotten && seen != c.removed {
			t.Errorf("keep %d: of %d removals the log has %d, %v", c.keep, c.removed, seen, err)
		}
		insertAll(t, s, kept[:1])
		insertAll(t, s, gone[:10])
		if got := dumped(t, s); len(got) != len(kept)+many-c.removed+10 || !got[kept[7]] || !got[gone[7]] {
			t.Errorf("keep %d: %d quads are left", c.keep, len(got))
		}
		check(t, s)
	}
}
