package ui_test

import (
	"net/url"
	"strings"
	"testing"
)

// The page of a row leads to its history, and the history to those of its cells.
func TestARowLeadsToItsHistory(t *testing.T) {
	t.Parallel()
	w := newWorld()
	h := site(w)
	trees := w.versions["http://data.city.example/trees.csv"]
	row := body(t, get(t, h, "/table/"+trees[3].ID+"?row=55"))
	_, rest, found := strings.Cut(row, `href="/history?`)
	query, _, _ := strings.Cut(rest, `"`)
	if !found {
		t.Fatalf("the page of a row has no link to its history: %.2000s", row)
	}
	page := body(t, get(t, h, "/history?"+strings.ReplaceAll(query, "&amp;", "&")))
	for _, want := range []string{"The row where id is 55.", "4 of 4", "/table/" + trees[3].ID + "?row=55", ">height</a>: <del>",
		`href="/diff?from=` + trees[2].ID, "format=json"} {
		if !strings.Contains(page, want) {
			t.Errorf("the history lacks %q: %s", want, page)
		}
	}
	cell := body(t, get(t, h, "/history?"+url.Values{"url": {trees[0].URL}, "where": {"id=55"}, "column": {"height"}}.Encode()))
	for _, want := range []string{"History of height", "The whole row", "<svg"} {
		if !strings.Contains(cell, want) {
			t.Errorf("the history of a cell lacks %q: %s", want, cell)
		}
	}
	if size := len(page) + len(cell); size > 40<<10 {
		t.Errorf("two pages have %d bytes", size)
	}
	for path, want := range map[string]int{"/history": 400, "/history?version=" + trees[3].ID + "&row=9999": 404,
		"/history?version=x&row=1": 404, "/history?url=http://unknown.example/&where=a%3D1": 404} {
		if got := get(t, h, path).StatusCode; got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
}
