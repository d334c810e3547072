package frontier

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/schedule"
	"odarchive/triplestore/kv"
)

// Many workers on few hosts: the end of one lease and the search for the next one overlap all the time.
func TestNoJobIsHandedOutAgainWhileItsResultIsBeingCommitted(t *testing.T) {
	t.Parallel()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	f, err := New(db, Options{LeaseJobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	f.window.size = 1
	const hosts, urls = 3, 120
	var seeds []catalog.Seed
	for i := range hosts * urls {
		seeds = append(seeds, catalog.Seed{URL: fmt.Sprintf("http://h%d.example/%d", i%hosts, i)})
	}
	if _, err := f.Add(t.Context(), seeds...); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	visits := map[string]int{}
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for {
				l, err := f.TryLease(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				if l == nil {
					if pending, _, err := f.Pending(0); err != nil || !pending {
						return
					}
					continue
				}
				for job, ok := l.Next(); ok; job, ok = l.Next() {
					err := db.Update(context.Background(), func(txn *kv.Txn) error {
						return f.Done(txn, l, job,
							Result{Visit: schedule.Visit{At: time.Now(), Outcome: catalog.Archived, Changed: true},
								NextDue: time.Now().Add(time.Hour)})
					})
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					visits[job.URL]++
					mu.Unlock()
				}
			}
		})
	}
	var late []catalog.Seed // and more comes in meanwhile
	for i := range hosts * urls {
		late = append(late, catalog.Seed{URL: fmt.Sprintf("http://h%d.example/late/%d", i%(2*hosts), i), Priority: float64(i % 3)})
	}
	for part := range slices.Chunk(late, 10) {
		if _, err := f.Add(t.Context(), part...); err != nil {
			t.Error(err)
		}
	}
	workers.Wait()
	for l := lease(t, f); l != nil; l = lease(t, f) { // URLs that were added after the workers ended
		for job, ok := l.Next(); ok; job, ok = l.Next() {
			if err := done(t, f, l, job, Result{NextDue: time.Now().Add(time.Hour)}); err != nil {
				t.Fatal(err)
			}
			visits[job.URL]++
		}
	}
	if err := inconsistency(f); err != nil {
		t.Error(err)
	}
	for url, n := range visits {
		if n != 1 {
			t.Errorf("%s was visited %d times for one due time", url, n)
		}
	}
	if len(visits) != len(seeds)+len(late) {
		t.Errorf("%d URLs visited, want %d", len(visits), len(seeds)+len(late))
	}
}
