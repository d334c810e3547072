package data_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"odarchive/crawler/archive"
	"odarchive/crawler/archive/tallies"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect/diff"
	"odarchive/ns"
	"odarchive/sparqlapi/data"
	"odarchive/sparqlapi/problem"
)

const (
	trees = "http://a.example/trees.csv" // three versions
	once  = "http://a.example/once.csv"  // one version
	id    = "0123456789abcdef01234567"
)

// fake records what was compared.
type fake struct {
	from, to catalog.Version
	options  diff.Options
	limit    int
}

func (f *fake) Versions(_ context.Context, url string) (list []catalog.Version, err error) {
	n := map[string]int{trees: 3, once: 1}[url]
	if n == 0 {
		return nil, fmt.Errorf("resource %s: %w", url, archive.ErrNotFound)
	}
	for i := range n {
		list = append(list, catalog.Version{ID: ns.VersionID(id, i), URL: url, N: i})
	}
	return list, nil
}

func (f *fake) VersionID(name string) (string, bool) {
	name = strings.TrimPrefix(name, "http://archive.example/api/v1/get/file/id/")
	_, _, ok := ns.SplitVersionID(name)
	return name, ok
}

func (f *fake) Version(_ context.Context, version string) (catalog.Version, error) {
	version, _ = f.VersionID(version)
	resource, n, _ := ns.SplitVersionID(version)
	if resource != id || n > 2 {
		return catalog.Version{}, fmt.Errorf("version %s: %w", version, archive.ErrNotFound)
	}
	return catalog.Version{ID: version, URL: trees, N: n}, nil
}

func (f *fake) Compare(_ context.Context, from, to catalog.Version, o diff.Options) (*diff.Report, error) {
	f.from, f.to, f.options = from, to, o
	if slices.Contains(o.Key, "nonsense") {
		return nil, fmt.Errorf("compare: %w", &diff.KeyError{Column: "nonsense", Columns: []string{"id"}})
	}
	return &diff.Report{Why: "only bytes"}, nil
}

func (f *fake) ChangeStats(_ context.Context, limit int) (tallies.ChangeStats, error) {
	f.limit = limit
	return tallies.ChangeStats{Hosts: make([]tallies.ChangesOf, 1)}, nil
}

func ask(h func(http.ResponseWriter, *http.Request) error, address, accept string) *httptest.ResponseRecorder {
	w, r := httptest.NewRecorder(), httptest.NewRequest("GET", address, nil)
	r.Header.Set("Accept", accept)
	table := problem.Table{{Err: archive.ErrNotFound, Status: 404, Public: true}}
	problem.Use(problem.Options{Table: table})(problem.Handler(h)).ServeHTTP(w, r)
	return w
}

func TestAnyTwoVersionsAreCompared(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"url=" + trees:                                  "1 2",
		"url=" + trees + "&to=1":                        "0 1",
		"url=" + trees + "&from=0":                      "0 2",
		"url=" + trees + "&from=2&to=0":                 "2 0",
		"url=" + trees + "&to=" + id + "_1":             "0 1",
		"from=" + id + "_0&to=" + id + "_2":             "0 2",
		"url=" + once + "&from=" + id + "_2&to=0":       "2 0",
		"url=" + trees + "&from=1&to=1&list=10000&key=": "1 1",
	} {
		f := &fake{}
		a := &data.ChangesAPI{Archive: f}
		if w := ask(a.Diff, "/diff?"+query, ""); w.Code != 200 || fmt.Sprint(f.from.N, " ", f.to.N) != want || len(f.options.Key) > 0 {
			t.Errorf("%s: %d %s: compared %d and %d by %q, want %s", query, w.Code, w.Body, f.from.N, f.to.N, f.options.Key, want)
		}
	}
}

func TestADifferenceComesInTheFormatThatIsAskedFor(t *testing.T) {
	t.Parallel()
	f := &fake{}
	a := &data.ChangesAPI{Archive: f, Page: func(w http.ResponseWriter, r *http.Request) error {
		_, err := io.WriteString(w, "page of "+r.URL.Query().Get("from")+" "+r.URL.Query().Get("to"))
		return err
	}}
	for _, c := range []struct{ format, accept, contentType, says string }{
		{"", "", "application/json", `"why"`}, {"", "*/*", "application/json", `"why"`},
		{"", "text/plain", "text/plain; charset=utf-8", "only bytes"},
		{"csv", "", "text/csv; charset=utf-8", "table,change,row,key"}, {"", "text/csv", "text/csv; charset=utf-8", "table,change,row,key"},
		{"json", "text/html", "application/json", `"why"`}, {"text", "", "text/plain; charset=utf-8", "only bytes"},
		{"html", "", "", "page of " + id + "_1 " + id + "_2"}, {"", "text/html,*/*;q=0.8", "", "page of " + id + "_1 " + id + "_2"},
	} {
		w := ask(a.Diff, "/diff?url="+trees+"&format="+c.format, c.accept)
		if w.Code != 200 || !strings.Contains(w.Body.String(), c.says) || c.contentType != "" &&
			w.Header().Get("Content-Type") != c.contentType || w.Header().Get("Vary") != "Accept" {
			t.Errorf("format %q, Accept %q: %d %v %s", c.format, c.accept, w.Code, w.Header(), w.Body)
		}
	}
	a.Page = nil
	if w := ask(a.Diff, "/diff?url="+trees+"&format=html", ""); w.Code != 200 || !strings.Contains(w.Body.String(), "only bytes") {
		t.Errorf("without pages: %d %s", w.Code, w.Body)
	}
	ask(a.Diff, "/diff?url="+trees+"&list=3&key=id&key=name", "")
	if f.options.List != 3 || !slices.Equal(f.options.Key, []string{"id", "name"}) {
		t.Errorf("options %+v", f.options)
	}
}

func TestBadRequestsAreProblems(t *testing.T) {
	t.Parallel()
	a := &data.ChangesAPI{Archive: &fake{}}
	for _, c := range []struct {
		query, accept string
		status        int
		says          string
	}{
		{"url=http://nowhere.example/", "", 404, "nowhere.example"}, {"url=" + once, "", 404, "only one version"},
		{"", "", 400, "expected url"},
		{"url=" + trees + "&from=3", "", 404, "no version 3"}, {"url=" + trees + "&from=-1", "", 404, "no version -1"},
		{"url=" + trees + "&to=x", "", 400, `to=\"x\"`},
		{"from=" + id + "_7&to=" + id + "_0", "", 404, id + "_7"}, {"url=" + trees + "&list=0", "", 400, "list"},
		{"url=" + trees + "&list=10001", "", 400, "10000"},
		{"url=" + trees + "&format=pdf", "", 400, "pdf"}, {"url=" + trees, "image/png", 406, "text/html"},
		{"url=" + trees + "&key=nonsense", "", 400, "nonsense"},
	} {
		if w := ask(a.Diff, "/diff?"+c.query, c.accept); w.Code != c.status || w.Header().Get("Content-Type") != problem.ContentType ||
			!strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%s: %d %s, want %d with %q", c.query, w.Code, w.Body, c.status, c.says)
		}
	}
}

func TestChangesOfAllAreListedUpToALimit(t *testing.T) {
	t.Parallel()
	f := &fake{}
	a := &data.ChangesAPI{Archive: f}
	for query, want := range map[string]int{"": 100, "?limit=7": 7, "?limit=100000": 100_000} {
		w := ask(a.Stats, "/stats/changes"+query, "")
		var got tallies.ChangeStats
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 200 || f.limit != want || len(got.Hosts) != 1 {
			t.Errorf("%s: %d %s, limit %d, %v", query, w.Code, w.Body, f.limit, err)
		}
	}
	for _, query := range []string{"?limit=0", "?limit=100001", "?limit=all"} {
		if w := ask(a.Stats, "/stats/changes"+query, ""); w.Code != 400 {
			t.Errorf("%s: %d", query, w.Code)
		}
	}
}
