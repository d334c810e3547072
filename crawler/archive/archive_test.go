package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/archive/content"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/ns"
	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

var day = time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)

func newArchive(t *testing.T) *Archive {
	t.Helper()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	triples, err := triplestore.Open(db, triplestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	bytes, err := content.Open(t.TempDir(), db, content.Options{NoSync: true, MinFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(bytes.Close(), triples.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	})
	return New(ns.Mint{Base: "http://archive.example/"}, db, triples, bytes)
}

func register(t *testing.T, a *Archive, seeds ...catalog.Seed) []bool {
	t.Helper()
	fresh, err := a.Register(t.Context(), day, Listing{Seeds: seeds}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return fresh
}

// visit commits a fetch that brought a body.
func visit(t *testing.T, a *Archive, url, body string, at time.Time) catalog.Activity {
	t.Helper()
	ref, err := a.Bytes().Put(t.Context(), strings.NewReader(body), content.PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	profile, err := csvprofile.Read(t.Context(), strings.NewReader(body), csvprofile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	act, err := a.Commit(t.Context(), Visit{
		Activity: catalog.Activity{URL: url, Start: at, End: at.Add(time.Second), Outcome: catalog.Archived, Status: 200},
		Kept: &Kept{Ref: ref, Type: "text/csv", Charset: "utf-8", FileName: "a.csv",
			Inside: &inspect.Inside{Tables: []*csvprofile.Profile{profile}}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return act
}

// join indexes all versions that wait.
func join(t *testing.T, a *Archive) {
	t.Helper()
	for n := 1; n > 0; {
		var err error
		if n, err = a.Join(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := a.Unjoined(); n != 0 {
		t.Fatalf("%d versions wait", n)
	}
}

func triplesOf(t *testing.T, a *Archive) map[term.Quad]bool {
	t.Helper()
	all := map[term.Quad]bool{}
	err := a.triples.Dump(t.Context(), term.Pattern{}, func(q term.Quad) error { all[q] = true; return nil })
	if err != nil {
		t.Fatal(err)
	}
	return all
}

const file = "http://data.example/a.csv"

var listed = catalog.Seed{URL: file, Portal: "http://data.example/", Dataset: "http://data.example/dataset/1", DatasetTitle: "Trees",
	Title: "Trees as CSV", Format: "CSV"}

func TestEveryChangedVersionIsKeptAndNoOther(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	register(t, a, listed)
	var outcomes []catalog.Outcome
	for i, body := range []string{"a,b\n1,2\n", "a,b\n1,2\n", "a,b\n1,3\n", "a,b\n1,2\n"} {
		outcomes = append(outcomes, visit(t, a, file, body, day.Add(time.Duration(i)*time.Hour)).Outcome)
	}
	if want := []catalog.Outcome{catalog.Archived, catalog.Unchanged, catalog.Archived, catalog.Archived}; !slices.Equal(outcomes, want) {
		t.Fatalf("outcomes %v, want %v", outcomes, want)
	}
	versions, err := a.Versions(t.Context(), "http://DATA.example:80/a.csv#top") // another spelling of the same URL
	if err != nil || len(versions) != 3 {
		t.Fatalf("%d versions, %v", len(versions), err)
	}
	for i, want := range []string{"a,b\n1,2\n", "a,b\n1,3\n", "a,b\n1,2\n"} {
		v := versions[i]
		body, err := a.Open(t.Context(), v.ID)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(body)
		body.Close()
		if err != nil || string(got) != want || v.N != i || v.Size != int64(len(want)) {
			t.Errorf("version %d: %q (%+v), %v; want %q", i, got, v, err, want)
		}
		if wantPrevious := ""; i > 0 {
			wantPrevious = versions[i-1].ID
			if v.Previous != wantPrevious {
				t.Errorf("version %d follows %q, want %q", i, v.Previous, wantPrevious)
			}
		}
	}
	for at, n := range map[time.Duration]int{-time.Hour: 0, 0: 0, 90 * time.Minute: 0, 2 * time.Hour: 1, 100 * time.Hour: 2} {
		if v, err := a.At(t.Context(), file, day.Add(at)); err != nil || v.N != n {
			t.Errorf("at %v: version %d, %v; want %d", at, v.N, err, n)
		}
	}
}

func TestTriplesAreWhatTheRecordsDescribe(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	register(t, a, listed, catalog.Seed{URL: "ftp://data.example/b c.zip", Title: "spaces in its name"})
	visit(t, a, file, "a,b\n1,2\n", day)
	visit(t, a, file, "a,b,c\n1,2,3\n", day.Add(time.Hour))
	register(t, a, catalog.Seed{URL: "http://data.example/b.csv", Portal: listed.Portal, PortalTitle: "Data", Dataset: listed.Dataset,
		DatasetTitle: "Trees"})
	register(t, a, catalog.Seed{URL: file, Portal: listed.Portal, PortalTitle: "Open Data", Dataset: listed.Dataset,
		DatasetTitle: "Trees and shrubs"})
	register(t, a, catalog.Seed{URL: file, Portal: "http://other.example/", Dataset: "http://other.example/d",
		DatasetTitle: "The same trees"})
	if _, err := a.Commit(t.Context(),
		Visit{Activity: catalog.Activity{URL: file, Start: day.Add(2 * time.Hour), End: day.Add(2 * time.Hour),
			Outcome: catalog.NoVersion, ErrorClass: catalog.ErrHTTPStatus, Status: 500, Why: "the server answered 500"}}, nil); err != nil {
		t.Fatal(err)
	}
	const others = "http://data.example/places.csv"
	register(t, a, catalog.Seed{URL: others}, catalog.Seed{URL: "http://data.example/towns.csv"})
	visit(t, a, others, places(0, 40), day)
	visit(t, a, "http://data.example/towns.csv", places(10, 30), day)
	join(t, a)
	if got, err := a.Joins(t.Context(), latest(t, a, others)); err != nil || len(got) != 1 || got[0].Reverse != 1 ||
		got[0].Containment != 0.5 {
		t.Errorf("joins of the larger table: %+v, %v", got, err)
	}
	visit(t, a, others, places(20, 50), day.Add(time.Hour))
	visit(t, a, others, places(20, 60), day.Add(2*time.Hour))
	join(t, a)
	if got, err := a.Joins(t.Context(), latest(t, a, others)); err != nil || len(got) != 1 || got[0].Reverse != 0.5 ||
		got[0].Containment != 0.25 {
		t.Errorf("joins of its next version: %+v, %v", got, err)
	}
	described := map[term.Quad]bool{}
	err := a.Quads(t.Context(), func(quads []term.Quad) error {
		for _, q := range quads {
			described[q] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if stored := triplesOf(t, a); !maps.Equal(stored, described) {
		for q := range stored {
			if !described[q] {
				t.Errorf("stored only: %q", q)
			}
		}
		for q := range described {
			if !stored[q] {
				t.Errorf("described only: %q", q)
			}
		}
	}
}

// places is a table of some places.
func places(from, to int) string {
	var b strings.Builder
	b.WriteString("place,height\n")
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, "Place %d,%d.5\n", i, i)
	}
	return b.String()
}

func latest(t *testing.T, a *Archive, url string) string {
	t.Helper()
	v, err := a.Latest(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	return v.ID
}

func TestTheIndexOfColumnsCanBeMadeAgain(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	for i := range 9 {
		url := fmt.Sprintf("http://data.example/%d.csv", i)
		register(t, a, catalog.Seed{URL: url}, catalog.Seed{URL: url + "?never"})
		visit(t, a, url, places(i, 30), day)
		visit(t, a, url, places(i, 40), day.Add(time.Hour))
		if i == 5 {
			join(t, a)
		}
	}
	join(t, a)
	before := triplesOf(t, a)
	for range 2 {
		err := a.db.Update(t.Context(), func(txn *kv.Txn) error { return txn.Delete(kv.SpaceMeta, []byte("archive/joins")) })
		if err != nil {
			t.Fatal(err)
		}
		if err := a.OpenJoins(t.Context()); err != nil || a.Unjoined() != 9 {
			t.Fatalf("%d versions wait, %v", a.Unjoined(), err)
		}
		for q := range triplesOf(t, a) {
			if p := q.P.Value(); p == vocab.ArcContainedIn || p == vocab.ArcJoinableWith ||
				strings.HasPrefix(string(q.S), string(term.Blank("join-"))) {
				t.Fatalf("stayed: %v", q)
			}
		}
	}
	join(t, a)
	if after := triplesOf(t, a); !maps.Equal(before, after) {
		t.Errorf("%d triples before, %d after", len(before), len(after))
	}
}

func TestAnIndexOfColumnsOfAnotherFormatIsMadeAgain(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	const towns = "http://data.example/towns.csv"
	register(t, a, listed, catalog.Seed{URL: towns})
	visit(t, a, towns, places(0, 30), day)
	visit(t, a, file, places(0, 40), day)
	join(t, a)
	before := triplesOf(t, a)
	for _, format := range []string{"done", "2", "3"} {
		err := a.db.Update(t.Context(), func(txn *kv.Txn) error {
			for _, key := range []string{"p\x00\x00\x00\x07", "c\x00\x00\x00\x09", "s\x00\x00\x00\x09"} { // of another format
				if err := txn.Set(kv.SpaceJoins, []byte(key), []byte("1234")); err != nil {
					return err
				}
			}
			return txn.Set(kv.SpaceMeta, []byte("archive/joins"), []byte(format))
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.OpenJoins(t.Context()); err != nil || a.Unjoined() != 2 {
			t.Fatalf("format %s: %d versions wait, %v", format, a.Unjoined(), err)
		}
		join(t, a)
		if after := triplesOf(t, a); !maps.Equal(before, after) {
			t.Errorf("format %s: %d triples before, %d after", format, len(before), len(after))
		}
	}
}

func TestVersionsThatWaitedWhenTheProcessEndedAreJoinedByTheNext(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	if err := a.OpenJoins(t.Context()); err != nil {
		t.Fatal(err)
	}
	const towns = "http://data.example/towns.csv"
	register(t, a, listed, catalog.Seed{URL: towns})
	visit(t, a, towns, places(0, 30), day)
	visit(t, a, file, places(50, 90), day)
	if n, err := a.Join(t.Context()); n != 2 || err != nil {
		t.Fatalf("%d versions joined, %v", n, err)
	}
	visit(t, a, file, places(60, 90), day.Add(time.Hour))
	visit(t, a, file, places(10, 50), day.Add(2*time.Hour))
	next := New(a.mint, a.db, a.triples, a.content)
	if err := next.OpenJoins(t.Context()); err != nil || next.Unjoined() != 2 {
		t.Fatalf("%d versions wait, %v", next.Unjoined(), err)
	}
	join(t, next)
	got, err := next.Joins(t.Context(), latest(t, next, towns))
	if err != nil || len(got) != 1 || got[0].Containment != 0.6667 || got[0].Other.Version != latest(t, next, file) {
		t.Errorf("joins %+v, %v", got, err)
	}
}

func TestATransactionThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	full := errors.New("the frontier's half fails")
	if _, err := a.Register(t.Context(), day, Listing{Seeds: []catalog.Seed{listed}}, func(*kv.Txn) error { return full }); !errors.Is(err,
		full) {
		t.Fatalf("register: %v", err)
	}
	if _, err := a.Register(t.Context(), day, Listing{Seeds: []catalog.Seed{listed, {URL: "no url"}}}, nil); err == nil ||
		!strings.Contains(err.Error(), "no url") {
		t.Fatalf("register a URL that is none: %v", err)
	}
	if _, err := a.Resource(t.Context(), file); !errors.Is(err, ErrNotFound) {
		t.Fatalf("after the failure: %v, want ErrNotFound", err)
	}
	register(t, a, listed)
	before := triplesOf(t, a)
	ref, err := a.Bytes().Put(t.Context(), strings.NewReader("x"), content.PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Commit(t.Context(),
		Visit{Activity: catalog.Activity{URL: file, Start: day, End: day}, Kept: &Kept{Ref: ref, Type: "text/plain"}},
		func(*kv.Txn, catalog.Activity) error { return full })
	if !errors.Is(err, full) {
		t.Fatalf("commit: %v", err)
	}
	if after := triplesOf(t, a); !maps.Equal(before, after) {
		t.Error("a failed commit changed the triples")
	}
	if r, err := a.Resource(t.Context(), file); err != nil || r.Versions != 0 || r.Visits != 0 {
		t.Errorf("a failed commit changed the record: %+v, %v", r, err)
	}
}

func TestWhatIsNotInTheArchiveIsSaidSo(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	ctx := t.Context()
	for name, ask := range map[string]func() error{
		"resource":      func() error { _, err := a.Resource(ctx, "http://nowhere.example/x"); return err },
		"no URL":        func() error { _, err := a.Resource(ctx, "x"); return err },
		"versions":      func() error { _, err := a.Versions(ctx, "http://nowhere.example/x"); return err },
		"version":       func() error { _, err := a.Version(ctx, "0123456789abcdef01234567_0"); return err },
		"no version id": func() error { _, err := a.Version(ctx, "../etc/passwd"); return err },
		"dataset":       func() error { _, err := a.Dataset(ctx, "http://nowhere.example/d"); return err },
		"fetch of unknown": func() error {
			_, err := a.Commit(ctx, Visit{Activity: catalog.Activity{URL: "http://nowhere.example/x"}}, nil)
			return err
		},
	} {
		if err := ask(); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v, want ErrNotFound", name, err)
		}
	}
}

func TestFiguresSearchAndHistory(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	fresh := register(t, a, listed, listed,
		catalog.Seed{URL: "http://other.example/b.json", Portal: "http://data.example/", Dataset: "http://data.example/dataset/2",
			DatasetTitle: "Air"})
	if !slices.Equal(fresh, []bool{true, false, true}) {
		t.Errorf("fresh %v", fresh)
	}
	for i := range 5 {
		visit(t, a, file, fmt.Sprintf("a,b\n1,%d\n", i/2), day.Add(time.Duration(i)*time.Minute))
	}
	s, err := a.Stats(t.Context())
	if err != nil || s.Resources != 2 || s.Crawled != 1 || s.Versions != 3 || s.Visits != 5 || s.Hosts != 2 || s.Portals != 1 ||
		s.Datasets != 2 || s.Bytes != 24 {
		t.Errorf("stats %+v, %v", s, err)
	}
	if len(s.Types) != 1 || s.Types[0] != (catalog.Count{Key: "text/csv", Count: 3, Bytes: 24}) {
		t.Errorf("types %+v", s.Types)
	}
	for _, c := range []struct {
		search catalog.Search
		want   int
	}{{catalog.Search{}, 2}, {catalog.Search{Text: "TREES csv"}, 1}, {catalog.Search{Text: "nothing"}, 0},
		{catalog.Search{Host: "other.example"}, 1},
		{catalog.Search{Portal: "http://data.example/"}, 2}, {catalog.Search{Type: "text/csv"}, 1},
		{catalog.Search{Dataset: "http://data.example/dataset/2"}, 1},
		{catalog.Search{Outcome: catalog.Unchanged}, 0}, {catalog.Search{Limit: 1}, 2}} {
		found, err := a.Search(t.Context(), c.search)
		if err != nil || found.Total != c.want {
			t.Errorf("search %+v: %d found, %v; want %d", c.search, found.Total, err, c.want)
		}
	}
	acts, err := a.Activities(t.Context(), catalog.ActivityQuery{URL: file, Limit: 3, Before: day.Add(4 * time.Minute)})
	if err != nil || len(acts) != 3 || !acts[0].Start.Equal(day.Add(3*time.Minute)) || !acts[2].Start.Equal(day.Add(time.Minute)) {
		t.Errorf("activities of the file: %+v, %v", acts, err)
	}
	acts, err = a.Activities(t.Context(), catalog.ActivityQuery{Host: "data.example", Outcome: catalog.Archived})
	if err != nil || len(acts) != 3 || !acts[0].Start.After(acts[2].Start) {
		t.Errorf("versions of the host: %+v, %v", acts, err)
	}
	d, err := a.Dataset(t.Context(), listed.Dataset)
	if err != nil || d.Title != "Trees" || d.Portal != listed.Portal || !slices.Equal(d.URLs, []string{file}) {
		t.Errorf("dataset %+v, %v", d, err)
	}
}

func TestACancelledReadStops(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	register(t, a, listed)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Search(ctx, catalog.Search{}); !errors.Is(err, context.Canceled) {
		t.Errorf("search: %v, want context.Canceled", err)
	}
}
