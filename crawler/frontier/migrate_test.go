package frontier

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/schedule"
	"odarchive/triplestore/kv"
)

// encode1 encodes a group's record of format 1. low is the first due time in its queue.
func (h *host) encode1(low int64, bands []byte) []byte {
	w := writer{[]byte{1}}
	for _, v := range []int64{h.ready, low, h.notBefore} {
		w.int(v)
	}
	w.str(h.wait)
	w.str(string(bands))
	for _, v := range []int64{h.urls, h.visits, h.versions, h.bytes, h.lastVisit} {
		w.int(v)
	}
	for _, v := range h.outcomes {
		w.int(v)
	}
	return w.b
}

// encode1 encodes a URL's record of version 1, which formats 1 and 2 have, with what sources say.
func (u *URL) encode1(s catalog.Seed, sources ...catalog.Source) []byte {
	w := writer{[]byte{1, flag(u.Blacklisted) | flag(u.Liar)<<1}}
	w.str(u.URL)
	w.str(u.Group)
	w.int(ms(u.Added))
	w.int(ms(u.Due))
	w.float(u.Priority)
	w.str(s.Title)
	w.str(u.Format)
	w.str(u.MediaType)
	w.str(s.Portal)
	w.str(s.Dataset)
	w.str(s.DatasetTitle)
	w.int(7) // size
	w.int(int64(u.Period / time.Second))
	w.int(ms(noon)) // modified
	w.float(s.Priority)
	w.int(3) // depth
	w.int(int64(len(sources)))
	for _, s := range sources {
		w.str(s.Portal)
		w.str(s.Dataset)
		w.str(s.DatasetTitle)
	}
	w.int(int64(u.Fetches))
	w.int(int64(u.Errors))
	w.int(int64(u.Changes))
	w.str(u.ETag)
	w.str(u.LastModified)
	w.str(u.Why)
	w.int(int64(len(u.History)))
	var at, modified int64
	for _, v := range u.History {
		w.int(ms(v.At) - at)
		w.b = append(w.b, outcomeCode(v.Outcome)<<1|flag(v.Changed))
		w.int(ms(v.LastModified) - modified)
		at, modified = ms(v.At), ms(v.LastModified)
	}
	return w.b
}

// The bytes were written by the last program with version 1.
func TestARecordOfVersion1IsReadWhole(t *testing.T) {
	t.Parallel()
	b, err := hex.DecodeString("010313687474703a2f2f612e6578616d706c652fc3bc09612e6578616d706c658098d2dfbf6880d289e3bf68bff10301740343535608746578742f637376017001640264740ea038" +
		"80de9adcbf684006040170016402647401710000120208032265220979657374657264617907626563617573650680b8ecbabe680380c4fdb3be6880f0b2520cffc3fdb3be6880f0b2520480c4fdb3be68")
	if err != nil {
		t.Fatal(err)
	}
	got, want := &URL{Key: "k"}, sampleURL()
	if err := got.decode(b); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
	if n := len(got.encode(nil)); n >= len(b)-20 {
		t.Errorf("it takes %d bytes now, %d before", n, len(b))
	}
}

// The bytes were written by the last program with version 2.
func TestARecordOfVersion2IsReadWhole(t *testing.T) {
	t.Parallel()
	b, err := hex.DecodeString("020313687474703a2f2f612e6578616d706c652fc3bc09612e6578616d706c658098d2dfbf6880d289e3bf68bff1030343535608746578742f637376a0" +
		"38120208032265220979657374657264617907626563617573650680b8ecbabe680380c4fdb3be6880f0b2520cffc3fdb3be6880f0b2520480c4fdb3be68")
	if err != nil {
		t.Fatal(err)
	}
	got, want := &URL{Key: "k"}, sampleURL()
	if err := got.decode(b); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
	if !bytes.Equal(b, want.encode2()) {
		t.Errorf("encode2 writes %x", want.encode2())
	}
}

// encode2 encodes a URL's record of version 2, which format 3 has.
func (u *URL) encode2() []byte {
	w := writer{[]byte{2, flag(u.Blacklisted) | flag(u.Liar)<<1}}
	w.str(u.URL)
	w.str(u.Group)
	w.int(ms(u.Added))
	w.int(ms(u.Due))
	w.float(u.Priority)
	w.str(u.Format)
	w.str(u.MediaType)
	for _, n := range []int{int(u.Period / time.Second), u.Fetches, u.Errors, u.Changes} {
		w.int(int64(n))
	}
	w.str(u.ETag)
	w.str(u.LastModified)
	w.str(u.Why)
	w.history(u.History, 0)
	return w.b
}

// Format 3 has today's places, and records of version 2.
func TestADirectoryOfFormat3IsReadAndGoesOn(t *testing.T) {
	t.Parallel()
	const n = 9
	db, c := memory(t), &clock{noon}
	f := open(t, db, c, Options{})
	var urls []string
	for i := range n {
		urls = append(urls, fmt.Sprintf("http://h%d.example/%d?B=%d", i/3, i, i))
	}
	add(t, f, urls...)
	var want []URL
	err := db.Update(t.Context(), func(txn *kv.Txn) error {
		for _, raw := range urls {
			u, _, err := f.lookup(txn, raw)
			if err != nil {
				return err
			}
			u.Format, u.Fetches, u.History = "CSV", 1, []schedule.Visit{{At: noon.Add(-time.Hour), Outcome: catalog.Archived, Changed: true}}
			want = append(want, *u)
			if err := txn.Set(kv.SpaceDue, recordKey(u.stored, u.Key), u.encode2()); err != nil {
				return err
			}
		}
		return setCounter(txn, keyFormat, 3)
	})
	if err != nil {
		t.Fatal(err)
	}
	f = open(t, db, c, Options{})
	for i, raw := range urls {
		if u, err := f.Get(raw); err != nil || !reflect.DeepEqual(*u, want[i]) {
			t.Errorf("%s: %+v, %v\nwant %+v", raw, u, err, want[i])
		}
	}
	if got := visitAll(t, f, noon, 24*time.Hour); len(got) != n {
		t.Errorf("%d were visited", len(got))
	}
	if r, err := f.Check(t.Context(), false); err != nil || r.Found > 0 {
		t.Errorf("after the visits: %+v, %v", r, err)
	}
}

// The layout of format 2 is today's; only the records of URLs have version 1. One has the current version.
func TestADirectoryOfFormat2IsReadAndGoesOn(t *testing.T) {
	t.Parallel()
	const n = 9
	db, c := memory(t), &clock{noon}
	f := open(t, db, c, Options{})
	var want []URL
	var urls []string
	for i := range n {
		urls = append(urls, fmt.Sprintf("http://h%d.example/%d", i/3, i))
	}
	add(t, f, urls...)
	long := strings.Repeat("a dataset with a long name ", 5)
	err := db.Update(t.Context(), func(txn *kv.Txn) error {
		for i, raw := range urls {
			u, _, err := f.lookup(txn, raw)
			if err != nil {
				return err
			}
			u.Format, u.Period, u.ETag, u.Fetches, u.History = "CSV", time.Hour, `"e"`, 1, []schedule.Visit{{At: noon.Add(-time.Hour), Outcome: catalog.Archived, Changed: true}}
			want = append(want, *u)
			rec := u.encode1(catalog.Seed{Title: "T", Portal: "http://p.example/", Dataset: "http://p.example/d", DatasetTitle: long},
				catalog.Source{Portal: "http://p.example/", Dataset: "http://p.example/d", DatasetTitle: long}, catalog.Source{Portal: "http://q.example/"})
			if i == 0 {
				rec = u.encode(nil)
			}
			if err := txn.Set(kv.SpaceDue, recordKey(u.stored, u.Key), rec); err != nil {
				return err
			}
		}
		return setCounter(txn, keyFormat, 2)
	})
	if err != nil {
		t.Fatal(err)
	}
	size := func() (n int) {
		err := db.View(func(txn *kv.Txn) error {
			return txn.Scan(kv.SpaceDue, nil, nil, func(_, v []byte) (bool, error) { n += len(v); return true, nil })
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := size()
	f = open(t, db, c, Options{})
	for i, raw := range urls {
		if u, err := f.Get(raw); err != nil || !reflect.DeepEqual(*u, want[i]) {
			t.Errorf("%s: %+v, %v\nwant %+v", raw, u, err, want[i])
		}
	}
	if r, err := f.Check(t.Context(), false); err != nil || r.Found > 0 {
		t.Fatalf("before a visit: %+v, %v", r, err)
	}
	if got := visitAll(t, f, noon, 24*time.Hour); len(got) != n {
		t.Errorf("%d were visited", len(got))
	}
	if r, err := f.Check(t.Context(), false); err != nil || r.Found > 0 {
		t.Errorf("after the visits: %+v, %v", r, err)
	}
	if after := size(); after >= before/2 {
		t.Errorf("the records take %d bytes after a visit, %d before", after, before)
	}
	err = db.View(func(txn *kv.Txn) error {
		v, err := counter(txn, keyFormat)
		if v != formatVersion {
			t.Errorf("the directory has format %d", v)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// ofFormat1 returns a database of format 1 with n groups. Each has a URL that is due at noon, a more urgent one that is
// due an hour later, and one that is never due. The last group has nothing in its queue.
func ofFormat1(t *testing.T, n int) *kv.DB {
	t.Helper()
	db := memory(t)
	err := db.Update(t.Context(), func(txn *kv.Txn) error {
		set := func(space kv.Space, key, val []byte) {
			if err := txn.Set(space, key, val); err != nil {
				t.Fatal(err)
			}
		}
		for i := range n {
			h := &host{group: fmt.Sprintf("h%03d.example", i), ready: ms(noon), urls: 3, visits: 7}
			due := []time.Time{noon, noon.Add(time.Hour), {}}
			if i == n-1 {
				h.ready, due = maxTime, make([]time.Time, 3)
			}
			for k, at := range due {
				u := &URL{Key: fmt.Sprintf("http://(example,h%03d,)/%d", i, k), Group: h.group, Due: at, Priority: float64(5 * k), Fetches: k}
				u.URL = fmt.Sprintf("http://%s/%d", h.group, k)
				set(kv.SpaceFrontier, []byte(u.Key), u.encode1(catalog.Seed{Title: "T", Portal: "http://p.example/"}))
				if !at.IsZero() {
					set(kv.SpaceQueue, queueKey(h.group, band(u.Priority), ms(at), u.Key), nil)
				}
			}
			low, bands := ms(noon), []byte{band(5), band(0)}
			if h.ready == maxTime {
				low, bands = maxTime, nil
			} else {
				set(kv.SpaceHosts, readyKey(h.ready, h.group), nil)
			}
			set(kv.SpaceHosts, hostKey(h.group), h.encode1(low, bands))
		}
		if err := (totals{urls: int64(3 * n), hosts: int64(n), visits: int64(7 * n)}).add(txn); err != nil {
			return err
		}
		return setCounter(txn, keyFormat, 1)
	})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func TestADirectoryOfFormat1IsReadAndGoesOn(t *testing.T) {
	t.Parallel()
	const n = 17
	for _, killed := range []bool{false, true} {
		db, c := ofFormat1(t, n), &clock{noon}
		if killed { // after its first part
			old := &Frontier{db: db, opts: Options{Now: c.Now}.withDefaults()}
			err := db.Update(t.Context(), func(txn *kv.Txn) error {
				if _, err := checkFormat(txn); err != nil {
					return err
				}
				_, _, err := old.migratePart(txn, "", 3)
				return err
			})
			if err == nil {
				err = old.migrate(t.Context(), 4)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		f := open(t, db, c, Options{})
		byDue := 0
		if err := f.EachByDue(t.Context(), time.Time{}, time.Time{}, func(*URL) error { byDue++; return nil }); err != nil || byDue != 3*n {
			t.Errorf("killed %v: %d URLs by due time, %v; want all %d", killed, byDue, err, 3*n)
		}
		if s, err := f.Stats(); err != nil || s.URLs != 3*n || s.Hosts != n || s.Visits != 7*n || !s.NextDue.Equal(noon) {
			t.Fatalf("killed %v: stats %+v, %v", killed, s, err)
		}
		if i, ok, err := f.Host("h007.example"); err != nil || !ok || i.URLs != 3 || i.Visits != 7 || i.Due != 1 || !i.NextDue.Equal(noon) {
			t.Errorf("killed %v: a host %+v, %v", killed, i, err)
		}
		if got := visitAll(t, f, noon, 24*time.Hour); len(got) != n-1 || !slices.Contains(got, "http://h007.example/0") {
			t.Errorf("killed %v: %d visited at noon", killed, len(got))
		}
		c.now = noon.Add(2 * time.Hour)
		f = open(t, db, c, Options{})
		if got := visitAll(t, f, c.now, 24*time.Hour); len(got) != n-1 || !slices.Contains(got, "http://h007.example/1") {
			t.Errorf("killed %v: %d visited after an hour", killed, len(got))
		}
		var known, visits int
		if err := f.Each(Filter{}, "", 0, func(u *URL) error { known++; visits += u.Fetches; return nil }); err != nil || known != 3*n || visits != 3*n+2*(n-1) {
			t.Errorf("killed %v: %d URLs with %d visits, %v", killed, known, visits, err)
		}
		c.now = noon.Add(27 * time.Hour)
		if got := visitAll(t, f, c.now, 24*time.Hour); len(got) != 2*(n-1) {
			t.Errorf("killed %v: %d visited on the next day", killed, len(got))
		}
	}
}

// A host with more URLs than its record holds, in several bands.
func TestALongQueueIsVisitedInItsOrder(t *testing.T) {
	t.Parallel()
	f, c := start(t)
	const n = 5 * headSize
	var want []string
	for i := range n {
		url := fmt.Sprintf("http://a.example/%03d", (i*37)%n)
		score := float64(5 * (i % 2))
		if _, err := f.Inject(t.Context(), Injection{URL: url, Score: &score}); err != nil {
			t.Fatal(err)
		}
		c.now = c.now.Add(time.Millisecond)
		if score > 0 {
			want = append(want, url)
		}
	}
	for i := range n {
		if i%2 == 0 {
			want = append(want, fmt.Sprintf("http://a.example/%03d", (i*37)%n))
		}
	}
	if i, _, err := f.Host("a.example"); err != nil || i.Due != n {
		t.Errorf("%d are due, %v", i.Due, err)
	}
	var got []string
	for l := lease(t, f); l != nil; l = lease(t, f) {
		for j, ok := l.Next(); ok; j, ok = l.Next() {
			got = append(got, j.URL)
			if err := done(t, f, l, j, Result{Visit: schedule.Visit{At: c.now}, NextDue: c.now.Add(time.Hour)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("visited %v\nwant %v", got, want)
	}
}
