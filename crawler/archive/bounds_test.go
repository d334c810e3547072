package archive

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/archive/content"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/triplestore/kv"
)

// wideInside has so many columns, each with a sketch of so many values.
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

func TestWhatIsInsideIsKeptInPiecesWithinBounds(t *testing.T) {
	t.Parallel()
	members := &inspect.Inside{}
	for i := range 10_000 {
		members.Members = append(members.Members, inspect.Member{Path: fmt.Sprintf("d/%d.csv", i), Tables: wideInside(2, 3).Tables})
	}
	long := wideInside(3000, 0)
	for i := range long.Tables[0].Columns {
		c := &long.Tables[0].Columns[i]
		c.Max = strings.Repeat(fmt.Sprintf("%x", uint64(i+1)*0x9E3779B97F4A7C15), 600) // which compresses badly enough
	}
	for name, in := range map[string]*inspect.Inside{
		"few columns": wideInside(10, 5), "20,000 columns": wideInside(20_000, 3), "columns of many values": wideInside(5000, 1000),
		"members": members, "long texts": long,
	} {
		kept, record, pieces, err := packInside(in)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		total := len(record)
		for _, p := range pieces {
			total += len(p)
			if len(p) > kv.MaxValue {
				t.Errorf("%s: a piece of %d bytes", name, len(p))
			}
		}
		if len(record) > kv.MaxValue || total > maxInside+100 {
			t.Errorf("%s: %d bytes altogether, %d in the first record", name, total, len(record))
		}
		got, err := unpackInside(record, func(i int) ([]byte, error) { return pieces[i], nil })
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		a, _ := json.Marshal(got)
		b, _ := json.Marshal(kept)
		if string(a) != string(b) {
			t.Errorf("%s: what is read is not what was written", name)
		}
		if had, has := countColumns(in), countColumns(got); has+got.ColumnsOmitted != had {
			t.Errorf("%s: %d of %d columns, and %d are said to be omitted", name, has, had, got.ColumnsOmitted)
		}
		if len(got.Members)+got.MembersOmitted != len(in.Members) {
			t.Errorf("%s: %d members, %d omitted, of %d", name, len(got.Members), got.MembersOmitted, len(in.Members))
		}
		if name == "20,000 columns" && countColumns(got) != 20_000 {
			t.Errorf("%s: %d are kept", name, countColumns(got))
		}
		if name == "columns of many values" && (got.SketchesOmitted == 0 || len(got.Tables[0].Columns[0].Sketch) != 1000) {
			t.Errorf("%s: %d sketches omitted", name, got.SketchesOmitted)
		}
		for i := range pieces {
			cut := func(j int) ([]byte, error) {
				if i == j {
					return pieces[j][:len(pieces[j])/2], nil
				}
				return pieces[j], nil
			}
			if _, err := unpackInside(record, cut); err == nil {
				t.Errorf("%s: half a piece is no error", name)
			}
		}
	}
}

func TestAVersionWithAllBoundsReachedFitsIntoATransaction(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	url := "http://data.example/" + strings.Repeat("u", 4000) + ".csv"
	register(t, a, catalog.Seed{URL: url, Title: strings.Repeat("<t> ", 1<<19), DatasetTitle: strings.Repeat("&", 1<<20), Dataset: "http://data.example/d", Portal: "http://data.example/"})
	in := wideInside(18_000, 20)
	for i := range 9000 {
		in.Members = append(in.Members, inspect.Member{Path: fmt.Sprintf("%s/%d.csv", strings.Repeat("ü", 50), i), Tables: wideInside(1, 3).Tables})
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
	kept := &Kept{Ref: bytesOf(t, a, "a,b\n1,2\n"), Type: "text/csv", Headers: headers, Request: headers, ETag: strings.Repeat("e", 60_000), FileName: strings.Repeat("f", 60_000),
		Because: strings.Repeat("b", 1<<20), LastModified: strings.Repeat("m", 1<<20), Charset: strings.Repeat("c", 1<<20), Inside: in}
	act := catalog.Activity{URL: url, Start: now, End: now, Outcome: catalog.Archived, Why: strings.Repeat("w", 2<<20), FinalURL: "http://e.example/" + strings.Repeat("f", 1<<20)}
	done, err := a.Commit(t.Context(), Visit{Activity: act, Kept: kept}, nil)
	if err != nil {
		t.Fatal(err)
	}
	v, err := a.Version(t.Context(), done.Version)
	if err != nil || v.ETag != "" || !strings.HasPrefix(v.Headers.Get(OmittedHeader), "X-H") || len(v.Because) > maxSentence {
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
	// The next version takes the words and columns of this one away.
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
	for _, bad := range []string{"http://data.example/d\x00e", "http://data.example/\n", "http://data.example/\xff", "http://data.example/" + strings.Repeat("x", 9000)} {
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
	id, err := ResourceID("http://data.example/a.csv")
	if err != nil {
		t.Fatal(err)
	}
	err = a.db.Update(t.Context(), func(txn *kv.Txn) error {
		return tables{txn: txn}.mark(key(tableByDataset, "http://data.example/d\x00e", rid(id)))
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
	a := newArchive(t)
	now := time.Date(2026, 11, 22, 6, 0, 0, 0, time.UTC)
	var seeds []catalog.Seed
	for i := range maxInternal + 3 {
		seeds = append(seeds, catalog.Seed{URL: fmt.Sprintf("http://data.example/%d", i)})
	}
	register(t, a, seeds...)
	for i, s := range seeds {
		at := now.Add(time.Duration(i) * time.Second)
		act := catalog.Activity{URL: s.URL, Start: at, End: at, Outcome: catalog.NoVersion, ErrorClass: catalog.ErrInternal, Why: "it broke"}
		if _, err := a.Commit(t.Context(), Visit{Activity: act}, nil); err != nil {
			t.Fatal(err)
		}
	}
	list, total, err := a.InternalFailures(t.Context(), 20)
	if err != nil || total != maxInternal || len(list) != 20 || list[0].URL != seeds[len(seeds)-1].URL {
		t.Errorf("%d listed, %d shown, %v", total, len(list), err)
	}
	for range 2 {
		if err := a.ForgetInternal(t.Context(), list[0].URL); err != nil {
			t.Fatal(err)
		}
	}
	if _, total, err := a.InternalFailures(t.Context(), 20); err != nil || total != maxInternal-1 {
		t.Errorf("%d listed after one was taken away, %v", total, err)
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
