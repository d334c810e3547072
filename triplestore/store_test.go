package triplestore_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

var _ term.Dataset = (*triplestore.Snapshot)(nil)

func open(t testing.TB, db *kv.DB, o triplestore.Options) *triplestore.Store {
	t.Helper()
	s, err := triplestore.Open(db, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func inMemory(t testing.TB) *kv.DB {
	t.Helper()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func kit(s func() *triplestore.Store) kitStore {
	return kitStore{
		Update: func(ctx context.Context, f func(kitTxn) error) error {
			return s().Update(ctx, func(tx *triplestore.Txn) error { return f(tx) })
		},
		Snapshot: func() (term.Dataset, func()) { sn := s().Snapshot(); return sn, sn.Release },
	}
}

// TestTheStoreIsAStoreWhateverItMerges runs the kit while blocks are merged and the store is reopened.
func TestTheStoreIsAStoreWhateverItMerges(t *testing.T) {
	t.Parallel()
	runKit(t, func(t testing.TB) kitStore {
		db := inMemory(t)
		o := triplestore.Options{MergeAt: 200}
		s := open(t, db, o)
		k := kit(func() *triplestore.Store { return s })
		k.Shake = func(rnd *rand.Rand) {
			if rnd.IntN(3) == 0 {
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				s = open(t, db, o)
			} else if err := s.Merge(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Check(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		return k
	})
}

func TestTheStoreIsAStore(t *testing.T) {
	t.Parallel()
	runKit(t, func(t testing.TB) kitStore {
		s := open(t, inMemory(t), triplestore.Options{})
		return kit(func() *triplestore.Store { return s })
	})
}

// killContext is for code that runs in a child process, without a testing.T.
var killContext = context.Background()

func isTrimmed(err error) bool { return errors.Is(err, triplestore.ErrTrimmed) }
