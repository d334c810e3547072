package triplestore

import (
	"fmt"
	"testing"

	"odarchive/triplestore/internal/sealed"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// A directory of format 3, which knew no tiers, is read as it is, becomes one of format 4 when it is opened for writing,
// and grows tiers.
func TestADirectoryWithoutTiersIsUpgraded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	quad := func(i int) term.Quad {
		return term.Quad{S: term.IRI(fmt.Sprintf("http://e/%d", i)), P: term.IRI("http://e/p"), O: term.String(fmt.Sprint(i % 700))}
	}
	session := func(readOnly bool, f func(db *kv.DB, s *Store)) {
		t.Helper()
		db, err := kv.Open(dir, kv.Options{ReadOnly: readOnly})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		s, err := Open(db, Options{MergeAt: 10_000})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		f(db, s)
	}
	insert := func(s *Store, from, to int) {
		t.Helper()
		if err := s.Update(t.Context(), func(tx *Txn) error {
			for i := from; i < to; i++ {
				if err := tx.Insert(quad(i)); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if err := s.Merge(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	version := func(db *kv.DB) (v byte) {
		t.Helper()
		snap := db.Snapshot()
		defer snap.Close()
		if _, err := snap.Read(kv.SpaceTripleMeta, rootKey, func(b []byte) error { v = b[0]; return nil }); err != nil {
			t.Fatal(err)
		}
		return v
	}
	holds := func(s *Store, want int) {
		t.Helper()
		c, err := s.Check(t.Context())
		if err != nil || c.Quads != uint64(want) || c.Orphans != 0 {
			t.Errorf("%+v, %v, want %d quads", c, err, want)
		}
		for _, i := range []int{0, want / 2, want - 1} {
			n := 0
			if err := s.Dump(t.Context(), term.Pattern{}, func(q term.Quad) error {
				if q == quad(i) {
					n++
				}
				return nil
			}); err != nil || n != 1 {
				t.Errorf("quad %d is there %d times, %v", i, n, err)
			}
		}
	}
	session(false, func(db *kv.DB, s *Store) {
		insert(s, 0, 4000)
		r := *s.current.Load().root
		body, err := sealed.Open(r.index, 0)
		if err != nil || body[0] != 2 || body[1] != 1 {
			t.Fatalf("root %x, %v", body, err)
		}
		r.index = sealed.Append(append([]byte{1}, body[2:]...), 0)
		root, err := sealed.Open(r.encode(), 0)
		if err != nil {
			t.Fatal(err)
		}
		root[0] = 3
		if err := db.Update(t.Context(), func(tx *kv.Txn) error {
			return tx.Set(kv.SpaceTripleMeta, rootKey, sealed.Append(root, 0))
		}); err != nil {
			t.Fatal(err)
		}
	})
	session(true, func(db *kv.DB, s *Store) {
		if v := version(db); v != 3 {
			t.Errorf("version %d after opening for reading", v)
		}
		holds(s, 4000)
	})
	session(false, func(db *kv.DB, s *Store) {
		if v := version(db); v != 4 {
			t.Errorf("version %d after opening", v)
		}
		holds(s, 4000)
		insert(s, 4000, 4500)
		insert(s, 4500, 4600)
		if n := s.current.Load().base.Tiers(); n != 3 {
			t.Errorf("%d tiers", n)
		}
		holds(s, 4600)
	})
	session(false, func(_ *kv.DB, s *Store) {
		if n := s.current.Load().base.Tiers(); n != 3 {
			t.Errorf("%d tiers after opening", n)
		}
		holds(s, 4600)
		if err := s.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := s.current.Load().base.Tiers(); n != 1 {
			t.Errorf("%d tiers after compacting", n)
		}
		holds(s, 4600)
	})
}
