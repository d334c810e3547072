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

// BenchmarkVisits measures visits (lease, result, next place in the queue) per second with a hundred thousand URLs known
// and with a million, most of which are due at some other time; ODARCHIVE_SCALE=10000000 sets the larger number. Both run in
// turns, so that what else the machine does is shared; "ratio" is the rate with the many over that with the few.
func BenchmarkVisits(b *testing.B) {
	many := 1_000_000
	if n, err := strconv.Atoi(os.Getenv("ODARCHIVE_SCALE")); err == nil {
		many = n
	}
	sizes := []int{100_000, many}
	var dbs [2]*kv.DB
	var fs [2]*Frontier
	var clocks [2]*clock
	for i, n := range sizes {
		dir := b.TempDir()
		db, err := kv.Open(dir, kv.Options{NoSync: true})
		if err != nil {
			b.Fatal(err)
		}
		fill(b, db, n)
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
		if db, err = kv.Open(dir, kv.Options{}); err != nil { // durable, as the archive has it
			b.Fatal(err)
		}
		defer db.Close()
		dbs[i], clocks[i] = db, &clock{noon}
		fs[i] = open(b, db, clocks[i], Options{})
	}
	const turns = 20
	var took [2]time.Duration
	b.ResetTimer()
	for turn := range turns {
		for i := range sizes {
			i = (i + turn) % 2
			began := time.Now()
			visitMany(b, dbs[i], fs[i], clocks[i], max(1, b.N/turns))
			took[i] += time.Since(began)
		}
	}
	rate := func(i int) float64 { return float64(max(1, b.N/turns)*turns) / took[i].Seconds() }
	b.ReportMetric(rate(0), "visits/s-few")
	b.ReportMetric(rate(1), "visits/s-many")
	b.ReportMetric(rate(1)/rate(0), "ratio")
}

// fill makes n URLs known on n/50 hosts, due over the next thirty days. It writes the records in bulk.
func fill(b *testing.B, db *kv.DB, n int) {
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
		check(batch.Set(kv.SpaceHosts, hostKey(group), rec.encode()))
		check(batch.Set(kv.SpaceHosts, readyKey(first, group), nil))
	}
	check(batch.Flush())
	check(db.Compact())
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
