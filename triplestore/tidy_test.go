package triplestore

import (
	"testing"

	"odarchive/triplestore/kv"
)

// Regression: two large commits followed each other before the background had tidied up after the first. A kill -9
// after that left blocks that nothing referenced and nothing would ever delete.
func TestTidyingBehindOneCommitKeepsTheListOfTheNext(t *testing.T) {
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s, err := Open(db, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx := t.Context()
	there := func(key string) bool {
		snap := db.Snapshot()
		defer snap.Close()
		_, ok, err := snap.Get(kv.SpaceTripleIndex, []byte(key))
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	after := func(lists ...uint64) *state {
		st := *s.current.Load()
		r := *st.root
		r.lists = lists
		st.root = &r
		return &st
	}
	for list, key := range map[uint64]string{101: "first", 102: "second"} {
		b := db.Batch()
		if err := b.Set(kv.SpaceTripleIndex, []byte(key), nil); err != nil {
			t.Fatal(err)
		}
		if err := b.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := writeObsolete(db, list, map[kv.Space][][]byte{kv.SpaceTripleIndex: {[]byte(key)}}); err != nil {
			t.Fatal(err)
		}
	}
	s.merging.Lock()
	defer s.merging.Unlock()
	s.unswept = []uint64{101, 102}
	if err := s.tidy(ctx, after(101)); err != nil {
		t.Fatal(err)
	}
	if there("first") || !there("second") || len(s.unswept) != 1 {
		t.Fatalf("behind the first commit: its block there %v, the second's %v, to be swept %v", there("first"), there("second"), s.unswept)
	}
	if err := s.tidy(ctx, after(101, 102)); err != nil {
		t.Fatal(err)
	}
	if there("second") || len(s.unswept) != 0 {
		t.Errorf("behind the second commit: its block there %v, to be swept %v", there("second"), s.unswept)
	}
}
