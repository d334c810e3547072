package portals

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/harvest/loose"
	"odarchive/crawler/harvest/portalapi"
	"odarchive/crawler/harvest/portaltest"
)

// invenioFake is a repository of n records, each changed a minute after the one before. It serves at most most records
// per query.
type invenioFake struct {
	n, most int
	record  string // replaces the generated records
	asked   []string
}

func (f *invenioFake) source(rows int) portalapi.Harvester {
	return NewInvenio(portalapi.Source{URL: "https://repo.example/", HTTP: &portaltest.Web{Handler: f}, Rows: rows,
		Now: func() time.Time { return time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC) }})
}

func (f *invenioFake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.asked = append(f.asked, r.URL.RequestURI())
	q := r.URL.Query()
	if r.URL.Path != "/api/records" || q.Get("sort") != "updated-asc" && q.Get("size") != "1" {
		http.NotFound(w, r)
		return
	}
	var size, page int
	fmt.Sscan(q.Get("size"), &size)
	fmt.Sscan(cmp.Or(q.Get("page"), "1"), &page)
	if size*page > f.most {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"status":400,"message":"Maximum number of 10000 results have been reached."}`)
		return
	}
	first := 0
	if _, since, found := strings.Cut(q.Get("q"), "updated:["); found {
		if t, err := time.Parse(time.RFC3339, strings.TrimSuffix(since, " TO *]")); err == nil {
			first = max(0, int(t.Sub(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))/time.Minute))
		}
	}
	var list []string
	for i := first + (page-1)*size; i < min(first+page*size, f.n); i++ {
		if f.record != "" {
			list = append(list, f.record)
			continue
		}
		list = append(list, fmt.Sprintf(`{"id":"r%d","updated":"%s","metadata":{"title":"R"}}`, i,
			time.Date(2026, 1, 1, 0, i, 0, 0, time.UTC).Format("2006-01-02T15:04:05.000000+00:00")))
	}
	fmt.Fprintf(w, `{"hits":{"hits":[%s],"total":%d},"links":{}}`, strings.Join(list, ","), f.n-first)
}

func TestMoreRecordsThanOneQuestionMayHaveComeInWindows(t *testing.T) {
	t.Parallel()
	f := &invenioFake{n: 12_000, most: 10_000}
	notes, err := portaltest.Harvest(t, f.source(1000), "")
	got := notes.IRIs()
	slices.Sort(got)
	if err != nil || len(slices.Compact(got)) != 12_000 || len(notes.Skipped) > 0 {
		t.Fatalf("%v, %d records, %v", err, len(got), notes.Skipped)
	}
	// A harvest interrupted in the second window continues there.
	rest, err := portaltest.Harvest(t, f.source(1000), notes.Marks[10])
	if err != nil || len(rest.Datasets) > 3_000 || rest.IRIs()[len(rest.Datasets)-1] != "https://repo.example/records/r11999" {
		t.Fatalf("%v, %d records from %q", err, len(rest.Datasets), notes.Marks[10])
	}
}

func TestARepositoryIsHarvestedResumedAndAskedForChanges(t *testing.T) {
	t.Parallel()
	f := &invenioFake{n: 8, most: 10_000}
	first, err := portaltest.Harvest(t, f.source(3), "")
	if err != nil || len(first.Datasets) != 8 {
		t.Fatalf("%v, %d records", err, len(first.Datasets))
	}
	f.asked = nil
	second, err := portaltest.Harvest(t, f.source(3), first.NextMark)
	if err != nil || second.Whole || len(f.asked) == 0 ||
		!strings.Contains(f.asked[0], "q=updated%3A%5B2025-12-31T23%3A57%3A00Z+TO+%2A%5D") {
		t.Fatalf("%v, asked %q", err, f.asked)
	}
}

func TestASearchIsAPartOfARepository(t *testing.T) {
	t.Parallel()
	f := &invenioFake{n: 1, most: 10_000}
	s := f.source(3)
	s.URL = "https://repo.example/communities/trees/records?q=bark"
	notes, err := portaltest.Harvest(t, s, "")
	if err != nil || notes.Whole || !strings.Contains(f.asked[0], "communities=trees") || !strings.Contains(f.asked[0], "q=bark") {
		t.Fatalf("%v, whole %v, asked %q", err, notes.Whole, f.asked)
	}
}

func TestRecordsOfBothKinds(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for _, record := range []string{
		`{"id":123,"doi":"10.5281/zenodo.123","conceptdoi":"10.5281/zenodo.122","updated":"2026-01-01T00:00:00+00:00","metadata":{"title":"Bark","description":"<p>Of <i>trees</i></p>","keywords":["bark"],"license":{"id":"cc-by-4.0"},"creators":[{"name":"Ann","orcid":"0000-0001"}],
			"publication_date":"2025-01-01","access_right":"open","resource_type":{"title":"Dataset","type":"dataset"},"communities":[{"id":"trees"}],"locations":[{"lat":48.2,"lon":16.3,"place":"Wien"}],"language":"deu"},
			"files":[{"key":"a b.csv","size":12,"checksum":"md5:d41d8cd98f00b204e9800998ecf8427e","links":{"self":"https://repo.example/api/records/123/files/a%20b.csv/content"}},{"key":"c.zip"},{}]}`,
		`{"id":"abc-1","updated":"2026-01-01T00:00:00+00:00","pids":{"doi":{"identifier":"10.1/abc"}},"parent":{"pids":{"doi":{"identifier":"10.1/parent"}}},"access":{"record":"public","files":"public"},"metadata":{"title":"Leaves","publisher":"The Herbarium","publication_date":"2025-02",
			"creators":[{"person_or_org":{"name":"Bob","type":"personal","identifiers":[{"scheme":"orcid","identifier":"0000-0002"}]}}],"rights":[{"id":"cc0-1.0","props":{"url":"https://cc.example/zero"}}],"subjects":[{"subject":"leaf"}],"languages":[{"id":"eng"}],
			"resource_type":{"id":"dataset","title":{"en":"Dataset"}},"locations":{"features":[{"geometry":{"type":"Point","coordinates":[1,2]},"place":"There"}]}},
			"files":{"enabled":true,"entries":{"x.csv":{"key":"x.csv","size":3,"mimetype":"text/csv","checksum":"md5:900150983cd24fb0d6963f7d28e17f72"}}}}`,
		`{"id":"gone","tombstone":{"removed_by":"x"},"metadata":{}}`,
		`{"metadata":[],"files":7}`,
	} {
		notes, err := portaltest.Harvest(t, (&invenioFake{n: 1, most: 10_000, record: record}).source(3), "")
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString(notes.String())
	}
	portaltest.Golden(t, "records.golden", text.String())
}

func FuzzRecords(f *testing.F) {
	f.Add(
		[]byte(
			`{"metadata":{"title":{"en":"x"},"creators":[{"person_or_org":{"name":"a"}}],"locations":[{"lat":1,"lon":2}]},"files":{"entri` +
				`es":{"a":{"key":"a","checksum":"md5:x"}}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if v, err := loose.Parse(text); err == nil {
			_, _ = invenioRead(t.Context(), &portalapi.Harvest{Root: "https://repo.example"}, "1", v) // must not panic
		}
	})
}
