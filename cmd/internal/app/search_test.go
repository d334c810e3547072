package app

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// searched is an archive of some files, and what it answers.
type searched struct {
	t *testing.T
	h http.Handler
}

func (s searched) get(address, accept string) string {
	s.t.Helper()
	r := httptest.NewRequest("GET", address, nil)
	r.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	s.h.ServeHTTP(w, r)
	if w.Code != 200 {
		s.t.Fatalf("GET %s: %d %s", address, w.Code, w.Body)
	}
	return w.Body.String()
}

// pageFiles returns the files of a page of results, in order.
func pageFiles(page string) (files []string) {
	for _, m := range regexp.MustCompile(`class="title" href="/dataset\?url=([^"]+)"`).FindAllStringSubmatch(page, -1) {
		file, _ := url.QueryUnescape(html.UnescapeString(m[1]))
		files = append(files, file)
	}
	return files
}

func statistics(t *testing.T) (searched, string) {
	t.Helper()
	files := map[string]string{
		"/population-vienna-2023.csv": "district,population\nFavoriten,1\nSimmering,2\n",
		"/population-vienna-2024.csv": "district,population\nFavoriten,3\nSimmering,4\nSimmering,5\n",
		"/population-vienna.json":     `[{"district":"Favoriten","population":1}]`, "/population-graz.csv": "district,population\nLend,1\n",
		"/trees-vienna.csv": "district,tree\nFavoriten,oak\nFavoriten,elm\n", "/budget.csv": "line,amount\nschools,1\n",
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/csv")
		if strings.HasSuffix(r.URL.Path, ".json") {
			w.Header().Set("Content-Type", "application/json")
		}
		io.WriteString(w, body)
	}))
	t.Cleanup(web.Close)
	var list []string
	for path := range files {
		list = append(list, web.URL+path)
	}
	slices.Sort(list)
	return searched{t, crawled(t, list...)}, web.URL
}

func TestASearchFindsTheSameOnItsPageInJSONInAQueryAndInAZip(t *testing.T) {
	t.Parallel()
	s, web := statistics(t)
	for query, want := range map[string]int{
		"q=population":                        4,
		"q=vienna+population&type=text/csv":   2,
		"q=vienna+-population":                1,
		"q=favoriten":                         0, // how many is not asked: values of few rows may not be frequent
		"q=simmering+OR+budget":               0,
		"q=poplation+vienna":                  3,
		"q=vienna+marsmission":                4,
		"type=csv&since=30d":                  5,
		"q=url:trees+rows:>1":                 1,
		`q="population+vienna"&type=text/csv`: 2,
	} {
		page := s.get("/search?"+query, "text/html")
		files := pageFiles(page)
		if want > 0 && len(files) != want {
			t.Errorf("%s: %d files on the page, want %d", query, len(files), want)
		}
		var answer struct {
			Hits        []struct{ URL string }
			Query, Text string
		}
		if err := json.Unmarshal([]byte(s.get("/api/v1/search?limit=100&"+query, "application/json")), &answer); err != nil {
			t.Fatal(err)
		}
		var hits []string
		for _, h := range answer.Hits {
			hits = append(hits, h.URL)
		}
		if !slices.Equal(hits, files) {
			t.Errorf("%s: %q in JSON, %q on the page", query, hits, files)
		}
		if again := pageFiles(s.get("/search?q="+url.QueryEscape(answer.Text), "text/html")); !slices.Equal(again, files) {
			t.Errorf("%s: the text %s finds %q, not %q", query, answer.Text, again, files)
		}
		var rows []string
		for line := range strings.Lines(s.get("/sparql?query="+url.QueryEscape(answer.Query), "text/csv")) {
			if file, _, _ := strings.Cut(line, ","); strings.HasPrefix(file, web) {
				rows = append(rows, file)
			}
		}
		if !sameScores(rows, files) {
			t.Errorf("%s: %q in the query, %q on the page", query, rows, files)
		}
		if len(files) == 0 {
			continue
		}
		m := regexp.MustCompile(`name="q" value="(SELECT|PREFIX)([^"]*)"`).FindStringSubmatch(page)
		if m == nil {
			t.Errorf("%s: the page has no zip", query)
			continue
		}
		if n := len(zipped(t, s.get("/get/files/sparql?q="+url.QueryEscape(html.UnescapeString(m[1]+m[2])), "*/*"))); n != len(files) {
			t.Errorf("%s: %d files in the zip, %d on the page", query, n, len(files))
		}
	}
}

// sameScores reports whether two lists have the same files. Files of one score may be in another order in a query.
func sameScores(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// zipped returns the names of the archived files in a zip.
func zipped(t *testing.T, body string) (names []string) {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader([]byte(body)), int64(len(body)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range z.File {
		if strings.Contains(f.Name, "/") {
			names = append(names, f.Name)
		}
	}
	return names
}

// A person finds every CSV file about population in Vienna that changed since last month and downloads it, by the links
// and forms of the pages alone.
func TestJourneyFromAQuestionToTheFiles(t *testing.T) {
	t.Parallel()
	s, _ := statistics(t)
	page := s.get("/search?q=vienna+population", "text/html")
	follow := func(label string) {
		t.Helper()
		m := regexp.MustCompile(`<a href="(/search\?[^"]+)"><span class="clip">` + label + `</span>`).FindStringSubmatch(page)
		if m == nil {
			t.Fatalf("no link %q on the page: %s", label, page)
		}
		page = s.get(html.UnescapeString(m[1]), "text/html")
	}
	follow("CSV")
	if files := pageFiles(page); len(files) != 2 || !strings.Contains(page, "<mark>") {
		t.Fatalf("files %q", files)
	}
	// All files are of today, so the facet of time says nothing and is left out. Its filter works nevertheless.
	m := regexp.MustCompile(
		`<link rel="alternate" type="application/atom\+xml" title="Changes" href="(/feed.atom\?q=[^"]+)"`).FindStringSubmatch(page)
	if m == nil {
		t.Fatal("no feed of the search")
	}
	if feed := s.get(html.UnescapeString(m[1]), "application/atom+xml"); strings.Count(feed, "<entry>") != 2 {
		t.Errorf("feed of the search: %s", feed)
	}
	page = s.get("/search?q=vienna+population+type:csv+since:30d", "text/html")
	form := regexp.MustCompile(
		`(?s)<form class="zip" action="([^"]+)" method="get">\s*<input type="hidden" name="q" value="([^"]*)">`).FindStringSubmatch(page)
	if form == nil {
		t.Fatalf("no download on the page: %s", page)
	}
	names := zipped(t, s.get(form[1]+"?q="+url.QueryEscape(html.UnescapeString(form[2])), "*/*"))
	if len(names) != 2 || !strings.Contains(fmt.Sprint(names), "population-vienna-2023.csv") ||
		!strings.Contains(fmt.Sprint(names), "population-vienna-2024.csv") {
		t.Errorf("the zip has %q", names)
	}
	empty := s.get("/search?q=\"nothing+of+this+kind\"", "text/html")
	if !strings.Contains(empty, "No file matches") || !strings.Contains(empty, "fewer words") {
		t.Errorf("an empty result does not say what to do: %s", empty)
	}
	r := httptest.NewRequest("GET", "/search?q="+strings.Repeat("(a|b)*+OR+", 10_000), nil)
	r.Header.Set("Accept", "text/html")
	w := httptest.NewRecorder()
	s.h.ServeHTTP(w, r)
	if w.Code != 400 || !strings.Contains(w.Body.String(), "at most 2000 characters") || w.Body.Len() > 40_000 {
		t.Errorf("a search of 100 KB: %d, %d bytes", w.Code, w.Body.Len())
	}
}
