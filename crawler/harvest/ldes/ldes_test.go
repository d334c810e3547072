package ldes

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"odarchive/crawler/harvest/portaltest"
)

// site serves Turtle documents by path. The ones that begin with "!" are immutable.
func site(documents map[string]string) (Source, *portaltest.Web) {
	web := &portaltest.Web{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := documents[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		tag := fmt.Sprintf(`"%d"`, len(body))
		if w.Header().Set("ETag", tag); r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		body, immutable := strings.CutPrefix(body, "!")
		if immutable {
			w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		}
		w.Header().Set("Content-Type", "text/turtle")
		fmt.Fprint(w, prefixes, body)
	})}
	return Source{URL: "http://s.example/root", HTTP: web}, web
}

const prefixes = `@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> . @prefix tree: <https://w3id.org/tree#> . @prefix ldes: <https://w3id.org/ldes#> .
@prefix as: <https://www.w3.org/ns/activitystreams#> . @prefix : <http://s.example/d/> . @base <http://s.example/> .
`

// dataset returns a member: a version of a dataset with a title and a file.
func dataset(name string, n int, time string) string {
	return fmt.Sprintf(`<stream> tree:member <v/%[1]s-%[2]d> . <v/%[1]s-%[2]d> a dcat:Dataset ; dct:isVersionOf :%[1]s ; dct:title "%[1]s %[2]d" ; dct:issued "%[3]s" ;
	dcat:distribution [ a dcat:Distribution ; dcat:downloadURL <file/%[1]s.csv> ] .
`, name, n, time)
}

func titles(n *portaltest.Notes) (list []string) {
	for _, d := range n.Datasets {
		list = append(list, d.IRI+" "+d.Title[0].Value)
	}
	return list
}

func TestAStreamOfDatasetsIsReadOncePageByPage(t *testing.T) {
	t.Parallel()
	documents := map[string]string{
		"/root": `<stream> a ldes:EventStream ; tree:view <root> ; ldes:versionOfPath dct:isVersionOf ; ldes:timestampPath dct:issued . ` +
			`<root> tree:relation [ tree:node <1> ], [ tree:node <2#x> ] .`,
		"/1": "!" + dataset("a", 0, "2026-01-01") + dataset("a", 1, "2026-01-02") + dataset("b", 0, "2026-01-03") +
			`<1> tree:relation [ tree:node <root> ], [ tree:node <http://elsewhere.example/> ] .`,
		"/2": "!" + dataset("a", 2, "2025-12-31") + dataset("c", 0, "2026-01-04") + `<2> tree:relation [ tree:node <3> ] .`,
		"/3": dataset("b", 1, "2026-01-05"),
	}
	s, web := site(documents)
	n, err := portaltest.Harvest(t, s, "")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"http://s.example/d/a a 1", "http://s.example/d/b b 0", "http://s.example/d/c c 0", "http://s.example/d/b b 1"}
	if got := titles(n); !slices.Equal(got, want) || n.Whole || n.Portals[0].IRI != "http://s.example/stream" ||
		len(n.Datasets[0].Distributions) != 1 || n.Datasets[0].Distributions[0].URL != "http://s.example/file/a.csv" {
		t.Errorf("%q, want %q; %+v", got, want, n.Portals)
	}
	if len(n.Skipped) != 1 || !strings.Contains(n.Skipped[0], "elsewhere.example") {
		t.Errorf("skipped %q", n.Skipped)
	}
	web.Requests.Store(0)
	again, err := portaltest.Harvest(t, s, n.NextMark)
	if err != nil || len(again.Datasets) != 0 || web.Requests.Load() != 2 { // the root, and page 3, which is not modified
		t.Errorf("again: %v, %q, %d requests", err, titles(again), web.Requests.Load())
	}
	documents["/3"] = "!" + dataset("b", 1, "2026-01-05") + dataset("d", 0, "2026-01-06") +
		`<stream> tree:member <gone> . <gone> a as:Delete ; dct:isVersionOf :c ; dct:issued "2026-01-07" . <3> tree:relation [ tree:node ` +
		`<4> ] .`
	documents["/4"] = `<stream> tree:member <v/file> . <v/file> dct:isVersionOf <http://data.example/x.csv> ; dcat:mediaType "text/csv" ` +
		`; dct:issued "2026-01-08" .`
	later, err := portaltest.Harvest(t, s, again.NextMark)
	if err != nil || !slices.Equal(titles(later), []string{"http://s.example/d/b b 1", "http://s.example/d/d d 0"}) ||
		!slices.Equal(later.GoneIRIs, []string{"http://s.example/d/c"}) ||
		len(later.Seeds) != 1 || later.Seeds[0].URL != "http://data.example/x.csv" || later.Seeds[0].MediaType != "text/csv" {
		t.Errorf("later: %v, %q, %q, %+v", err, titles(later), later.GoneIRIs, later.Seeds)
	}
}

func TestAnInterruptedHarvestOfAStreamContinues(t *testing.T) {
	t.Parallel()
	documents := map[string]string{"/root": `<stream> tree:view <root> . <root> tree:relation [ tree:node <p/0> ] .`}
	const pages = 30
	for i := range pages {
		documents[fmt.Sprintf("/p/%d", i)] = "!" + dataset(fmt.Sprint("d", i), 0, "2026-01-01") +
			fmt.Sprintf(`<p/%d> tree:relation [ tree:node <p/%d> ] .`, i, i+1)
	}
	documents[fmt.Sprintf("/p/%d", pages)] = dataset("last", 0, "2026-01-02")
	s, _ := site(documents)
	portaltest.Resumes(t, s)
}

func TestWhatIsNoStreamIsAnError(t *testing.T) {
	t.Parallel()
	for name, root := range map[string]string{"no stream": `<a> dct:title "A" .`, "not RDF": `<a>`, "missing": ""} {
		documents := map[string]string{"/root": root}
		if root == "" {
			documents = nil
		}
		s, _ := site(documents)
		if n, err := portaltest.Harvest(t, s, ""); err == nil {
			t.Errorf("%s: %+v", name, n)
		}
	}
	s, _ := site(map[string]string{"/root": `<root> tree:relation [ tree:node <missing> ] .`})
	if _, err := portaltest.Harvest(t, s, ""); err == nil {
		t.Error("a page is missing, and the harvest is complete")
	}
}
