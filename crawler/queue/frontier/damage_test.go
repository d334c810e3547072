package frontier

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/schedule"
	"odarchive/triplestore/kv"

	"pgregory.net/rapid"
)

var spaces = []kv.Space{kv.SpaceFrontier, kv.SpaceDue, kv.SpaceQueue, kv.SpaceHosts}

// archived replaces the archive: a map of URLs by key.
type archived map[string]string

func (a archived) recall(key string) (Recalled, bool, error) {
	u, ok := a[key]
	return Recalled{URL: u, Fetches: 1, History: []schedule.Visit{{At: noon, Outcome: catalog.Archived, Changed: true}}}, ok, nil
}

func (a archived) everything(_ context.Context, visit func(string) error) error {
	for _, u := range a {
		if err := visit(u); err != nil {
			return err
		}
	}
	return nil
}

func keysOf(t rapid.TB, db *kv.DB, space kv.Space) (keys [][]byte) {
	err := db.View(func(txn *kv.Txn) error {
		return txn.Scan(space, nil, nil, func(k, _ []byte) (bool, error) {
			if s := string(k); s != keyFormat && s != keyPaused { // settings, not facts
				keys = append(keys, slices.Clone(k))
			}
			return true, nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// damage damages one record, and returns a description.
func damage(t *rapid.T, db *kv.DB) string {
	space := rapid.SampledFrom(spaces).Draw(t, "space")
	keys := keysOf(t, db, space)
	if len(keys) == 0 {
		return "nothing"
	}
	key := rapid.SampledFrom(keys).Draw(t, "key")
	how := rapid.SampledFrom([]string{"delete", "truncate", "garbage", "swap", "stray"}).Draw(t, "how")
	err := db.Update(context.Background(), func(txn *kv.Txn) error {
		v, _, err := txn.Get(space, key)
		if err != nil {
			return err
		}
		switch how {
		case "delete":
			return txn.Delete(space, key)
		case "truncate":
			v = v[:rapid.IntRange(0, len(v)).Draw(t, "length")]
		case "garbage":
			v = rapid.SliceOfN(rapid.Byte(), 0, 60).Draw(t, "value")
		case "swap":
			if v, _, err = txn.Get(space, rapid.SampledFrom(keys).Draw(t, "other")); err != nil {
				return err
			}
		case "stray":
			key = append(slices.Clone(key[:rapid.IntRange(1, len(key)).Draw(t, "prefix")]),
				rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "rest")...)
			if strings.HasPrefix(string(key), "!") {
				return nil
			}
		}
		return txn.Set(space, key, v)
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s %s %q", how, space, key)
}

// crawlAll visits what is due, and fails after an error or too many visits.
func crawlAll(t *rapid.T, f *Frontier, c *clock, visits int) (urls []string) {
	idle := 0
	for range visits {
		l, err := f.TryLease(context.Background())
		if err != nil {
			t.Fatalf("lease: %v", err)
		}
		if l == nil {
			if idle++; idle > 50 {
				return urls
			}
			continue
		}
		for j, ok := l.Next(); ok; j, ok = l.Next() {
			err := f.db.Update(context.Background(), func(txn *kv.Txn) error {
				return f.Done(txn, l, j,
					Result{Visit: schedule.Visit{At: c.now, Outcome: catalog.Unchanged}, NextDue: c.now.Add(24 * time.Hour)})
			})
			if err != nil {
				t.Fatalf("done %s: %v", j.URL, err)
			}
			urls = append(urls, j.URL)
		}
		if err := f.Release(context.Background(), l, time.Time{}, ""); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatalf("no end after %d visits", len(urls))
	return nil
}

// TestNoDamagedRecordStopsACrawlAndARepairPutsAllRight damages random records of random frontiers: the crawl must
// continue, a repair must leave no fault, and no URL that the archive has may be lost.
func TestNoDamagedRecordStopsACrawlAndARepairPutsAllRight(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		db, err := kv.Open("", kv.Options{InMemory: true})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		c, known := &clock{noon}, archived{}
		reopen := func() *Frontier {
			f, err := New(db, Options{Now: c.Now, LeaseJobs: rapid.IntRange(1, 4).Draw(t, "jobs"), Recall: known.recall,
				Everything: known.everything})
			if err != nil {
				t.Fatal(err)
			}
			f.window.size = 2
			return f
		}
		f := reopen()
		var seeds []catalog.Seed
		for h := range rapid.IntRange(1, 4).Draw(t, "hosts") {
			for u := range rapid.IntRange(1, 2*headSize+3).Draw(t, "urls") {
				seeds = append(seeds, catalog.Seed{URL: fmt.Sprintf("http://h%d.example/%d", h, u), Priority: float64(u % 2)})
			}
		}
		if _, err := f.Add(context.Background(), seeds...); err != nil {
			t.Fatal(err)
		}
		for _, k := range keysOf(t, db, kv.SpaceFrontier) {
			u, _, err := func() (u *URL, known bool, err error) {
				err = db.View(func(txn *kv.Txn) error { u, known, err = get(txn, string(k)); return err })
				return u, known, err
			}()
			if err != nil {
				t.Fatal(err)
			}
			known[string(k)] = u.URL
		}
		if rapid.Bool().Draw(t, "crawled before") {
			crawlAll(t, f, c, 1000)
			c.now = c.now.Add(25 * time.Hour)
		}
		var done []string
		for range rapid.IntRange(1, 4).Draw(t, "damages") {
			done = append(done, damage(t, db))
		}
		if rapid.Bool().Draw(t, "reopened") {
			f = reopen()
		}
		if _, err := f.Stats(); err != nil {
			t.Fatalf("after %q: %v", done, err)
		}
		if _, err := f.Hosts("", 0); err != nil {
			t.Fatalf("after %q: %v", done, err)
		}
		if _, err := f.Replan(context.Background(), time.Time{},
			func(u *URL) (time.Time, string) { return u.Due.Add(-time.Minute), "" }); err != nil {
			t.Fatalf("after %q: %v", done, err)
		}
		if _, _, err := f.Pending(time.Minute); err != nil {
			t.Fatalf("after %q: %v", done, err)
		}
		if rapid.Bool().Draw(t, "crawled after") {
			crawlAll(t, f, c, 1000)
		}
		before, err := f.Check(context.Background(), false)
		if err != nil {
			t.Fatalf("after %q: %v", done, err)
		}
		r, err := f.Check(context.Background(), true)
		if err != nil || r.Left != 0 || r.Found != before.Found {
			t.Fatalf("after %q: found %d, then %d, left %d, %v: %v", done, before.Found, r.Found, r.Left, err, r.Faults)
		}
		if _, err := f.TryLease(context.Background()); err != nil { // reads the window
			t.Fatal(err)
		}
		f = reopen()
		if err := inconsistent(f); err != nil {
			t.Fatalf("after %q and the repair of %v: %v", done, r.Faults, err)
		}
		c.now = c.now.Add(48 * time.Hour)
		visited := crawlAll(t, f, c, 1000)
		for _, u := range known {
			if !slices.Contains(visited, u) {
				t.Errorf("after %q and the repair of %v: %s is not visited", done, r.Faults, u)
			}
		}
		if r, err := f.Check(context.Background(), false); err != nil || r.Found != 0 {
			t.Errorf("after %q and a crawl: %v, %v", done, r.Faults, err)
		}
	})
}

// inconsistent calls inconsistency after the beginning of the index has been read.
func inconsistent(f *Frontier) error {
	f.leasing.Lock()
	defer f.leasing.Unlock()
	if err := f.widen(); err != nil {
		return err
	}
	return inconsistency(f)
}

func TestADamagedHostRecordIsMadeAgainFromItsURLs(t *testing.T) {
	t.Parallel()
	f, c := start(t)
	add(t, f, "http://a.example/1", "http://a.example/2", "http://b.example/1")
	for range 3 {
		l := lease(t, f)
		for j, ok := l.Next(); ok; j, ok = l.Next() {
			if err := done(t, f, l, j,
				Result{Visit: schedule.Visit{At: c.now, Outcome: catalog.Archived, Changed: true},
					NextDue: c.now.Add(time.Hour)}); err != nil {
				t.Fatal(err)
			}
		}
		if s, err := f.Stats(); err == nil && s.Visits == 3 {
			break
		}
	}
	var at []byte
	err := f.db.Update(t.Context(), func(txn *kv.Txn) error {
		v, _, err := txn.Get(kv.SpaceHosts, hostKey("a.example"))
		at = v
		if err != nil {
			return err
		}
		return txn.Set(kv.SpaceHosts, readyKey(readTime(v), "a.example"), make([]byte, 55))
	})
	if err != nil || len(at) != 8 {
		t.Fatal(at, err)
	}
	c.now = c.now.Add(2 * time.Hour)
	f = open(t, f.db, c, Options{})
	if i, ok, err := f.Host("a.example"); err != nil || !ok || i.URLs != 2 || i.Visits != 2 || i.Versions != 2 || i.Due != 2 {
		t.Errorf("shown: %+v, %v, %v", i, ok, err)
	}
	var visited []string
	for l := lease(t, f); l != nil || len(visited) < 3; l = lease(t, f) {
		if l == nil {
			continue
		}
		for j, ok := l.Next(); ok; j, ok = l.Next() {
			visited = append(visited, j.URL)
			if err := done(t, f, l, j,
				Result{Visit: schedule.Visit{At: c.now, Outcome: catalog.Unchanged}, NextDue: c.now.Add(time.Hour)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if r, err := f.Check(t.Context(), false); err != nil || r.Found != 0 || r.URLs != 3 || r.Hosts != 2 || r.Queued != 3 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestAURLThatNobodyKnowsAnyMoreIsNamedAndTheOthersAreVisited(t *testing.T) {
	t.Parallel()
	f, _ := start(t)
	add(t, f, "http://a.example/1", "http://a.example/2")
	err := f.db.Update(t.Context(), func(txn *kv.Txn) error {
		return txn.Set(kv.SpaceDue, recordKey(ms(noon), "http://(example,a,)/1"), []byte("nonsense"))
	})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := f.Check(t.Context(), false); err != nil || r.Found == 0 || r.Left != r.Found ||
		r.Faults[0].Name != "http://(example,a,)/1" {
		t.Errorf("%+v, %v", r, err)
	}
	r, err := f.Check(t.Context(), true)
	if err != nil || r.Left != 0 || !r.Faults[0].Lost || !strings.Contains(r.Faults[0].String(), "it is lost") {
		t.Errorf("%+v, %v", r, err)
	}
	if l := lease(t, f); l == nil || len(l.Jobs) != 1 || l.Jobs[0].URL != "http://a.example/2" {
		t.Errorf("lease: %+v", l)
	}
}
