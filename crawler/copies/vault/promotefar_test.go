package vault

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"odarchive/triplestore/bucket/buckettest"
	"odarchive/triplestore/kv"
)

// The candidate is far from the object store: each of its requests takes a fifteenth of the lease. The writer is near,
// has many clients, and puts objects faster than the candidate could read them one by one. The promotion ends, soon and
// with all that was acknowledged.
func TestAFarCandidateReplacesABusyWriter(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Parallel()
	const lease = 3 * time.Second
	b := new(buckettest.Memory)
	a := begun(t, b, Options{Wait: true, Lease: lease})
	dir := filepath.Join(t.TempDir(), "replica")
	a.replicate(dir)
	var next atomic.Int64
	var acked sync.Map
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for {
				n := int(next.Add(1))
				if err := a.note(n); err != nil {
					if !errors.Is(err, ErrFenced) {
						t.Error(err)
					}
					return
				}
				acked.Store(n, true)
				time.Sleep(4 * time.Millisecond)
			}
		})
	}
	far := buckettest.NewFaulty(b, 1)
	far.Hook(func(string, string) error { time.Sleep(lease / 15); return nil })
	time.Sleep(2 * time.Second)
	ctx, stop := context.WithTimeout(t.Context(), 20*lease)
	defer stop()
	began := time.Now()
	p, err := Promote(ctx, far, dir, Candidate{Holder: "far", Lease: lease}, PromoteOptions{Log: testLog(t)})
	t.Logf("%+v, %v, after %v; %+v; %d", p, err, time.Since(began), far.Count(), next.Load())
	if err != nil {
		a.stop()
		clients.Wait()
		t.Fatal(err)
	}
	clients.Wait()
	c := open4(t, dir)
	if err := c.db.View(func(tx *kv.Txn) error {
		for n := range acked.Range {
			if _, found, err := tx.Get(kv.SpaceTest, keyOf(n.(int))); err != nil || !found {
				t.Errorf("%d was acknowledged and is lost, %v", n, err)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
