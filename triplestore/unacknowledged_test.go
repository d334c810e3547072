package triplestore_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"odarchive/triplestore"
	"odarchive/triplestore/kv"
)

// A load waits for the backup, and the process stops.
func TestALoadThatIsNotAcknowledgedSaysSoOnce(t *testing.T) {
	t.Parallel()
	var stopped atomic.Bool
	db, err := kv.Open("", kv.Options{InMemory: true, Acknowledge: func(context.Context, uint64) error {
		if stopped.Load() {
			return errors.New("the process stops")
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	s := open(t, db, triplestore.Options{})
	stopped.Store(true)
	_, err = s.Load(t.Context(), &quads{q: some(5, "")})
	if !errors.Is(err, kv.ErrUnacknowledged) || strings.Count(err.Error(), "the process stops") != 1 {
		t.Errorf("got %v", err)
	}
	if n := dump(t, s); n != 0 {
		t.Errorf("%d quads are there", n)
	}
}
