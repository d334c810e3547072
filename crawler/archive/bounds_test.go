package archive

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/archive/content"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/testdata/underrace"
	"odarchive/triplestore/kv"
)

// wideInside returns a table of columns that each have a sketch of some values.
func wideInside(columns, values int) *inspect.Inside {
	p := &csvprofile.Profile{Version: 1, Rows: 10}
	for i := range columns {
		c := csvprofile.Column{Name: fmt.Sprintf("column %d", i), Datatype: "string", Distinct: int64(values), MaxLen: 9}
		for v := range values {
			c.Sketch = append(c.Sketch, uint32(v)*4_000_000+uint32(i))
		}
		p.Columns = append(p.Columns, c)
	}
	return &inspect.Inside{Tables: []*csvprofile.Profile{p}}
}

func TestAVersionWithAllBoundsReachedFitsIntoATransaction(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	url := "http://data.example/" + strings.Repeat("u", 4000) + ".csv"
	register(t, a, catalog.Seed{URL: url, Title: strings.Repeat("<t> ", 1<<19), DatasetTitle: strings.Repeat("&", 1<<20),
		Dataset: "http://data.example/d", Portal: "http://data.example/"})
	in := wideInside(18_000, 20)
	for i := range 9000 {
		in.Members = append(in.Members,
			inspect.Member{Path: fmt.Sprintf("%s/%d.csv", strings.Repeat("ü", 50), i), Tables: wideInside(1, 3).Tables})
	}
	for i := range in.Tables[0].Columns {
		in.Tables[0].Columns[i].Name = fmt.Sprintf("w%da w%db w%dc w%dd", i, i, i, i)
	}
	for range 20 {
		in.Faults = append(in.Faults, strings.Repeat("f", 700))
	}
	headers := http.Header{}
	for i := range 5000 {
		headers.Set(fmt.Sprintf("X-H%d", i), strings.Repeat("<", 40))
	}
	now := time.Date(2026, 11, 22, 6, 0, 0, 0, time.UTC)
	kept := &Kept{Ref: bytesOf(t, a, "a,b\n1,2\n"), Type: "text/csv", Headers: headers, Request: headers, ETag: strings.Repeat("e", 60_000),
		FileName: strings.Repeat("f", 60_000),
		Because:  strings.Repeat("b", 1<<20), LastModified: strings.Repeat("m", 1<<20), Charset: strings.Repeat("c", 1<<20), Inside: in}
	act := catalog.Activity{URL: url, Start: now, End: now, Outcome: catalog.Archived, Why: strings.Repeat("w", 2<<20),
		FinalURL: "http://e.example/" + strings.Repeat("f", 1<<20)}
	done, err := a.Commit(t.Context(), Visit{Activity: act, Kept: kept}, nil)
	if err != nil {
		t.Fatal(err)
	}
	v, err := a.Version(t.Context(), done.Version)
	if err != nil || v.ETag != "" || !strings.HasPrefix(v.Headers.Get(omittedHeader), "X-H") || len(v.Because) > records.MaxSentence {
		t.Errorf("version %.200v, %v", v, err)
	}
	if _, err := a.Inside(t.Context(), v.ID); err != nil {
		t.Error(err)
	}
	for n := 1; n > 0; {
		if n, err = a.Join(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	// The next version removes the words and columns of this one.
	act.Start, act.End = now.Add(time.Hour), now.Add(time.Hour)
	next := *kept
	next.Ref = bytesOf(t, a, "a,b\n1,3\n")
	next.Inside = wideInside(19_000, 20)
	if _, err := a.Commit(t.Context(), Visit{Activity: act, Kept: &next}, nil); err != nil {
		t.Fatal(err)
	}
	for n := 1; n > 0; {
		if n, err = a.Join(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if list, total, err := a.InternalFailures(t.Context(), 0); err != nil || total > 0 {
		t.Errorf("internal failures: %+v, %v", list, err)
	}
}

func TestNamesOfDatasetsAndPortalsAreChecked(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	const url = "http://data.example/a.csv"
	for _, bad := range []string{"http://data.example/d\x00e", "http://data.example/\n", "http://data.example/\xff",
		"http://data.example/" + strings.Repeat("x", 9000)} {
		for _, seed := range []catalog.Seed{{URL: url, Dataset: bad}, {URL: url, Portal: bad}} {
			if _, err := a.Register(t.Context(), time.Now(), Listing{Seeds: []catalog.Seed{seed}}, nil); !errors.Is(err, ErrBadIRI) {
				t.Errorf("%.50q: %v", bad, err)
			}
		}
		if clean := CleanName(bad); CheckName(clean) != nil {
			t.Errorf("%.50q is cleaned to %q", bad, clean)
		}
	}
	if got := CleanName("http://data.example/d\x00e"); got != "http://data.example/d%00e" {
		t.Errorf("cleaned: %q", got)
	}
}

func TestARecordOfAnOlderProgramWithAZeroByteInANameIsNoOtherDatasets(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	register(t, a, catalog.Seed{URL: "http://data.example/a.csv", Dataset: "http://data.example/d"})
	id, err := records.ResourceID("http://data.example/a.csv")
	if err != nil {
		t.Fatal(err)
	}
	err = a.db.Update(t.Context(), func(txn *kv.Txn) error {
		return txn.Set(kv.SpaceArchive, []byte("shttp://data.example/d\x00e\x00"+id), nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	d, err := a.Dataset(t.Context(), "http://data.example/d")
	if err != nil || !reflect.DeepEqual(d.URLs, []string{"http://data.example/a.csv"}) {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := a.Dataset(t.Context(), "http://data.example/d\x00e"); !errors.Is(err, ErrNotFound) {
		t.Errorf("the name with a zero byte: %v", err)
	}
	if found, err := a.Search(t.Context(), catalog.Search{Dataset: "http://data.example/d"}); err != nil || found.Total != 1 {
		t.Errorf("search: %+v, %v", found, err)
	}
}

func TestAURLOfManyDatasetsKeepsAsManyListingsAsARecordHolds(t *testing.T) {
	t.Parallel()
	underrace.Skip(t)
	a := newArchive(t)
	const n = 600
	for part := range n / 100 {
		var seeds []catalog.Seed
		for i := range 100 {
			dataset := fmt.Sprintf("http://data.example/%s/%d?a&b", strings.Repeat("d", 250), part*100+i)
			seeds = append(seeds, catalog.Seed{URL: "http://data.example/a.csv", Dataset: dataset, DatasetTitle: "Trees"})
		}
		register(t, a, seeds...)
	}
	r, err := a.Resource(t.Context(), "http://data.example/a.csv")
	if err != nil || len(r.Sources)+r.SourcesOmitted != n || r.SourcesOmitted == 0 || len(r.Sources) < 300 {
		t.Errorf("%d listings, %d omitted, %v", len(r.Sources), r.SourcesOmitted, err)
	}
}

func TestInternalFailuresAreBounded(t *testing.T) {
	t.Parallel()
	underrace.Skip(t)
	const maxFailures = 1000 // of package records
	a := newArchive(t)
	now := time.Date(2026, 11, 22, 6, 0, 0, 0, time.UTC)
	var seeds []catalog.Seed
	for i := range maxFailures + 3 {
		seeds = append(seeds, catalog.Seed{URL: fmt.Sprintf("http://data.example/%d", i)})
	}
	register(t, a, seeds...)
	for i, s := range seeds {
		at := now.Add(time.Duration(i) * time.Second)
		act := catalog.Activity{URL: s.URL, Start: at, End: at, Outcome: catalog.NoVersion, ErrorClass: catalog.ErrInternal,
			Why: "it broke"}
		if _, err := a.Commit(t.Context(), Visit{Activity: act}, nil); err != nil {
			t.Fatal(err)
		}
	}
	list, total, err := a.InternalFailures(t.Context(), 20)
	if err != nil || total != maxFailures || len(list) != 20 || list[0].URL != seeds[len(seeds)-1].URL {
		t.Errorf("%d listed, %d shown, %v", total, len(list), err)
	}
}

func bytesOf(t *testing.T, a *Archive, body string) content.Ref {
	t.Helper()
	ref, err := a.content.Put(t.Context(), strings.NewReader(body), content.PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

func TestAFinalURLThatRDFCannotNameIsDropped(t *testing.T) {
	for url, kept := range map[string]bool{"http://h.example/a b|c": true, "http://h.example/ü": true, "ftp://h.example/x": true,
		`x"\`: false, "no scheme": false, "": true} {
		if got := boundActivity(catalog.Activity{FinalURL: url}).FinalURL; (got == url) != kept {
			t.Errorf("%q became %q", url, got)
		}
	}
}
