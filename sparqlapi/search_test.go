package sparqlapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"odarchive/sparqlapi/openapi/contract"
)

func TestASearchInJSON(t *testing.T) {
	t.Parallel()
	h, a := server(t, nil)
	res := ask(h, "GET", "/api/v1/search?q=tree&type=text/csv&limit=2", "")
	body := text(t, res)
	var got struct {
		Total       int
		Text, Query string
		Next        string
		Facets      map[string][]struct{ Value string }
		Hits        []struct {
			URL, Publisher, Licence, Text, Latest string
			Score                                 float64
		}
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil || res.StatusCode != 200 {
		t.Fatalf("%d %s", res.StatusCode, body)
	}
	if got.Total != len(a.resources) || got.Text != "tree type=text/csv" ||
		!strings.Contains(got.Query, `arc:search ("tree type=text/csv" ?score)`) || got.Facets["since"][0].Value != "30d" ||
		got.Hits[0].Publisher != "Somebody" || got.Hits[0].Text != "A tree" || got.Hits[0].Score != 1.5 || got.Hits[0].Latest == "" {
		t.Errorf("%+v", got)
	}
	if link := res.Header.Get("Link"); !strings.Contains(link, `/api/v1/search?after=mark&limit=2&q=tree&type=text%2Fcsv>; rel="next"`) {
		t.Errorf("link %s", link)
	}
	schemas, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range schemas.Answer(schemas.Paths["/api/v1/search"]["get"], 200, res.Header.Get("Content-Type"), []byte(body)) {
		t.Error(fault)
	}
	for _, query := range []string{"q=broken", "limit=0", "limit=1000", "sort=colour", "since=never", "rows=x"} {
		if res := ask(h, "GET", "/api/v1/search?"+query, ""); res.StatusCode != 400 ||
			res.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %d %s", query, res.StatusCode, text(t, res))
		}
	}
	if body := text(t, ask(h, "GET", "/api/v1/search?facets=0", "")); strings.Contains(body, "facets") {
		t.Errorf("facets were not asked for: %s", body)
	}
}
