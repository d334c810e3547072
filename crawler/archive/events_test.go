package archive

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/triplestore/kv"
)

// fail commits a fetch that brought nothing.
func fail(t *testing.T, a *Archive, status int, class catalog.ErrorClass, at time.Time) {
	t.Helper()
	_, err := a.Commit(t.Context(),
		Visit{
			Activity: catalog.Activity{URL: file, Start: at, End: at.Add(time.Second), Outcome: catalog.NoVersion, ErrorClass: class,
				Status: status}}, nil)
	if err != nil {
		t.Fatal(err)
	}
}

// told returns the events of a query, newest first, as lines of kinds.
func told(t *testing.T, a *Archive, q catalog.EventQuery) (lines []string) {
	t.Helper()
	for range 1000 {
		found, err := a.Events(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range found.List {
			lines = append(lines, strings.Join(e.Kinds, "+"))
		}
		if q.Before = found.Next; q.Before == 0 {
			return lines
		}
	}
	t.Fatal("the pages do not end")
	return nil
}

func TestEachChangeIsToldOnceWithItsKinds(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	register(t, a, listed)
	at := day
	step := func() time.Time { at = at.Add(time.Hour); return at }
	visit(t, a, file, "a,b\n1,2\n", step())
	visit(t, a, file, "a,b\n1,2\n", step())           // unchanged: no event
	visit(t, a, file, "a,c\n1,x\n", step())           // another column
	visit(t, a, file, "a,c\n1,x\n2,y\n3,z\n", step()) // more rows
	visit(t, a, file, "a,c\n1,x\n", step())
	fail(t, a, 500, catalog.ErrHTTPStatus, step())
	fail(t, a, 0, catalog.ErrTimeout, step())
	visit(t, a, file, "a,c\n1,x\n", step()) // was not gone
	fail(t, a, 404, catalog.ErrHTTPStatus, step())
	fail(t, a, 404, catalog.ErrHTTPStatus, step())
	fail(t, a, 0, catalog.ErrTimeout, step())
	visit(t, a, file, "a,c\n1,x\n", step())
	for range 4 {
		fail(t, a, 0, catalog.ErrNetwork, step())
	}
	visit(t, a, file, "a,c\n5,x\n", step())
	want := []string{"rows+back", "gone", "back", "gone", "rows+shrunk", "rows", "schema", "new"}
	// The visits of this test have no comparison of versions, which the pipeline makes: only what is inside them is
	// known.
	all := told(t, a, catalog.EventQuery{})
	if len(all) != len(want) || all[1] != "gone" || all[2] != "back" || all[3] != "gone" || all[7] != "new" ||
		!strings.Contains(all[0], "back") {
		t.Fatalf("events %q, want about %q", all, want)
	}
	for name, q := range map[string]catalog.EventQuery{
		"file": {URL: file}, "dataset": {Dataset: listed.Dataset}, "portal": {Portal: listed.Portal}, "search": {Text: "trees"},
		"pages of one": {Limit: 1}, "pages of three of a file": {URL: file, Limit: 3}, "a search, page by page": {Text: "trees", Limit: 2},
	} {
		if got := told(t, a, q); !slices.Equal(got, all) {
			t.Errorf("%s: %q, want %q", name, got, all)
		}
	}
	if got := told(t, a, catalog.EventQuery{URL: file, Kinds: "gone,new", Limit: 1}); !slices.Equal(got, []string{"gone", "gone", "new"}) {
		t.Errorf("gone and new: %q", got)
	}
	if got := told(t, a, catalog.EventQuery{Text: "houses"}); len(got) != 0 {
		t.Errorf("a search that finds nothing: %q", got)
	}
	if _, err := a.Events(t.Context(), catalog.EventQuery{Kinds: "colour"}); !errors.Is(err, ErrBadQuery) {
		t.Errorf("an unknown kind: %v", err)
	}
	for _, q := range []catalog.EventQuery{{URL: "http://other.example/"}, {Dataset: "http://other.example/"},
		{Portal: "http://other.example/"}} {
		if _, err := a.Events(t.Context(), q); !errors.Is(err, ErrNotFound) {
			t.Errorf("%+v: %v", q, err)
		}
	}
}

func TestAFileThatNoPortalListsIsGoneUntilOneListsItAgain(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	register(t, a, listed)
	visit(t, a, file, "a,b\n1,2\n", day)
	delist := func() {
		if err := a.Delist(t.Context(), []Delisting{{Portal: listed.Portal, Dataset: listed.Dataset, At: day.Add(time.Hour)}}); err != nil {
			t.Fatal(err)
		}
	}
	datasets := func(want int) {
		t.Helper()
		all, err := a.Stats(t.Context())
		if err != nil || all.Datasets != want {
			t.Errorf("%d datasets are listed, want %d; %v", all.Datasets, want, err)
		}
		portals, err := a.Portals(t.Context())
		if err != nil || len(portals) != 1 || portals[0].Datasets != want {
			t.Errorf("the portal lists %+v, want %d datasets; %v", portals, want, err)
		}
	}
	datasets(1)
	delist()
	delist()
	datasets(0)
	fail(t, a, 404, catalog.ErrHTTPStatus, day.Add(2*time.Hour))
	register(t, a, listed)
	register(t, a, listed)
	datasets(1)
	visit(t, a, file, "a,b\n1,2\n", day.Add(3*time.Hour))
	if got, want := told(t, a, catalog.EventQuery{}), []string{"back", "back", "gone", "gone", "new"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestVersionsWithoutAnEventAreAddedToTheLogByARepair(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	const files = 40
	address := func(i int) string { return fmt.Sprintf("http://data.example/%d.csv", i) }
	for i := range files {
		register(t, a, catalog.Seed{URL: address(i)})
		for n := range 3 {
			visit(t, a, address(i), fmt.Sprintf("a,b\n%d,%d\n", i, n), day.Add(time.Duration(n*100+i)*time.Minute))
		}
	}
	if c, err := a.CheckLog(t.Context(), false); c.Found != 0 || err != nil {
		t.Fatalf("nothing was missing: %q, %v", c.Faults, err)
	}
	before := told(t, a, catalog.EventQuery{Limit: 500})
	if err := a.db.DropSpace(kv.SpaceEvents); err != nil {
		t.Fatal(err)
	}
	if c, err := a.CheckLog(t.Context(), false); c.Found != 1 || err != nil {
		t.Fatalf("all are missing: %q, %v", c.Faults, err)
	}
	for range 2 {
		if _, err := a.CheckLog(t.Context(), true); err != nil {
			t.Fatal(err)
		}
	}
	if after := told(t, a, catalog.EventQuery{Limit: 500}); len(after) != len(before) {
		t.Errorf("%d events, before %d", len(after), len(before))
	}
	versions, err := a.VersionsLogged(t.Context(), 0, 1<<40)
	if err != nil || len(versions) != 3*files ||
		!slices.IsSortedFunc(versions, func(x, y catalog.Version) int { return x.At.Compare(y.At) }) {
		t.Errorf("%d versions, sorted by date: %v", len(versions), err)
	}
}
