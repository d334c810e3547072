package magda

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"odarchive/crawler/harvest/loosejson"
	"odarchive/crawler/harvest/portaltest"
	"odarchive/testdata/shared"
)

// registry serves pages of three records of n, or one text.
func registry(n int, text string) Source {
	return Source{URL: "https://data.example/search?q=x", Rows: 3, HTTP: &portaltest.Web{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/v0/registry/records" || r.FormValue("aspect") != "dcat-dataset-strings" {
			http.NotFound(w, r)
			return
		}
		if text != "" {
			fmt.Fprint(w, text)
			return
		}
		first := 0
		fmt.Sscan(r.FormValue("pageToken"), &first)
		var list []string
		for i := first; i < min(first+3, n); i++ {
			list = append(list, fmt.Sprintf(`{"id":"ds-%d","name":"Set %d","aspects":{"dcat-dataset-strings":{"title":"Set %d"}}}`, i, i, i))
		}
		fmt.Fprintf(w, `{"hasMore":%v,"nextPageToken":"%d","records":[%s]}`, first+3 < n, first+3, strings.Join(list, ","))
	})}}
}

func TestRecordsComeByTheirTokens(t *testing.T) {
	t.Parallel()
	notes, err := portaltest.Harvest(t, registry(8, ""), "")
	if err != nil || len(notes.Datasets) != 8 {
		t.Fatalf("%v, %d records", err, len(notes.Datasets))
	}
	portaltest.Resumes(t, registry(8, ""))
	if _, err := portaltest.Harvest(t, registry(0, `{"error":"x"}`), ""); err == nil || !strings.Contains(err.Error(), "an answer without records") {
		t.Fatal(err)
	}
}

func TestRealRecords(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(shared.Data(t, "portals", "magda"), "magda-gateway/src/test/sampleRegistryResponses/ckanDatasetQuery.json"))
	if err != nil {
		t.Fatal(err)
	}
	record, err := os.ReadFile(filepath.Join(shared.Data(t, "portals", "magda"), "magda-int-test/src/test/resources/sampleDatasets/wa1-with-invalid-spatial-data.json"))
	if err != nil {
		t.Fatal(err)
	}
	var yields strings.Builder
	for _, text := range []string{string(page), `{"hasMore":false,"records":[` + string(record) + `]}`} {
		notes, err := portaltest.Harvest(t, registry(0, text), "")
		if err != nil {
			t.Fatal(err)
		}
		yields.WriteString(notes.Yield())
	}
	portaltest.Golden(t, "yields.golden", yields.String())
}

func FuzzRecords(f *testing.F) {
	f.Add([]byte(`{"aspects":{"dcat-dataset-strings":{"title":"x","spatial":"1,2,3,4"},"dataset-distributions":{"distributions":[{"aspects":{"dcat-distribution-strings":{"accessURL":"x"}}}]}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if v, err := loosejson.Parse(text); err == nil {
			(&client{root: "https://data.example"}).dataset("1", v)
		}
	})
}
