package frontier

import (
	"fmt"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/schedule"
)

func TestAClockThatWasAheadStarvesNothing(t *testing.T) {
	t.Parallel()
	const longest = 30 * 24 * time.Hour
	db := memory(t)
	c := &clock{noon.AddDate(2, 0, 0)}
	f := open(t, db, c, Options{MaxWait: longest, LeaseJobs: 1})
	const urls = perTxn + 20
	for i := range urls {
		add(t, f, fmt.Sprintf("http://h%d.example/%d", i%7, i))
	}
	for i := range urls - 10 { // ten are never visited
		l := lease(t, f)
		job, _ := l.Next()
		r := Result{Visit: schedule.Visit{At: c.now, Outcome: catalog.Archived, Changed: true}, NextDue: c.now.Add(longest)}
		if i%100 == 0 {
			r.HostBackoff, r.HostWait = time.Hour, "asked to wait"
		}
		if err := done(t, f, l, job, r); err != nil {
			t.Fatal(err)
		}
		if r.HostBackoff > 0 {
			c.now = c.now.Add(2 * time.Hour)
		}
	}
	c.now = noon
	plan := func(u *URL) (time.Time, string) { return u.History[len(u.History)-1].At.Add(24 * time.Hour), "daily" }
	moved, err := f.Straighten(t.Context(), plan)
	if err != nil || moved != urls {
		t.Fatalf("%d of %d moved, %v", moved, urls, err)
	}
	waiting := 0
	err = f.Each(Filter{}, "", 0, func(u *URL) error {
		if u.Due.After(noon.Add(24 * time.Hour)) {
			t.Errorf("%s is due at %v", u.URL, u.Due)
		}
		if len(u.History) > 0 && u.History[0].At.After(noon) {
			t.Errorf("%s was visited at %v, after now", u.URL, u.History[0].At)
		}
		if len(u.History) > 0 {
			waiting++
		}
		return nil
	})
	if err != nil || waiting != urls-10 {
		t.Errorf("%d URLs were visited, %v; want %d", waiting, err, urls-10)
	}
	if again, err := f.Straighten(t.Context(), plan); err != nil || again != 0 {
		t.Errorf("a second time, %d moved, %v", again, err)
	}
	c.now = noon.Add(25 * time.Hour)
	leased := 0
	for l := lease(t, f); l != nil; l = lease(t, f) {
		job, _ := l.Next()
		if err := done(t, f, l, job,
			Result{Visit: schedule.Visit{At: c.now, Outcome: catalog.Unchanged},
				NextDue: c.now.Add(10 * 365 * 24 * time.Hour)}); err != nil {
			t.Fatal(err)
		}
		leased++
	}
	if leased != urls {
		t.Errorf("after a day, %d of %d are due", leased, urls)
	}
	if at, ok, err := f.NextDue(); err != nil || !ok || at.After(c.now.Add(longest)) {
		t.Errorf("the next visit is due at %v, %v, %v; want it within %v", at, ok, err, longest)
	}
	if report, err := f.Check(t.Context(), false); err != nil || report.Found > 0 {
		t.Errorf("check: %+v, %v", report, err)
	}
}

func TestAClockThatWasSomeDaysAheadHoldsNoHost(t *testing.T) {
	t.Parallel()
	db := memory(t)
	c := &clock{noon}
	f := open(t, db, c, Options{MaxWait: 30 * 24 * time.Hour, LeaseJobs: 1})
	for i := range 4 {
		add(t, f, fmt.Sprintf("http://a.example/%d", i))
	}
	c.now = noon.AddDate(0, 0, 20)
	visit := func(wait time.Duration) {
		t.Helper()
		l := lease(t, f)
		if l == nil {
			t.Fatal("the host is not leased")
		}
		job, _ := l.Next()
		r := Result{Visit: schedule.Visit{At: c.now, Outcome: catalog.Unchanged}, NextDue: c.now.Add(24 * time.Hour), HostBackoff: wait,
			HostWait: "politeness"}
		if err := done(t, f, l, job, r); err != nil {
			t.Fatal(err)
		}
	}
	visit(2 * time.Second)
	c.now = noon
	plan := func(u *URL) (time.Time, string) { return u.Due, "as it was" }
	if _, err := f.Straighten(t.Context(), plan); err != nil {
		t.Fatal(err)
	}
	visit(24 * time.Hour) // one that was never visited, and the host asks for a day
	if _, err := f.Straighten(t.Context(), plan); err != nil {
		t.Fatal(err)
	}
	if l := lease(t, f); l != nil {
		t.Error("a wait of a day is not kept")
	}
	c.now = noon.Add(25 * time.Hour)
	visit(0)
	if report, err := f.Check(t.Context(), false); err != nil || report.Found > 0 {
		t.Errorf("check: %+v, %v", report, err)
	}
}
