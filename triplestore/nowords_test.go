package triplestore

import (
	"slices"
	"testing"

	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
	"odarchive/triplestore/text"
	"odarchive/vocab"
)

// A directory without an index of words gets one when it is opened, and keeps it.
func TestADirectoryWithoutAnIndexOfWordsGetsOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	title := term.Quad{S: term.IRI("http://e/d"), P: term.IRI(vocab.DCTTitle), O: term.String("Bevölkerung der Stadt Wien")}
	q, err := text.ParseQuery("wien bevolkerung", text.Options{})
	if err != nil {
		t.Fatal(err)
	}
	session := func(f func(db *kv.DB, s *Store)) {
		t.Helper()
		db, err := kv.Open(dir, kv.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		s, err := Open(db, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		f(db, s)
	}
	stored := func(db *kv.DB) (keys [][]byte) {
		snap := db.Snapshot()
		defer snap.Close()
		if err := snap.Scan(kv.SpaceText, nil, nil, func(k, _ []byte) (bool, error) {
			keys = append(keys, slices.Clone(k))
			return true, nil
		}); err != nil {
			t.Fatal(err)
		}
		return keys
	}
	find := func(s *Store) {
		t.Helper()
		sn := s.Snapshot()
		defer sn.Release()
		if hits, err := sn.SearchText(t.Context(), q, nil); err != nil || len(hits) != 1 {
			t.Errorf("found %v, %v", hits, err)
		}
	}
	session(func(_ *kv.DB, s *Store) {
		if err := s.Update(t.Context(), func(tx *Txn) error { return tx.Insert(title) }); err != nil {
			t.Fatal(err)
		}
		find(s)
		if err := s.literals.wait(t.Context(), s.current.Load().position, true); err != nil {
			t.Fatal(err)
		}
	})
	session(func(db *kv.DB, s *Store) {
		keys := stored(db)
		if len(keys) == 0 {
			t.Fatal("no index was stored")
		}
		if err := db.Update(t.Context(), func(kt *kv.Txn) error {
			for _, k := range keys {
				if err := kt.Delete(kv.SpaceText, k); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	})
	session(func(db *kv.DB, s *Store) {
		find(s)
		if err := s.literals.wait(t.Context(), s.current.Load().position, true); err != nil {
			t.Fatal(err)
		}
		if len(stored(db)) == 0 {
			t.Error("the new index is not stored")
		}
	})
}
