package files_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"odarchive/crawler/archive"
	"odarchive/crawler/archive/joins"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/sparqlapi/files"
	"odarchive/sparqlapi/problem"
)

const (
	one     = "0123456789abcdef01234567_0"
	two     = "1123456789abcdef01234567_3"
	damaged = "2123456789abcdef01234567_0"
)

// fake has two tables that share values, and a version whose joins cannot be read.
type fake map[string]catalog.Version

func (f fake) Version(_ context.Context, id string) (catalog.Version, error) {
	if v, ok := f[id]; ok {
		return v, nil
	}
	return catalog.Version{}, fmt.Errorf("version %s: %w", id, archive.ErrNotFound)
}

func (f fake) Latest(_ context.Context, url string) (catalog.Version, error) {
	for _, v := range f {
		if v.URL == url {
			return v, nil
		}
	}
	return catalog.Version{}, fmt.Errorf("resource %s: %w", url, archive.ErrNotFound)
}

func (f fake) Joins(_ context.Context, id string) ([]joins.Match, error) {
	switch id {
	case one:
		m := joins.Match{Column: joins.Place{Version: one, Column: 1}, Name: "district",
			Other: joins.Place{Version: two, Member: "in/b.csv"}, OtherName: "id", Containment: 1, Reverse: 0.5, Jaccard: 0.25}
		return []joins.Match{m, m, m}, nil
	case damaged:
		return nil, errors.New("the disk is on fire")
	}
	return nil, nil
}

func ask(t *testing.T, query string) *httptest.ResponseRecorder {
	t.Helper()
	f := fake{}
	for _, id := range []string{one, two, damaged} {
		f[id] = catalog.Version{ID: id, URL: "http://a.example/" + id[:1]}
	}
	a := &files.RelatedAPI{Archive: f, Mint: ns.Mint{Base: "http://base.example/"}}
	w := httptest.NewRecorder()
	table := problem.Table{{Err: archive.ErrNotFound, Status: 404, Public: true}}
	problem.Use(problem.Options{Table: table})(problem.Handler(a.Joins)).ServeHTTP(w, httptest.NewRequest("GET", "/joins"+query, nil))
	return w
}

func TestColumnsThatShareValuesAreNamedWithTheirTables(t *testing.T) {
	t.Parallel()
	iri := "http://base.example/api/v1/get/file/id/"
	want := `{"version":"` + iri + one + `","url":"http://a.example/0","joins":[{` +
		`"column":{"iri":"` + iri + one + `#2","name":"district","version":"` + iri + one + `","url":"http://a.example/0"},` +
		`"with":{"iri":"` + iri + two + `/member/in/b.csv#1","name":"id","version":"` + iri + two +
		`","url":"http://a.example/1","member":"in/b.csv"},` +
		`"containment":1,"reverse":0.5,"jaccard":0.25}]}`
	for _, query := range []string{"?limit=1&id=" + one, "?limit=1&url=http://a.example/0"} {
		if w := ask(t, query); w.Code != 200 || w.Header().Get("Content-Type") != "application/json" ||
			strings.TrimSpace(w.Body.String()) != want {
			t.Errorf("%s: %d\n%s\nwant\n%s", query, w.Code, w.Body, want)
		}
	}
	for query, n := range map[string]int{"?id=" + one: 3, "?limit=2&id=" + one: 2, "?id=" + two: 0} {
		var got struct{ Joins []any }
		if w := ask(t, query); json.Unmarshal(w.Body.Bytes(), &got) != nil || got.Joins == nil || len(got.Joins) != n {
			t.Errorf("%s: %s", query, w.Body)
		}
	}
}

func TestBadRequestsAreProblems(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]struct {
		status int
		says   string
	}{
		"": {400, "url="}, "?id=nothing_0": {404, "nothing_0"}, "?url=http://nowhere.example/": {404, "nowhere"},
		"?limit=0&id=" + one: {400, "limit"}, "?limit=x&id=" + one: {400, "limit"},
		"?id=" + damaged: {500, "log"},
	} {
		if w := ask(t, query); w.Code != want.status || w.Header().Get("Content-Type") != problem.ContentType ||
			!strings.Contains(w.Body.String(), want.says) {
			t.Errorf("%q: %d %s", query, w.Code, w.Body)
		}
	}
}
