package triplestore_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// spacesWith returns the spaces of a database that have entries with some bytes.
func spacesWith(t *testing.T, db *kv.DB, part string) (found []string) {
	t.Helper()
	for space := range kv.Space(0x7d) {
		n := 0
		err := db.View(func(tx *kv.Txn) error {
			return tx.Scan(space, nil, nil, func(k, v []byte) (bool, error) {
				if bytes.Contains(k, []byte(part)) || bytes.Contains(v, []byte(part)) {
					n++
				}
				return true, nil
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		if n > 0 {
			found = append(found, fmt.Sprintf("%s (%d)", space, n))
		}
	}
	return found
}

func TestNoEntryHasTheTermsOfRemovedQuadsAfterAPurge(t *testing.T) {
	t.Parallel()
	for _, merged := range []bool{false, true} {
		db := inMemory(t)
		s := open(t, db, triplestore.Options{})
		r := rand.New(rand.NewPCG(1, 2))
		text := make([]byte, 3000) // no codec shortens it, so it can be found
		for i := range text {
			text[i] = byte(r.Uint32())
		}
		secret, part := term.Quad{S: term.IRI("http://e/s"), P: term.IRI("http://e/p"), O: term.String(string(text))}, string(text[100:150])
		kept := about("kept", 500, "")
		err := s.Update(t.Context(), func(txn *triplestore.Txn) error {
			for _, q := range kept {
				if err := txn.Insert(q); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil {
			err = s.Update(t.Context(), func(txn *triplestore.Txn) error { return txn.Insert(secret) })
		}
		if err != nil {
			t.Fatal(err)
		}
		if merged {
			if err := s.Merge(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Update(t.Context(), func(txn *triplestore.Txn) error { return txn.Delete(secret) }); err != nil {
			t.Fatal(err)
		}
		if len(spacesWith(t, db, part)) == 0 {
			t.Fatal("the text is nowhere before the purge")
		}
		want := dumped(t, s)
		for range 2 { // the second finds nothing to do
			if err := s.Purge(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if found := spacesWith(t, db, part); len(found) > 0 {
			t.Errorf("merged before: %v: the text is in %v", merged, found)
		}
		got := dumped(t, s)
		if len(got) != len(want) || len(got) != len(kept) {
			t.Errorf("%d quads, want %d", len(got), len(want))
		}
		for q := range want {
			if !got[q] {
				t.Fatalf("%v is lost", q)
			}
		}
		if _, err := s.Changes(t.Context(), 0, func(triplestore.Commit) error { return nil }); !errors.Is(err, triplestore.ErrTrimmed) {
			t.Errorf("a reader of all changes: %v", err)
		}
		if done, err := s.Check(t.Context()); err != nil {
			t.Errorf("%+v, %v", done, err)
		}
	}
}
