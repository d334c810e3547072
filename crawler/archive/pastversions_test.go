package archive

import (
	"strings"
	"testing"
	"time"

	"odarchive/crawler/archive/content"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// importPast stores a version that another archive fetched.
func importPast(t *testing.T, a *Archive, url, body string, at time.Time) catalog.Activity {
	t.Helper()
	ref, err := a.Bytes().Put(t.Context(), strings.NewReader(body), content.PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	act, err := a.Commit(t.Context(), Visit{
		Activity: catalog.Activity{URL: url, Start: at, End: at, Outcome: catalog.Archived, Status: 200},
		Kept:     &Kept{Ref: ref, Type: "text/csv", FileName: "a.csv"}, Past: &Past{},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return act
}

// byDate returns the versions of a file by date, and checks that each names the one before.
func byDate(t *testing.T, a *Archive, url string) []catalog.Version {
	t.Helper()
	all, err := a.Versions(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	before := ""
	for _, v := range all {
		if v.Previous != before {
			t.Errorf("the version before %s is %q, want %q", v.ID, v.Previous, before)
		}
		before = v.ID
	}
	return all
}

func TestThePastIsPutInItsPlaceByDate(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	const url = "http://data.example/a.csv"
	register(t, a, catalog.Seed{URL: url})
	hours := func(n int) time.Time { return day.Add(time.Duration(n) * time.Hour) }
	visit(t, a, url, "a\n10\n", hours(10))      // version 0
	visit(t, a, url, "a\n20\n", hours(20))      // version 1
	importPast(t, a, url, "a\n15\n", hours(15)) // version 2
	importPast(t, a, url, "a\n5\n", hours(5))   // version 3
	if act := importPast(t, a, url, "a\n15\n", hours(16)); act.Outcome != catalog.Unchanged {
		t.Errorf("the same bytes as the version before by date: %s", act.Outcome)
	}
	order := func() (s string) {
		t.Helper()
		for _, v := range byDate(t, a, url) {
			s += string(rune('0' + v.N))
		}
		return s
	}
	if s := order(); s != "3021" {
		t.Errorf("by date: %s", s)
	}
	id := latestResource(t, a, url)
	for at, n := range map[int]int{4: 3, 5: 3, 12: 0, 15: 2, 19: 2, 99: 1} {
		if v, err := a.At(t.Context(), url, hours(at)); err != nil || v.N != n {
			t.Errorf("at hour %d: version %d, want %d, %v", at, v.N, n, err)
		}
	}
	isLatest := func(n int) {
		t.Helper()
		v, err := a.Latest(t.Context(), url)
		newest, err2 := a.Newest(t.Context(), url)
		found, err3 := a.Find(t.Context(), []Wanted{WantLatest(id), {id, 2}, WantLatest(id)})
		if err != nil || err2 != nil || err3 != nil || v.N != n || newest.N != n || found[0].N != n || found[1].N != 2 ||
			found[2].ID != v.ID {
			t.Errorf("the latest version: %d, %d, %+v; want %d; %v %v %v", v.N, newest.N, found, n, err, err2, err3)
		}
	}
	isLatest(1)
	if r, err := a.Resource(t.Context(), url); err != nil || !r.FirstSeen.Equal(hours(5)) || !r.Changed.Equal(hours(20)) ||
		r.Versions != 4 {
		t.Errorf("%+v, %v", r, err)
	}

	// The triples say the same, and are those of the records.
	have, want := triplesOf(t, a), map[term.Quad]bool{}
	if err := a.Quads(t.Context(), func(qs []term.Quad) error {
		for _, q := range qs {
			want[q] = true
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for q := range want {
		if !have[q] {
			t.Errorf("missing: %v", q)
		}
	}
	for q := range have {
		if !want[q] {
			t.Errorf("left over: %v", q)
		}
	}
	m := a.Mint()
	if q := (term.Quad{S: term.IRI(m.Version(ns.VersionID(id, 1))), P: term.IRI(vocab.PROVWasRevisionOf),
		O: term.IRI(m.Version(ns.VersionID(id, 2)))}); !have[q] {
		t.Errorf("there is no %v", q)
	}

	// The next visit makes a version again that is the latest in every respect.
	if act := visit(t, a, url, "a\n20\n", hours(25)); act.Outcome != catalog.Unchanged || act.Version != ns.VersionID(id, 1) {
		t.Errorf("the bytes of the latest version: %+v", act)
	}
	visit(t, a, url, "a\n30\n", hours(30)) // version 4
	isLatest(4)
	if s := order(); s != "30214" {
		t.Errorf("by date: %s", s)
	}
	importPast(t, a, url, "a\n29\n", hours(29)) // version 5
	isLatest(4)
	if s := order(); s != "302154" {
		t.Errorf("by date: %s", s)
	}
}

func TestAVersionOfAClockThatWasBehindIsListedByItsDateAndStaysTheLatest(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	register(t, a, catalog.Seed{URL: file})
	visit(t, a, file, "a\n10\n", hours(10)) // version 0
	visit(t, a, file, "a\n20\n", hours(20)) // version 1
	visit(t, a, file, "a\n30\n", hours(-9)) // version 2
	latest, err := a.Latest(t.Context(), file)
	newest, err2 := a.Newest(t.Context(), file)
	if err != nil || err2 != nil || latest.N != 2 || newest.N != 2 {
		t.Errorf("the latest version is %d and %d, want 2; %v %v", latest.N, newest.N, err, err2)
	}
	visit(t, a, file, "a\n40\n", hours(40)) // version 3
	order := ""
	all, err := a.Versions(t.Context(), file)
	for _, v := range all {
		order += string(rune('0' + v.N))
	}
	if err != nil || order != "2013" {
		t.Errorf("by date: %s, %v", order, err)
	}
	for at, n := range map[int]int{-20: 2, -9: 2, 0: 2, 10: 0, 19: 0, 20: 1, 39: 1, 40: 3} {
		if v, err := a.At(t.Context(), file, hours(at)); err != nil || v.N != n {
			t.Errorf("at hour %d: version %d, want %d, %v", at, v.N, n, err)
		}
	}
}
