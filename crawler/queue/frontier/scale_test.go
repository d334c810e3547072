package frontier

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/schedule"
	"odarchive/testdata/cputime"
	"odarchive/triplestore/kv"
)

// BenchmarkVisits measures visits (lease, result, next place in the queue) with a hundred thousand registered URLs and
// with a million, most of which are due at another time. ODARCHIVE_SCALE=10000000 sets the larger number,
// ODARCHIVE_SCALE_DIR a directory that keeps the filled databases between runs, and ODARCHIVE_SCALE_NOSYNC=1 turns
// fsync off. The two sizes take turns, so that other load affects both. A ratio is the median, over pairs of turns, of
// the rate with many URLs over that with few: by the clock, and by processor time.
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
		db, err := kv.Open(filled(b, n), kv.Options{NoSync: os.Getenv("ODARCHIVE_SCALE_NOSYNC") != ""}) // durable, as the archive has it
		if err != nil {
			b.Fatal(err)
		}
		defer db.Close()
		dbs[i], clocks[i] = db, &clock{noon}
		fs[i] = open(b, db, clocks[i], Options{})
	}
	const turns = 20
	n := max(1, b.N/turns)
	for i := range sizes { // reads every page, as a process that has run for a while has
		if err := dbs[i].Verify(); err != nil {
			b.Fatal(err)
		}
		visitMany(b, dbs[i], fs[i], clocks[i], step(sizes[i]), n)
	}
	var took, used [2][]float64 // seconds of each turn
	b.ResetTimer()
	for turn := range turns {
		for i := range sizes {
			i = (i + turn) % 2
			began := time.Now()
			var cpu time.Duration
			pprof.Do(context.Background(), pprof.Labels("urls", strconv.Itoa(sizes[i])), func(context.Context) { // for -cpuprofile
				cpu = cputime.Of(func() { visitMany(b, dbs[i], fs[i], clocks[i], step(sizes[i]), n) })
			})
			took[i] = append(took[i], time.Since(began).Seconds())
			used[i] = append(used[i], cpu.Seconds())
		}
	}
	b.ReportMetric(float64(n)/median(took[0]), "visits/s-few")
	b.ReportMetric(float64(n)/median(took[1]), "visits/s-many")
	b.ReportMetric(1e6*median(used[0])/float64(n), "cpu-µs/visit-few")
	b.ReportMetric(1e6*median(used[1])/float64(n), "cpu-µs/visit-many")
	b.ReportMetric(medianRatio(took), "ratio")
	b.ReportMetric(medianRatio(used), "cpu-ratio")
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// medianRatio returns the median of the ratios of v[0] to v[1].
func medianRatio(v [2][]float64) float64 {
	var ratios []float64
	for i := range v[0] {
		ratios = append(ratios, v[0][i]/v[1][i])
	}
	return median(ratios)
}

// filled returns the directory of a database with n registered URLs, all in tables.
func filled(b *testing.B, n int) string {
	b.Helper()
	keep, dir := os.Getenv("ODARCHIVE_SCALE_DIR"), ""
	if keep == "" {
		dir = b.TempDir()
	} else {
		dir = filepath.Join(keep, strconv.Itoa(n))
		if _, err := os.Stat(dir); err == nil {
			return dir
		}
		dir += ".part"
	}
	db, err := kv.Open(dir, kv.Options{NoSync: true})
	if err != nil {
		b.Fatal(err)
	}
	if err := db.Fill(func(put func(kv.Space, []byte, []byte) error) error { return fill(put, n) }); err != nil {
		b.Fatal(err)
	}
	err = db.Close()
	if whole, part := strings.CutSuffix(dir, ".part"); err == nil && part {
		err, dir = os.Rename(dir, whole), whole
	}
	if err != nil {
		b.Fatal(err)
	}
	return dir
}

// fill registers n URLs on n/50 hosts, due over the next thirty days. The hosts' records contain between one and
// headSize of their URLs, as after many visits.
func fill(put func(kv.Space, []byte, []byte) error, n int) error {
	hosts := max(1, n/50)
	perHost := n / hosts
	pad := func(s string, n, width int) string { return s + strconv.Itoa(n + int(math.Pow10(width)))[1:] }
	name := func(h int) string { return pad("host", h, 7) + ".example" }
	key := func(h, i int) string { return pad(pad("http://(example,host", h, 7)+",)/data/", i, 2) + ".csv" }
	dues := func(h int) []entry { // the same in each call
		rnd := rand.New(rand.NewPCG(1, uint64(h)))
		all := make([]entry, perHost)
		for i := range all {
			all[i] = entry{ms(noon) + rnd.Int64N(month.Milliseconds()), key(h, i)}
		}
		return all
	}
	queue := func(h int) []entry {
		all := dues(h)
		slices.SortFunc(all, entry.compare)
		return all
	}
	var failed error
	set := func(space kv.Space, key, val []byte) {
		if failed == nil {
			failed = put(space, key, val)
		}
	}
	var history []schedule.Visit
	for k := range 6 {
		history = append(history, schedule.Visit{At: noon.Add(time.Duration(k-7) * 24 * time.Hour), Outcome: catalog.Unchanged})
	}
	type numbered struct {
		due  int64
		h, i int32
	}
	all := make([]numbered, 0, hosts*perHost)
	for h := range hosts {
		for i, e := range dues(h) {
			all = append(all, numbered{e.due, int32(h), int32(i)})
			set(kv.SpaceFrontier, []byte(e.key), appendTime(nil, e.due))
		}
	}
	ready := make([]place, hosts)
	for h := range hosts {
		all := queue(h)
		for _, e := range all {
			set(kv.SpaceQueue, queueKey(name(h), laneID{band(0), 'h'}, e.due, e.key), nil)
		}
		ready[h] = place{all[0].due, name(h)}
	}
	for _, p := range ready {
		set(kv.SpaceHosts, hostKey(p.group), appendTime(nil, p.at))
	}
	slices.SortFunc(ready, place.compare)
	for _, p := range ready {
		h, _ := strconv.Atoi(p.group[4:11])
		head := queue(h)[:min(perHost, 1+h%headSize)]
		rec := &host{group: p.group, ready: p.at, urls: int64(perHost),
			lanes: []lane{{laneID: laneID{band(0), 'h'}, head: head, more: true, from: head[len(head)-1].due}}}
		set(kv.SpaceHosts, readyKey(p.at, p.group), rec.encode())
	}
	slices.SortFunc(all, func(a, b numbered) int {
		return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.h, b.h), cmp.Compare(a.i, b.i))
	})
	for _, n := range all {
		h, i := int(n.h), int(n.i)
		u := URL{Key: key(h, i), Group: name(h), Due: fromMS(n.due), History: history, URL: pad("http://"+name(h)+"/data/", i, 2) + ".csv",
			Format: "CSV"}
		set(kv.SpaceDue, recordKey(n.due, u.Key), u.encode(nil))
	}
	return failed
}

const month = 30 * 24 * time.Hour

// step returns the time in which 64 of n URLs become due, so that the clock advances as often with many as with few.
func step(n int) time.Duration { return month / time.Duration(n) * 64 }

// visitMany visits n URLs with 16 workers. Whenever nothing is due, it advances the clock by a step.
func visitMany(b *testing.B, db *kv.DB, f *Frontier, c *clock, step time.Duration, n int) {
	b.Helper()
	var done atomic.Int64
	var mu sync.Mutex // guards the clock
	var wg sync.WaitGroup
	ctx := context.Background()
	for range 16 {
		wg.Go(func() {
			for done.Load() < int64(n) {
				mu.Lock()
				l, err := f.TryLease(ctx)
				if err == nil && l == nil {
					at, _, _ := f.NextDue()
					c.now = at.Add(step)
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
					r := Result{Visit: schedule.Visit{At: now, Outcome: catalog.Unchanged}, NextDue: now.Add(month)}
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
