package content

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"

	"odarchive/triplestore/kv"
)

// A backup asks for the lowest unfinished pack, and the number of a pack is reserved by a commit that waits for the
// backup.
func TestTheLowestUnfinishedPackIsKnownWhileAPackWaitsForItsNumber(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var s *Store
	asked, first := 0, uint64(0)
	db, err := kv.Open(dir, kv.Options{MinFree: -1, NoSync: true, Acknowledge: func(context.Context, uint64) error {
		if s != nil {
			asked, first = asked+1, s.Unfinished()
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if s, err = Open(filepath.Join(dir, "packs"), db, Options{MinFree: -1, NoSync: true}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	leave, err := s.tail.enter() // makes the first pack, and reserves the first numbers
	if err != nil {
		t.Fatal(err)
	}
	leave()
	if asked != 1 || first != 1 {
		t.Errorf("during %d commits, the lowest unfinished pack was %d", asked, first)
	}
}

func TestAPackIsUnfinishedUntilNothingMayBeCommittedInIt(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{MaxPack: 120 << 10})
	seed := uint64(0)
	fill := func(n int) {
		for range n {
			seed++
			s.put(noise(rng(seed), 50_000), Digest{})
		}
	}
	fill(5)
	for _, commit := range []bool{true, false} {
		first := s.tail.current()
		if got := s.Unfinished(); got != first {
			t.Errorf("without a Put in progress, pack %d is unfinished, not the current one, %d", got, first)
		}
		placed, err := s.Place(t.Context(), bytes.NewReader(noise(rng(1000+seed), 400_000)), PutOptions{})
		if err != nil {
			t.Fatal(err)
		}
		fill(7)
		if got := s.Unfinished(); got != first || s.tail.current() < first+3 {
			t.Errorf("pack %d is unfinished, and the file that is not committed began in %d; %d is the current one", got, first,
				s.tail.current())
		}
		if commit {
			err := s.kv.Update(t.Context(), func(tx *kv.Txn) error {
				_, err := placed.Write(tx)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		placed.Release()
		if got := s.Unfinished(); got != s.tail.current() {
			t.Errorf("at last, pack %d is unfinished, and the current one is %d", got, s.tail.current())
		}
	}
	if err := s.tail.closeCurrent(); err != nil {
		t.Fatal(err)
	}
	next := s.Unfinished()
	if list, err := s.PacksFrom(next); err != nil || len(list) > 0 {
		t.Errorf("without a current pack, %v is unfinished, %v", list, err)
	}
	s.Close()
	s.reopen()
	if got := s.Unfinished(); got != next {
		t.Errorf("after a restart, pack %d is unfinished, not %d", got, next)
	}
	fill(1)
	if got := s.Unfinished(); got != s.tail.current() || got < next {
		t.Errorf("pack %d is unfinished, %d the current one, and %d came before", got, s.tail.current(), next)
	}
}

// Compact commits what it has moved only when that is several packs.
func TestAPackIsUnfinishedUntilWhatCompactMovesIsCommitted(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{MaxPack: 120 << 10})
	for i := range uint64(4) {
		s.put(noise(rng(i), 50_000), Digest{})
	}
	list, err := s.Packs()
	if err != nil {
		t.Fatal(err)
	}
	old, first := list[0].Number(), s.tail.current()
	m := &mover{s: s.Store, pack: old, lastDroppable: s.lastDroppable(), records: make(packDeltas)}
	r, free, err := s.acquireSound(old)
	if err != nil {
		t.Fatal(err)
	}
	defer free()
	w := &walker{r: r, end: list[0].Size, limit: m.nextSegment}
	if err := w.walk(func(rec found) error { return m.move(t.Context(), rec) }); err != nil || len(m.moves) == 0 {
		t.Fatalf("%d segments were moved: %v", len(m.moves), err)
	}
	for i := range uint64(6) {
		s.put(noise(rng(50+i), 50_000), Digest{})
	}
	if got := s.Unfinished(); got != first || s.tail.current() < first+2 {
		t.Errorf("pack %d is unfinished, and what was moved begins in %d; %d is the current one", got, first, s.tail.current())
	}
	if err := m.commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := s.Unfinished(); got != s.tail.current() {
		t.Errorf("at last, pack %d is unfinished, and the current one is %d", got, s.tail.current())
	}
}
