package frontier

import (
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/schedule"
)

func TestReplanMovesWhatWaitsForItsScheduleOnly(t *testing.T) {
	t.Parallel()
	f, c := start(t)
	const good, failed, fresh = "http://a.example/good", "http://b.example/failed", "http://c.example/fresh"
	add(t, f, good, failed)
	for range 2 {
		l := lease(t, f)
		job, _ := l.Next()
		outcome := catalog.Archived
		if job.URL == failed {
			outcome = catalog.NoVersion
		}
		r := Result{Visit: schedule.Visit{At: c.now, Outcome: outcome}, NextDue: c.now.Add(30 * 24 * time.Hour)}
		if err := done(t, f, l, job, r); err != nil {
			t.Fatal(err)
		}
	}
	add(t, f, fresh)
	moved, err := f.Replan(t.Context(), time.Time{},
		func(u *URL) (time.Time, string) { return u.History[0].At.Add(time.Hour), "more often" })
	if err != nil || moved != 1 {
		t.Fatalf("%d moved, %v; want the one", moved, err)
	}
	if u, err := f.Get(good); err != nil || !u.Due.Equal(noon.Add(time.Hour)) || u.Why != "more often" {
		t.Errorf("good: %+v, %v; want it due in an hour", u, err)
	}
	if u, err := f.Get(failed); err != nil || !u.Due.Equal(noon.Add(30*24*time.Hour)) {
		t.Errorf("failed: %+v, %v; want it as it was", u, err)
	}
	c.now = noon.Add(61 * time.Minute)
	got := map[string]bool{}
	for l := lease(t, f); l != nil; l = lease(t, f) {
		got[l.Jobs[0].URL] = true
	}
	if len(got) != 2 || !got[good] || !got[fresh] {
		t.Errorf("after an hour %v is due, want good and fresh", got)
	}
}
