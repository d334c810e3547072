package frontier

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/schedule"
	"odarchive/triplestore/kv"
)

// BenchmarkVisits measures visits (lease, result, next place in the queue) per second by the number of URLs known, most
// of which are due at some other time. ODARCHIVE_SCALE=10000000 adds a size.
func BenchmarkVisits(b *testing.B) {
	sizes := []int{100_000}
	if n, err := strconv.Atoi(os.Getenv("ODARCHIVE_SCALE")); err == nil {
		sizes = append(sizes, n)
	}
	for _, n := range sizes {
		b.Run(fmt.Sprintf("known=%d", n), func(b *testing.B) {
			dir := b.TempDir()
			db, err := kv.Open(dir, kv.Options{NoSync: true})
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			c := &clock{noon}
			f := open(b, db, c, Options{})
			fill(b, db, f, n)
			b.ResetTimer()
			began := time.Now()
			visitMany(b, db, f, c, b.N)
			b.ReportMetric(float64(b.N)/time.Since(began).Seconds(), "visits/s")
		})
	}
}

// fill makes n URLs known on n/50 hosts, due over the next thirty days. It writes the records in bulk.
func fill(b *testing.B, db *kv.DB, f *Frontier, n int) {
	b.Helper()
	batch := db.Batch()
	rnd := rand.New(rand.NewPCG(1, 1))
	hosts := max(1, n/50)
	perHost := n / hosts
	check := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	for h := range hosts {
		group := fmt.Sprintf("host%d.example", h)
		first := int64(maxTime)
		for i := range perHost {
			due := noon.Add(time.Duration(rnd.Int64N(int64(30 * 24 * time.Hour))))
			u := &URL{Key: fmt.Sprintf("http://(example,host%d,)/data/%d.csv", h, i), Group: group, Due: due,
				Seed: catalog.Seed{URL: fmt.Sprintf("http://%s/data/%d.csv", group, i), Title: "a file", Portal: "http://portal.example"}}
			for k := range 6 {
				u.remember(schedule.Visit{At: noon.Add(time.Duration(k-7) * 24 * time.Hour), Outcome: catalog.Unchanged}, 48)
			}
			first = min(first, ms(due))
			check(batch.Set(kv.SpaceFrontier, []byte(u.Key), u.encode(nil)))
			check(batch.Set(kv.SpaceQueue, queueKey(group, band(0), ms(due), u.Key), nil))
		}
		rec := &host{group: group, ready: first, low: first, bands: []byte{band(0)}, urls: int64(perHost), stored: maxTime}
		check(db.Update(context.Background(), func(txn *kv.Txn) error { return rec.save(txn) }))
	}
	check(batch.Flush())
	f.signal(minTime)
}

// visitMany has 16 workers visit n URLs; the clock runs so that something is always due.
func visitMany(b *testing.B, db *kv.DB, f *Frontier, c *clock, n int) {
	b.Helper()
	var done atomic.Int64
	var mu sync.Mutex // guards the clock, which stands while somebody looks
	var wg sync.WaitGroup
	ctx := context.Background()
	for range 16 {
		wg.Go(func() {
			for done.Load() < int64(n) {
				mu.Lock()
				l, err := f.TryLease(ctx)
				if err == nil && l == nil {
					at, _, _ := f.NextDue()
					c.now = at.Add(time.Minute)
				}
				now := c.now
				mu.Unlock()
				if err != nil {
					b.Error(err)
					return
				}
				if l == nil {
					continue
				}
				for j, ok := l.Next(); ok; j, ok = l.Next() {
					r := Result{Visit: schedule.Visit{At: now, Outcome: catalog.Unchanged}, NextDue: now.Add(30 * 24 * time.Hour)}
					if err := db.Update(ctx, func(txn *kv.Txn) error { return f.Done(txn, l, j, r) }); err != nil {
						b.Error(err)
						return
					}
					done.Add(1)
				}
			}
		})
	}
	wg.Wait()
}
