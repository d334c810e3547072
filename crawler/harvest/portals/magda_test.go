package portals

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/harvest/loose"
	"odarchive/crawler/harvest/portalapi"
	"odarchive/crawler/harvest/portaltest"
	"odarchive/testdata/shared"
)

// registry serves pages of three of n records, or a fixed text.
type registry struct {
	n        int
	text     string
	ignorant bool // rejects conditions
	changed  int  // index of a record modified in February, when the others were in January; 0 means none
	asked    int
}

func (f *registry) source() portalapi.Harvester {
	return NewMagda(portalapi.Source{URL: "https://data.example/search?q=x", Rows: 3, HTTP: &portaltest.Web{Handler: f},
		Now: func() time.Time { return time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC) }})
}

func (f *registry) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.asked++
	condition := r.FormValue("aspectQuery")
	switch {
	// as public configurations of its web site ask
	case r.URL.Path == "/api/v0/registry/records/count" && r.FormValue("aspect") == "dcat-dataset-strings":
		fmt.Fprintf(w, `{"count":%d}`, f.n)
		return
	case r.URL.Path != "/api/v0/registry/records" || r.FormValue("aspect") != "dcat-dataset-strings":
		http.NotFound(w, r)
		return
	case f.text != "":
		fmt.Fprint(w, f.text)
		return
	case condition != "" && f.ignorant:
		http.Error(w, "unknown parameter", http.StatusBadRequest)
		return
	}
	from, _ := url.QueryUnescape(strings.TrimPrefix(condition, "dcat-dataset-strings.modified:>="))
	token := 0
	fmt.Sscan(r.FormValue("pageToken"), &token)
	var list []string
	for i := token; i < f.n; i++ {
		modified := "2026-01-05"
		if i == f.changed && i > 0 {
			modified = "2026-02-20T10:00:00Z"
		}
		if modified < from {
			continue
		}
		if len(list) == 3 {
			fmt.Fprintf(w, `{"hasMore":true,"nextPageToken":"%d","records":[%s]}`, i, strings.Join(list, ","))
			return
		}
		list = append(list, fmt.Sprintf(
			`{"id":"ds-%d","name":"Set %d","aspects":{"dcat-dataset-strings":{"title":"Set %d","modified":"%s"}}}`, i, i, i, modified))
	}
	fmt.Fprintf(w, `{"hasMore":false,"records":[%s]}`, strings.Join(list, ","))
}

func TestTheNextHarvestReadsWhatIsNewAndWhatWasModified(t *testing.T) {
	t.Parallel()
	portaltest.Counts(t, (&registry{n: 20}).source(), 20)
	whole, err := portaltest.Harvest(t, (&registry{n: 20, changed: 17}).source(), "")
	if err != nil || !whole.Whole || len(whole.Datasets) != 20 {
		t.Fatalf("%v, whole %v, %d records", err, whole.Whole, len(whole.Datasets))
	}
	for _, ignorant := range []bool{false, true} {
		f := &registry{n: 23, changed: 17, ignorant: ignorant}
		most, want := 3, []string{"ds-17", "ds-18", "ds-19", "ds-20", "ds-21", "ds-22"} // the page behind the tail, and the modified record
		if ignorant {
			most, want = 11, nil
		}
		next, err := portaltest.Harvest(t, f.source(), whole.NextMark)
		var got []string
		for _, iri := range next.IRIs() {
			got = append(got, strings.TrimPrefix(iri, "https://data.example/dataset/"))
		}
		slices.Sort(got)
		if err != nil || next.Whole || f.asked > most || want != nil && !slices.Equal(got, want) || want == nil && len(got) != 23 {
			t.Errorf("ignorant %v: %v, whole %v, %d questions, %q", ignorant, err, next.Whole, f.asked, got)
		}
		portaltest.Resumes(t, f.source())
		again, err := portaltest.Harvest(t, f.source(), next.NextMark)
		if err != nil || again.Whole || !ignorant && len(again.Datasets) > 5 {
			t.Errorf("again: %v, whole %v, %q", err, again.Whole, again.IRIs())
		}
		later := f.source()
		later.Now = func() time.Time { return time.Date(2026, 3, 9, 0, 0, 0, 0, time.UTC) }
		if all, err := portaltest.Harvest(t, later, again.NextMark); err != nil || !all.Whole || len(all.Datasets) != 23 {
			t.Errorf("a week later: %v, whole %v, %d records", err, all.Whole, len(all.Datasets))
		}
	}
}

func TestAnAnswerWithoutRecordsIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := portaltest.Harvest(t, (&registry{text: `{"error":"x"}`}).source(), ""); err == nil ||
		!strings.Contains(err.Error(), "an answer without records") {
		t.Fatal(err)
	}
}

func TestRealRecords(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(shared.Data(t, "portals", "magda"),
		"magda-gateway/src/test/sampleRegistryResponses/ckanDatasetQuery.json"))
	if err != nil {
		t.Fatal(err)
	}
	record, err := os.ReadFile(filepath.Join(shared.Data(t, "portals", "magda"),
		"magda-int-test/src/test/resources/sampleDatasets/wa1-with-invalid-spatial-data.json"))
	if err != nil {
		t.Fatal(err)
	}
	var yields strings.Builder
	for _, text := range []string{string(page), `{"hasMore":false,"records":[` + string(record) + `]}`} {
		notes, err := portaltest.Harvest(t, (&registry{text: text}).source(), "")
		if err != nil {
			t.Fatal(err)
		}
		yields.WriteString(notes.Yield())
	}
	portaltest.Golden(t, "yields.golden", yields.String())
}

func FuzzMagdaRecords(f *testing.F) {
	f.Add(
		[]byte(
			`{"aspects":{"dcat-dataset-strings":{"title":"x","spatial":"1,2,3,4"},"dataset-distributions":{"distributions":[{"aspects":{"` +
				`dcat-distribution-strings":{"accessURL":"x"}}}]}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if v, err := loose.Parse(text); err == nil {
			_, _ = magdaRead(t.Context(), &portalapi.Harvest{Root: "https://data.example"}, "1", v) // must not panic
		}
	})
}
