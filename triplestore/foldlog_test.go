package triplestore_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// follower has the quads that the change log told it of.
type follower struct {
	at  uint64
	has map[term.Quad]bool
}

// follow reads the log from where the follower is.
func (f *follower) follow(t *testing.T, s *triplestore.Store) error {
	t.Helper()
	last, err := s.Changes(t.Context(), f.at, func(c triplestore.Commit) error {
		for _, q := range c.Removed {
			if !f.has[q] {
				t.Errorf("position %d removes %v, which is not there", c.Position, q)
			}
			delete(f.has, q)
		}
		for _, q := range c.Added {
			if f.has[q] {
				t.Errorf("position %d adds %v, which is there", c.Position, q)
			}
			f.has[q] = true
		}
		return nil
	})
	f.at = last
	return err
}

func TestAFoldedLogTellsTheSameInOneCommit(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 7))
		db := inMemory(t)
		s := open(t, db, triplestore.Options{KeepChanges: -1, MergeAt: []int{0, 50}[seed%2]})
		commits := func(n int) {
			t.Helper()
			for range n {
				err := s.Update(t.Context(), func(txn *triplestore.Txn) error {
					for range 1 + r.IntN(5) {
						q := term.Quad{S: term.IRI(fmt.Sprintf("http://e/%d", r.IntN(40))), P: term.IRI("http://e/p"),
							O: term.String(fmt.Sprint(r.IntN(3), " is a longer text than an id holds"))}
						if r.IntN(2) == 0 {
							if err := txn.Insert(q); err != nil {
								return err
							}
						} else if err := txn.Delete(q); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		early, middle, late := &follower{has: map[term.Quad]bool{}}, &follower{has: map[term.Quad]bool{}},
			&follower{has: map[term.Quad]bool{}}
		fold := func() {
			t.Helper()
			if err := late.follow(t, s); err != nil {
				t.Fatal(err)
			}
			before := entries(t, db, kv.SpaceTripleLog)
			folded, err := s.FoldLog(t.Context())
			if err != nil || folded == 0 {
				t.Fatalf("%d folded, %v", folded, err)
			}
			if after := entries(t, db, kv.SpaceTripleLog); after > 3 || after >= before {
				t.Errorf("%d records were in the log, %d are", before, after)
			}
			if _, err := s.Check(t.Context()); err != nil {
				t.Error(err)
			}
		}
		commits(100)
		if err := middle.follow(t, s); err != nil {
			t.Fatal(err)
		}
		commits(100)
		fold()
		if err := middle.follow(t, s); !isTrimmed(err) {
			t.Errorf("from the middle: %v", err)
		}
		commits(30)
		if err := late.follow(t, s); err != nil || !maps.Equal(late.has, dumped(t, s)) {
			t.Errorf("from the end: %v", err)
		}
		fold()
		commits(5)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open(t, db, triplestore.Options{KeepChanges: -1})
		for name, f := range map[string]*follower{"the beginning": early, "the end": late} {
			if err := f.follow(t, s); err != nil || !maps.Equal(f.has, dumped(t, s)) {
				t.Errorf("from %s: %v", name, err)
			}
		}
		if n, err := s.Sweep(t.Context()); err != nil {
			t.Errorf("%d swept, %v", n, err)
		}
		again := &follower{has: map[term.Quad]bool{}}
		if err := again.follow(t, s); err != nil || !maps.Equal(again.has, dumped(t, s)) {
			t.Errorf("after a sweep: %v", err)
		}
	}
}
