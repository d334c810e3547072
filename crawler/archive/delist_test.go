package archive

import (
	"testing"
	"time"

	"odarchive/crawler/catalog"
)

func TestFilesThatAPortalNoLongerListsAreNotCountedAsListed(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	const one, other = "http://data.example/", "http://other.example/"
	seed := func(name, portal, dataset string) catalog.Seed {
		return catalog.Seed{URL: "http://files.example/" + name, Portal: portal, Dataset: portal + dataset}
	}
	a1, a2, b1, otherA := seed("a", one, "1"), seed("a", one, "2"), seed("b", one, "1"), seed("a", other, "1")
	register(t, a, a1, a2, b1, otherA)
	visit(t, a, a1.URL, "x", day)
	delist := func(seeds ...catalog.Seed) {
		for _, s := range seeds {
			if err := a.Delist(t.Context(), []Delisting{{Portal: s.Portal, Dataset: s.Dataset, At: day.Add(time.Hour)}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	type files struct{ listed, former, datasets int }
	expect := func(when string, want map[string]files) {
		t.Helper()
		portals, err := a.Portals(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range portals {
			if got := (files{p.Resources, p.Former, p.Datasets}); got != want[p.IRI] || p.IRI == one && p.Versions != 1 {
				t.Errorf("%s: %s has %+v, want %+v; %d versions", when, p.IRI, got, want[p.IRI], p.Versions)
			}
		}
		if faults, err := a.CheckFigures(t.Context(), false); err != nil || len(faults) > 0 {
			t.Errorf("%s: the records have others: %v, %v", when, faults, err)
		}
	}
	expect("at first", map[string]files{one: {2, 0, 2}, other: {1, 0, 1}})
	delist(a2)
	expect("another dataset of the portal lists it", map[string]files{one: {2, 0, 1}, other: {1, 0, 1}})
	delist(a1, a1)
	expect("a dataset is withdrawn, twice", map[string]files{one: {0, 2, 0}, other: {1, 0, 1}})
	register(t, a, a2, a2)
	expect("it is listed again", map[string]files{one: {1, 1, 1}, other: {1, 0, 1}})
	delist(otherA, seed("never", other, "9"))
	expect("the other portal no longer lists it", map[string]files{one: {1, 1, 1}, other: {0, 1, 0}})
	register(t, a, b1, otherA, seed("c", other, "2"))
	expect("all are listed, and a new one", map[string]files{one: {2, 0, 2}, other: {2, 0, 2}})
}

func TestFiguresThatDifferFromTheRecordsAreCorrected(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	register(t, a, listed)
	err := a.update(t.Context(), func(u *update) error {
		if err := u.tallies.AddDelisted(listed.Portal, 3); err != nil {
			return err
		}
		return u.tallies.AddDataset(listed.Portal, 5)
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = "figures: portal http://data.example/ is said to have 1 files, 3 of them delisted, and 6 datasets; " +
		"the records have 1 files, 0 of them delisted, and 1 datasets"
	faults, err := a.CheckFigures(t.Context(), true)
	if err != nil || len(faults) != 2 || faults[1].String() != want {
		t.Errorf("%v, %v", faults, err)
	}
	if faults, err := a.CheckFigures(t.Context(), false); err != nil || len(faults) > 0 {
		t.Errorf("after the correction: %v, %v", faults, err)
	}
}
