package ui_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/sparqlapi/describe/about"
	"odarchive/ui"

	"golang.org/x/net/html"
)

// checkData tests what a page says of itself to search engines: JSON that cannot end its element, with what datasets
// must have by the rules of Google's dataset search.
func checkData(t *testing.T, address string, n *html.Node) {
	t.Helper()
	if n.FirstChild == nil || n.FirstChild != n.LastChild || strings.ContainsAny(n.FirstChild.Data, "<>") {
		t.Errorf("%s: the JSON-LD holds markup", address)
		return
	}
	var d struct {
		Type         string           `json:"@type"`
		Name         string           `json:"name"`
		Description  string           `json:"description"`
		URL          string           `json:"url"`
		Distribution []map[string]any `json:"distribution"`
	}
	if err := json.Unmarshal([]byte(n.FirstChild.Data), &d); err != nil {
		t.Errorf("%s: %v", address, err)
		return
	}
	if n := len([]rune(d.Description)); d.Type != "Dataset" || d.Name == "" || d.URL == "" || n < 50 || n > 5000 {
		t.Errorf("%s: %+v", address, d)
	}
	for _, f := range d.Distribution {
		if f["@type"] != "DataDownload" || f["contentUrl"] == nil {
			t.Errorf("%s: %v", address, f)
		}
	}
}

// says is what a portal says of every dataset: with markup, and with addresses that must not become links.
func says(_ context.Context, iris ...string) (map[string]about.Dataset, error) {
	d := about.Dataset{
		Title: []about.Text{{Value: "Trees", Lang: "en"}},
		Description: []about.Text{{Value: "<p>All <b>trees</b> of the city, 3 < 4 &amp; old.</p><script>alert(1)</script>", Lang: "en"},
			{Value: "Alle Bäume", Lang: "de"}},
		Keywords:  []about.Text{{Value: "trees"}, {Value: "</script><script>alert(2)</script>"}},
		Themes:    []about.Thing{{IRI: "http://publications.europa.eu/resource/authority/data-theme/ENVI", Label: "Environment"}},
		Publisher: about.Agent{Name: "City of Trees", IRI: "javascript:alert(3)"},
		Contact:   about.Agent{Name: "The desk", Mail: "desk@city.example"},
		Licence:   about.Thing{IRI: "https://creativecommons.org/licenses/by/4.0/", Label: "CC BY 4.0"},
		Frequency: about.Thing{Label: "every month"}, Issued: "2020-02-03", Modified: "soon",
		Temporal: []about.Period{{Start: "2019-01-01"}},
	}
	all := map[string]about.Dataset{}
	for _, iri := range iris {
		all[iri] = d
	}
	return all, nil
}

func TestTheDatasetPageSaysWhatThePortalSays(t *testing.T) {
	t.Parallel()
	w := newWorld()
	h := siteOf(w, func(o *ui.Options) { o.About = says })
	address := "/dataset?url=" + "https%3A%2F%2Fportal.city.example%2Fdataset%2F" + w.resources[0].ID[:6]
	res := get(t, h, address)
	text := body(t, res)
	for _, want := range []string{"City of Trees", ">CC BY 4.0</a>", "mailto:desk@city.example", "Environment", "every month",
		"1 January 2019", "3 February 2020", "soon", "How it changes", "The first rows of", "species",
		"All trees of the city, 3 &lt; 4 &amp; old", "Alle Bäume", `lang="de"`, "/search?q=trees",
		"/get/file/http://data.city.example/trees.csv", `rel="canonical"`, `name="description"`} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, bad := range []string{"<script>alert", "javascript:", "ZgotmplZ"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	doc, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	check(t, address, doc)
	if res.StatusCode != 200 || len(text) > 20<<10 {
		t.Errorf("status %d, %d bytes", res.StatusCode, len(text))
	}
	file := body(t, get(t, h, "/dataset?url=http%3A%2F%2Fdata.city.example%2Ftrees.csv"))
	for _, want := range []string{"Published by City of Trees", ">CC BY 4.0</a>", "All trees of the city", `"isPartOf"`} {
		if !strings.Contains(file, want) {
			t.Errorf("the page of the file lacks %q", want)
		}
	}
}

func TestPagesSaySinceWhenAFileIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld()
	r := &w.resources[0]
	r.Outcome, r.Errors, r.ErrorClass, r.Why = catalog.NoVersion, 2, catalog.ErrHTTPStatus, "the server answered 410 Gone"
	since := w.now.Add(-40 * time.Hour)
	var visits []catalog.Activity
	for i := range 2 {
		visits = append(visits,
			catalog.Activity{ID: "gone" + string(rune('a'+i)), URL: r.URL, Start: since.Add(time.Duration(1-i) * time.Hour),
				End: since.Add(time.Duration(1-i) * time.Hour), Outcome: catalog.NoVersion, ErrorClass: catalog.ErrHTTPStatus,
				Status: http.StatusGone})
	}
	w.visits = append(visits, w.visits...)
	h := siteOf(w, func(o *ui.Options) { o.About = says })
	for _, address := range []string{"/dataset?url=http%3A%2F%2Fdata.city.example%2Ftrees.csv",
		"/dataset?url=https%3A%2F%2Fportal.city.example%2Fdataset%2F" + r.ID[:6]} {
		text := strings.ToLower(body(t, get(t, h, address)))
		for _, want := range []string{"gone at the source", "since " + strings.ToLower(since.Format("2 January 2006")), "410 gone"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q", address, want)
			}
		}
	}
}
