package frontier

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/schedule"
)

func TestARequeuedURLIsDueWhateverCameOfItsVisits(t *testing.T) {
	t.Parallel()
	f, c := start(t)
	add(t, f, "http://a.example/1", "http://a.example/2")
	l := lease(t, f)
	failed := Result{Visit: schedule.Visit{At: c.now, Outcome: catalog.NoVersion}, NextDue: c.now.Add(90 * 24 * time.Hour),
		HostBackoff: time.Hour, HostWait: "back-off"}
	j, _ := l.Next()
	if err := done(t, f, l, j, failed); err != nil {
		t.Fatal(err)
	}
	if l := lease(t, f); l != nil {
		t.Fatalf("leased during a back-off: %+v", l.Jobs)
	}
	if r, err := f.Requeue(t.Context(), j.URL, "http://a.example/unknown", "nobody.example"); err != nil || r.URLs != 1 ||
		!slices.Equal(r.Unknown, []string{"http://a.example/unknown", "nobody.example"}) {
		t.Fatalf("%+v, %v", r, err)
	}
	l = lease(t, f)
	if l == nil || len(l.Jobs) != 2 {
		t.Fatalf("lease: %+v", l)
	}
	for _, j := range l.Jobs {
		if j.Errors != 0 {
			t.Errorf("%s: %d failures in a row are remembered", j.URL, j.Errors)
		}
	}
	var bad *BadURL
	if r, err := f.Requeue(t.Context(), "mailto://a b", "http://a.example/2", "a.example", "ftp://a b/",
		"http://a.example/2"); !errors.As(err, &bad) ||
		strings.Count(err.Error(), "a b") != 2 || r.URLs != 4 {
		t.Errorf("%+v, %v: the good targets must be due", r, err)
	}
	if err := inconsistency(f); err != nil {
		t.Error(err)
	}
}

func TestADroppedURLStaysOutUntilItIsRequeued(t *testing.T) {
	t.Parallel()
	f, _ := start(t)
	add(t, f, "http://a.example/1", "http://a.example/2")
	if r, err := f.Drop(t.Context(), "too large", "http://a.example/1", "http://b.example/never-seen"); err != nil || r.URLs != 2 ||
		len(r.Unknown) != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	add(t, f, "http://a.example/1", "http://b.example/never-seen") // a source lists them again
	if l := lease(t, f); l == nil || len(l.Jobs) != 1 || l.Jobs[0].URL != "http://a.example/2" {
		t.Fatalf("lease: %+v", l)
	} else if err := f.Release(t.Context(), l, time.Time{}, ""); err != nil {
		t.Fatal(err)
	}
	if u, err := f.Get("http://a.example/1"); err != nil || !u.Blacklisted || u.Why != "dropped: too large" {
		t.Errorf("%+v, %v", u, err)
	}
	if _, err := f.Requeue(t.Context(), "http://a.example/1"); err != nil {
		t.Fatal(err)
	}
	if l := lease(t, f); l == nil || len(l.Jobs) != 2 {
		t.Errorf("lease: %+v", l)
	}
	if r, err := f.Check(t.Context(), false); err != nil || r.Found != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestADroppedHostStaysOutWithItsNewURLs(t *testing.T) {
	t.Parallel()
	f, _ := start(t)
	var urls []string
	for i := range perTxn + 20 {
		urls = append(urls, fmt.Sprintf("http://a.example/%04d", i))
	}
	add(t, f, urls...)
	if r, err := f.Requeue(t.Context(), append(urls, "http://a.example/unknown")...); err != nil || r.URLs != len(urls) ||
		len(r.Unknown) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	if r, err := f.Drop(t.Context(), "", "A.example"); err != nil || r.URLs != len(urls) {
		t.Fatalf("%+v, %v", r, err)
	}
	add(t, f, "http://a.example/new", "http://b.example/1")
	if l := lease(t, f); l == nil || l.Group != "b.example" {
		t.Fatalf("lease: %+v", l)
	}
	if l := lease(t, f); l != nil {
		t.Errorf("lease: %+v", l)
	}
	if r, err := f.Requeue(t.Context(), "a.example"); err != nil || r.URLs != len(urls)+1 {
		t.Fatalf("%+v, %v", r, err)
	}
	add(t, f, "http://a.example/newer")
	if u, err := f.Get("http://a.example/newer"); err != nil || u.Blacklisted {
		t.Errorf("%+v, %v", u, err)
	}
	if l := lease(t, f); l == nil || !strings.HasPrefix(l.Jobs[0].URL, "http://a.example/") {
		t.Errorf("lease: %+v", l)
	}
	if r, err := f.Check(t.Context(), false); err != nil || r.Found != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestAPausedURLIsDueAfterItsResumptionAsItWasBefore(t *testing.T) {
	t.Parallel()
	f, c := start(t)
	add(t, f, "http://a.example/1.csv", "http://a.example/2.csv", "http://b.example/3.pdf", "http://c.example/dropped.csv")
	l := lease(t, f)
	visited, _ := l.Next() // while it is being visited, it is paused
	if _, err := f.Drop(t.Context(), "no", "http://c.example/dropped.csv"); err != nil {
		t.Fatal(err)
	}
	would, err := f.Order(t.Context(), Order{Kind: OrderPause, Targets: []string{`pattern:\.csv$`}, DryRun: true})
	if err != nil || would.URLs != 2 || !slices.Equal(would.First, []string{"http://a.example/1.csv", "http://a.example/2.csv"}) {
		t.Errorf("dry run: %+v, %v", would, err)
	}
	if r, err := f.Order(t.Context(), Order{Kind: OrderPause, Targets: []string{`pattern:\.csv$`}, Why: "wait"}); err != nil ||
		r.URLs != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	next := c.now.Add(time.Hour)
	if err := done(t, f, l, visited,
		Result{Visit: schedule.Visit{At: c.now, Outcome: catalog.Archived, Changed: true}, NextDue: next, Why: "rule"}); err != nil {
		t.Fatal(err)
	}
	if u, err := f.Get(visited.URL); err != nil || u.Why != "paused: wait" || !u.Blacklisted {
		t.Errorf("%+v, %v: the visit must not hide the reason", u, err)
	}
	if r, err := f.Order(t.Context(), Order{Kind: OrderResume, Targets: []string{"a.example", "c.example", "pattern:pdf"}}); err != nil ||
		r.URLs != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	if u, err := f.Get(visited.URL); err != nil || u.Blacklisted || !u.Due.Equal(next) {
		t.Errorf("%+v, %v", u, err)
	}
	if u, err := f.Get("http://c.example/dropped.csv"); err != nil || !u.Blacklisted {
		t.Errorf("%+v, %v: it was dropped, not paused", u, err)
	}
	if err := inconsistency(f); err != nil {
		t.Error(err)
	}
}

func TestAnOrderThatIsCutOffLeavesWholeBatchesAndANoteOfThem(t *testing.T) {
	t.Parallel()
	f, _ := start(t)
	var urls []string
	for i := range 3*perTxn + 7 {
		urls = append(urls, fmt.Sprintf("http://a.example/%05d", i))
	}
	add(t, f, urls...)
	ctx, cancel := context.WithCancel(t.Context())
	score := 4.0
	s, err := f.selectTarget("pattern:.")
	if err != nil {
		t.Fatal(err)
	}
	e := &entryOfOrder{Note: noteOf(Order{Kind: OrderBoost, Targets: []string{"pattern:."}, Score: &score}, f.opts.Now())}
	calls := 0
	act := action{one: func(b *batch, u *URL, known bool) (bool, error) {
		if calls++; calls == 2*perTxn+10 { // in the third batch
			cancel()
			return false, context.Canceled
		}
		return boost(score)(b, u, known)
	}}
	if _, err := f.order(ctx, Order{Kind: OrderBoost, Targets: []string{"pattern:."}}, act, e); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	boosted := 0
	for {
		page, err := s.next(t.Context(), perTxn)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		for _, key := range page {
			if u, err := f.Get(spell(key)); err != nil {
				t.Fatal(err)
			} else if u.Priority == score {
				boosted++
			}
		}
	}
	notes, err := f.Notes(5)
	if err != nil || len(notes) != 1 || notes[0].URLs != boosted || notes[0].Done || boosted != 2*perTxn {
		t.Errorf("boosted %d, notes %+v, %v", boosted, notes, err)
	}
	if err := inconsistency(f); err != nil {
		t.Error(err)
	}
}

func TestTheLatestOrdersAreListed(t *testing.T) {
	t.Parallel()
	f, _ := start(t)
	for i := range maxNotes + 3 {
		if err := f.Pause(t.Context(), fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.Inject(t.Context(), Injection{URL: "http://user:secret@a.example/1"}); err != nil {
		t.Fatal(err)
	}
	notes, err := f.Notes(2 * maxNotes)
	if err != nil || len(notes) != maxNotes || notes[0].Order != "inject" || notes[0].Targets[0] != "http://a.example/1" ||
		notes[0].URLs != 1 ||
		notes[1].Why != fmt.Sprint(maxNotes+2) || notes[1].Number != maxNotes+3 {
		t.Errorf("%d notes, %+v, %v", len(notes), notes[:2], err)
	}
}

func FuzzTargets(f *testing.F) {
	f.Add("pattern:(a{1000}){1000}")
	f.Add("pattern:" + strings.Repeat("(", 1200))
	f.Add("a.example:99999")
	f.Fuzz(func(t *testing.T, target string) {
		if CheckTarget(target) != nil || isURL(target) {
			return
		}
		s, err := (&Frontier{}).selectTarget(target)
		if err != nil {
			t.Fatalf("%q is a target, and cannot be selected: %v", target, err)
		}
		s.matches("http://a.example/" + target)
	})
}
