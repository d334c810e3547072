package frontier

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/schedule"
)

func TestARequeuedURLIsDueWhateverCameOfItsVisits(t *testing.T) {
	t.Parallel()
	f, c := start(t)
	add(t, f, "http://a.example/1", "http://a.example/2")
	l := lease(t, f)
	failed := Result{Visit: schedule.Visit{At: c.now, Outcome: catalog.NoVersion}, NextDue: c.now.Add(90 * 24 * time.Hour), HostBackoff: time.Hour, HostWait: "back-off"}
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
	if r, err := f.Requeue(t.Context(), "mailto://a b", "http://a.example/2", "a.example", "ftp://a b/", "http://a.example/2"); !errors.As(err, &bad) ||
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
	if r, err := f.Drop(t.Context(), "too large", "http://a.example/1", "http://b.example/never-seen"); err != nil || r.URLs != 2 || len(r.Unknown) != 0 {
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
	if r, err := f.Requeue(t.Context(), append(urls, "http://a.example/unknown")...); err != nil || r.URLs != len(urls) || len(r.Unknown) != 1 {
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
