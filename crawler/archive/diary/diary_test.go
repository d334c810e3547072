package diary

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/triplestore/kv"
)

var day = time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)

// book is a diary with resources, and a plain list of what was written to it.
type book struct {
	t       testing.TB
	db      *kv.DB
	ids     []string
	current map[string]int64
	listed  []catalog.Activity // in the order of writing
}

// view runs f over one unchanging state of the diary.
func view(db *kv.DB, f func(Txn) error) error {
	return db.View(func(txn *kv.Txn) error { return f(Txn{txn}) })
}

func newBook(t testing.TB, resources int) *book {
	t.Helper()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	b := &book{t: t, db: db, current: map[string]int64{}}
	err = db.Update(context.Background(), func(txn *kv.Txn) error {
		for i := range resources {
			url := fmt.Sprintf("http://data.example/%d.csv", i)
			id, err := records.ResourceID(url)
			if err != nil {
				return err
			}
			b.ids = append(b.ids, id)
			if err := (records.Txn{Txn: txn}).SaveResource(records.Resource{},
				records.Resource{Resource: catalog.Resource{ID: id, URL: url}}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *book) close() {
	if err := b.db.Close(); err != nil {
		b.t.Error(err)
	}
}

// add writes a visit of the i-th resource.
func (b *book) add(i int, act catalog.Activity) {
	b.t.Helper()
	id := b.ids[i]
	err := b.db.Update(context.Background(), func(txn *kv.Txn) error {
		t := Txn{txn}
		next, err := t.Next(context.Background(), id, b.current[id], act.Start)
		if err != nil {
			return err
		}
		act.Start, act.End = next.Start, act.End.Add(next.Start.Sub(act.Start))
		before, after, err := t.Add(next, act)
		if err != nil {
			return err
		}
		if before.Visits > 0 && (before.Start() != after.Start() || after.Visits != before.Visits+1) {
			return fmt.Errorf("%+v was extended to %+v", before, after)
		}
		b.current[id], act.ID = after.Start(), after.ID()
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	act.URL, act.Visits = fmt.Sprintf("http://data.example/%d.csv", i), 1
	b.listed = append(b.listed, act)
}

func failed(at time.Time, took time.Duration, status int) catalog.Activity {
	return catalog.Activity{Start: at, End: at.Add(took), Outcome: catalog.NoVersion, ErrorClass: catalog.ErrHTTPStatus, Status: status,
		Why: "it is said why"}
}

func unchanged(at time.Time) catalog.Activity {
	return catalog.Activity{Start: at, End: at.Add(180 * time.Millisecond), Outcome: catalog.Unchanged, Status: 304}
}

// line is a visit as the tests compare it.
func line(a catalog.Activity) string {
	return fmt.Sprintf("%s %s %s %d %d %s", a.Start.Format("02T15:04:05.000"), a.URL, a.Outcome, a.Status,
		a.End.Sub(a.Start).Milliseconds(), a.ID)
}

func lines(acts []catalog.Activity) []string {
	var all []string
	for _, a := range acts {
		all = append(all, line(a))
	}
	slices.SortFunc(all, func(x, y string) int { return cmp.Compare(y, x) }) // visits of one moment have no order
	return all
}

// read returns all visits before a time that are wanted.
func (b *book) read(before time.Time, wanted Wanted) (all []catalog.Activity) {
	b.t.Helper()
	err := view(b.db, func(t Txn) error {
		return t.Each(context.Background(), before, wanted,
			func(a catalog.Activity) (bool, error) { all = append(all, a); return true, nil })
	})
	if err != nil {
		b.t.Fatal(err)
	}
	if !slices.IsSortedFunc(all, func(x, y catalog.Activity) int { return y.Start.Compare(x.Start) }) {
		b.t.Fatalf("not newest first: %q", lines(all))
	}
	return all
}

func (b *book) of(i int, before time.Time) (all []catalog.Activity) {
	b.t.Helper()
	err := view(b.db, func(t Txn) (err error) {
		all, err = t.Of(context.Background(), b.ids[i], fmt.Sprintf("http://data.example/%d.csv", i), before)
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return all
}

func (b *book) stretches() (all []Stretch) {
	b.t.Helper()
	err := view(b.db, func(t Txn) error {
		return t.Stretches(context.Background(), func(s Stretch) error { all = append(all, s); return nil })
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return all
}

func anything(string, catalog.Outcome) (bool, error) { return true, nil }

func TestVisitsThatFindTheSameAreOneStretchAndAreListedOneByOne(t *testing.T) {
	t.Parallel()
	b := newBook(t, 1)
	defer b.close()
	b.add(0, catalog.Activity{Start: day, End: day, Outcome: catalog.Archived, Status: 200, Version: b.ids[0] + "_0"})
	for i := range 300 {
		a := unchanged(day.Add(time.Duration(i+1) * time.Hour))
		a.Version = b.ids[0] + "_0"
		b.add(0, a)
	}
	for i := range 5 {
		b.add(0, failed(day.Add(time.Duration(400+i)*time.Hour), time.Second, 404))
	}
	b.add(0, failed(day.Add(500*time.Hour), time.Second, 500))
	var counts []int
	for _, s := range b.stretches() {
		counts = append(counts, s.Visits)
	}
	if !slices.Equal(counts, []int{1, 5, 300, 1}) {
		t.Errorf("stretches of %v visits", counts)
	}
	whole := b.stretches()[2].Activity("u")
	if !whole.Start.Equal(day.Add(time.Hour)) || !whole.End.Equal(day.Add(300*time.Hour+180*time.Millisecond)) || whole.Visits != 300 ||
		whole.Version != b.ids[0]+"_0" {
		t.Errorf("the long stretch is %+v", whole)
	}
	want := lines(b.listed)
	if got := lines(b.of(0, time.Time{})); !slices.Equal(got, want) {
		t.Errorf("of the resource: %d visits, want %d\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
	if got := lines(b.read(time.Time{}, anything)); !slices.Equal(got, want) {
		t.Errorf("of all resources: %d visits, want %d", len(got), len(want))
	}
}

func TestWhatDiffersBetweenVisitsBeginsAStretch(t *testing.T) {
	t.Parallel()
	base := catalog.Activity{Start: day, End: day, Outcome: catalog.NoVersion, ErrorClass: catalog.ErrHTTPStatus, Status: 404, Why: "a",
		FinalURL: "http://x.example/f?signature=1"}
	for name, c := range map[string]struct {
		change func(*catalog.Activity)
		same   bool
	}{
		"nothing":                    {func(*catalog.Activity) {}, true},
		"the explanation":            {func(a *catalog.Activity) { a.Why = "b" }, true},
		"the query of the final URL": {func(a *catalog.Activity) { a.FinalURL = "http://x.example/f?signature=2" }, true},
		"the final URL's host":       {func(a *catalog.Activity) { a.FinalURL = "http://y.example/f" }, false},
		"the status":                 {func(a *catalog.Activity) { a.Status = 410 }, false},
		"the class":                  {func(a *catalog.Activity) { a.ErrorClass = catalog.ErrTimeout }, false},
		"the outcome":                {func(a *catalog.Activity) { a.Outcome = catalog.RetryLater }, false},
		"the connection":             {func(a *catalog.Activity) { a.TLS = "certificate not verified" }, false},
		"the exception":              {func(a *catalog.Activity) { a.Robots = "by permission of a" }, false},
		"a clock that went back":     {func(a *catalog.Activity) { a.Start = day.Add(-time.Hour) }, false},
		"a new version":              {func(a *catalog.Activity) { a.Outcome = catalog.Archived }, false},
	} {
		b := newBook(t, 1)
		b.add(0, base)
		next := base
		next.Start = day.Add(time.Hour)
		c.change(&next)
		next.End = next.Start
		b.add(0, next)
		if n := len(b.stretches()); (n == 1) != c.same {
			t.Errorf("%s: %d stretches", name, n)
		}
		b.close()
	}
}

func TestAnUnchangedFileIsOneStretchWhetherItsBytesAreSentOrNot(t *testing.T) {
	t.Parallel()
	b := newBook(t, 1)
	defer b.close()
	for i, status := range []int{304, 304, 200, 304, 200} {
		act := unchanged(day.Add(time.Duration(i) * time.Hour))
		act.Status = status
		b.add(0, act)
	}
	if all := b.stretches(); len(all) != 1 || all[0].Visits != 5 || all[0].Activity("u").Status != 304 {
		t.Errorf("%+v", all)
	}
}

func TestAnExceptionFromRobotsIsKeptAndOtherRecordsStayAsTheyWere(t *testing.T) {
	t.Parallel()
	id, err := records.ResourceID("http://data.example/a.csv")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		robots string
		behind bool
		first  byte
	}{{"", false, 2}, {"", true, 3}, {"by permission of a", false, 4}, {"by permission of a", true, 5}} {
		s := begin(id, catalog.Activity{Start: day, End: day.Add(time.Second), Outcome: catalog.Unchanged, Robots: c.robots})
		s.behind = c.behind
		raw := s.encode()
		back, err := decodeStretch(stretchKey(id, s.start), raw)
		if err != nil || back.Activity("u").Robots != c.robots || back.behind != c.behind || raw[0] != c.first {
			t.Errorf("%+v: first byte %d, read as %+v, %v", c, raw[0], back, err)
		}
		if _, err := decodeStretch(stretchKey(id, s.start), append([]byte{6}, raw[1:]...)); err == nil {
			t.Error("a record of an unknown format is read")
		}
	}
}

func TestForgottenVisitsLeaveTheirNumberAndTheirEnd(t *testing.T) {
	t.Parallel()
	b := newBook(t, 2)
	defer b.close()
	for i := range 400 {
		b.add(i%2, unchanged(day.Add(time.Duration(i)*time.Hour)))
	}
	before := b.stretches()
	horizon := day.Add(300 * time.Hour)
	dropped, err := Forget(t.Context(), b.db, horizon)
	if err != nil || dropped < 200 {
		t.Fatalf("%d dropped, %v", dropped, err)
	}
	for i, s := range b.stretches() {
		if s.Activity("u") != before[i].Activity("u") {
			t.Errorf("the stretch was %+v and is %+v", before[i].Activity("u"), s.Activity("u"))
		}
	}
	for i := range 2 {
		visits, listed := 0, map[string]bool{}
		for _, a := range b.of(i, time.Time{}) {
			visits += a.Visits
			listed[line(a)] = true
		}
		if visits != 200 {
			t.Errorf("%d visits of %d", visits, i)
		}
		first := b.of(i, time.Time{})[len(b.of(i, time.Time{}))-1]
		if first.Visits < 100 || !first.End.After(day.Add(100*time.Hour)) || first.End.After(horizon) {
			t.Errorf("the first stands for %d visits until %s", first.Visits, first.End)
		}
		for _, a := range b.listed {
			if a.URL == first.URL && !a.Start.Before(horizon) && !listed[line(a)] {
				t.Errorf("%s is no longer listed", line(a))
			}
		}
	}
	if dropped, err := Forget(t.Context(), b.db, day.Add(10_000*time.Hour)); err != nil || dropped == 0 {
		t.Errorf("%d dropped, %v", dropped, err)
	}
	if all := b.read(time.Time{}, anything); len(all) != 2 || all[0].Visits != 200 || all[1].Visits != 200 {
		t.Errorf("%q are left", lines(all))
	}
	b.add(0, unchanged(day.Add(20_000*time.Hour)))
	if all := b.read(time.Time{}, anything); len(all) != 3 || all[0].Visits != 1 {
		t.Errorf("then %q", lines(all))
	}
}

// rounds returns how many random histories a test tries.
func rounds() uint64 {
	if testing.Short() {
		return 8
	}
	return 100
}

func TestAnyOrderOfVisitsIsListedWhole(t *testing.T) {
	t.Parallel()
	for seed := range rounds() {
		t.Logf("seed %d", seed)
		r := rand.New(rand.NewPCG(seed, 1))
		b := newBook(t, 1+r.IntN(4))
		now := day
		for range 50 + r.IntN(400) {
			switch r.IntN(30) {
			case 0:
				now = now.Add(-time.Duration(r.IntN(100)) * time.Hour) // the clock went back
			case 1, 2, 3: // visits at one moment
			default:
				now = now.Add(time.Duration(r.IntN(100_000)) * time.Millisecond)
			}
			i := r.IntN(len(b.ids))
			if r.IntN(4) > 0 {
				b.add(i, unchanged(now))
			} else {
				b.add(i, failed(now, time.Duration(r.IntN(2000)-100)*time.Millisecond, []int{404, 500}[r.IntN(2)]))
			}
		}
		if got, want := lines(b.read(time.Time{}, anything)), lines(b.listed); !slices.Equal(got, want) {
			t.Fatalf("%d visits, want %d", len(got), len(want))
		}
		middle := b.listed[len(b.listed)/2].Start
		older := slices.DeleteFunc(slices.Clone(b.listed), func(a catalog.Activity) bool { return !a.Start.Before(middle) })
		if got := lines(b.read(middle, anything)); !slices.Equal(got, lines(older)) {
			t.Fatalf("before %s: %d visits, want %d", middle, len(got), len(older))
		}
		onlyFailed := func(_ string, o catalog.Outcome) (bool, error) { return o == "" || o == catalog.NoVersion, nil }
		failures := slices.DeleteFunc(slices.Clone(b.listed), func(a catalog.Activity) bool { return a.Outcome != catalog.NoVersion })
		if got := lines(b.read(time.Time{}, onlyFailed)); !slices.Equal(got, lines(failures)) {
			t.Fatalf("%d failures, want %d", len(got), len(failures))
		}
		for i := range b.ids {
			mine := slices.DeleteFunc(slices.Clone(older),
				func(a catalog.Activity) bool { return a.URL != fmt.Sprintf("http://data.example/%d.csv", i) })
			if got := lines(b.of(i, middle)); !slices.Equal(got, lines(mine)) {
				t.Fatalf("of resource %d: %d visits, want %d", i, len(got), len(mine))
			}
		}
		visits := 0
		for _, s := range b.stretches() {
			visits += s.Visits
		}
		if visits != len(b.listed) {
			t.Fatalf("stretches of %d visits, want %d", visits, len(b.listed))
		}
		if _, err := Forget(context.Background(), b.db, middle); err != nil {
			t.Fatal(err)
		}
		visits = 0
		for _, a := range b.read(time.Time{}, anything) {
			visits += a.Visits
		}
		if visits != len(b.listed) {
			t.Fatalf("%d visits after some are forgotten, want %d", visits, len(b.listed))
		}
		b.close()
	}
}

func TestManyVisitsAtOneMomentCostNoMoreThanOthers(t *testing.T) {
	t.Parallel()
	b := newBook(t, 500)
	defer b.close()
	for i := range 500 {
		b.add(i, unchanged(day))
	}
	pages := 0
	err := view(b.db, func(tx Txn) error {
		return tx.eachPage(t.Context(), tableFirst, day.Add(time.Hour).UnixMilli(), func(_ []byte, points []point) (bool, error) {
			if len(points) > maxPage {
				t.Errorf("a page of %d", len(points))
			}
			pages++
			return true, nil
		})
	})
	if err != nil || pages > 4*500/perPage {
		t.Errorf("%d pages, %v", pages, err)
	}
	if got := b.read(time.Time{}, anything); len(got) != 500 {
		t.Errorf("%d visits", len(got))
	}
}

func TestADamagedRecordOfVisitsDoesNotStopFurtherVisits(t *testing.T) {
	t.Parallel()
	b := newBook(t, 1)
	defer b.close()
	for i := range 3 {
		b.add(0, unchanged(day.Add(time.Duration(i)*time.Hour)))
	}
	err := b.db.Update(t.Context(), func(txn *kv.Txn) error {
		newest, err := Txn{txn}.newest(tableMore)
		if err != nil {
			return err
		}
		if err := txn.Set(kv.SpaceArchive, newest[0], []byte("damaged")); err != nil {
			return err
		}
		return txn.Set(kv.SpaceArchive, stretchKey(b.ids[0], day.UnixMilli()), []byte("damaged"))
	})
	if err != nil {
		t.Fatal(err)
	}
	b.add(0, unchanged(day.Add(4*time.Hour)))
	b.add(0, unchanged(day.Add(5*time.Hour)))
}

func FuzzDecode(f *testing.F) {
	id := strings.Repeat("0123456789ab", 2)
	s := begin(id, failed(day, time.Second, 404))
	s.recent, s.Visits = []visit{{day.UnixMilli() + 5, 7}, {day.UnixMilli() + 9, -1}}, 9
	f.Add(s.encode())
	f.Add(encodeVisits(s.recent))
	f.Add(encodePage([]point{s.at(day.UnixMilli()), s.at(day.UnixMilli() + 70_000)}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		k := stretchKey(id, day.UnixMilli())
		if got, err := decodeStretch(k, raw); err == nil {
			if again, err := decodeStretch(k, got.encode()); err != nil || again.Activity("u") != got.Activity("u") {
				t.Errorf("%+v became %+v, %v", got, again, err)
			}
		}
		if got, err := decodeVisits(visitsKey(id, day.UnixMilli(), day.UnixMilli()), raw); err == nil && len(got) == 0 {
			t.Error("a record without visits")
		}
		if got, err := decodePage(point{start: day.UnixMilli()}.key(tableMore), raw); err == nil && len(got) == 0 {
			t.Error("a page without visits")
		}
	})
}

func TestAVisitIsKnownAtItsMomentHoweverManyTheStretchHas(t *testing.T) {
	t.Parallel()
	b := newBook(t, 1)
	defer b.close()
	id := b.ids[0]
	const visits = 3*maxRecent + 5
	for i := range visits {
		act := unchanged(day.Add(time.Duration(i) * time.Hour))
		act.Version = ns.VersionID(id, 0)
		b.add(0, act)
	}
	known := func(at time.Time) (has, forgotten bool) {
		t.Helper()
		err := view(b.db, func(txn Txn) (err error) {
			has, forgotten, err = txn.HasFound(t.Context(), id, at, time.Second, func(int) bool { return true })
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return has, forgotten
	}
	for i := range visits {
		at := day.Add(time.Duration(i) * time.Hour)
		for before, want := range map[time.Duration]bool{0: true, 999 * time.Millisecond: true, time.Second: false,
			-time.Millisecond: false, time.Minute: false} {
			if got, forgotten := known(at.Add(-before)); got != want || forgotten {
				t.Errorf("visit %d, asked for %s before it: %v", i, before, got)
			}
		}
	}
	if _, err := Forget(t.Context(), b.db, day.Add(100*time.Hour)); err != nil {
		t.Fatal(err)
	}
	for hour, want := range map[int]bool{50: true, 150: false} {
		if has, forgotten := known(day.Add(time.Duration(hour)*time.Hour + time.Minute)); has || forgotten != want {
			t.Errorf("after hour %d: %v, perhaps a forgotten one %v", hour, has, forgotten)
		}
	}
}
