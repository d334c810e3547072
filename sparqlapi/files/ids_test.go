package files

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"odarchive/crawler/archive"
	"odarchive/sparqlapi/problem"
)

// counting counts what is looked up.
type counting struct {
	BundleArchive
	looked *int
}

func (c counting) Find(ctx context.Context, wanted []archive.Wanted) ([]archive.Stored, error) {
	*c.looked += len(wanted)
	return c.BundleArchive.Find(ctx, wanted)
}

func TestHugeListsOfIDsCostLittle(t *testing.T) {
	t.Parallel()
	w, looked := sample(t), 0
	h := &BundleHandler{Archive: counting{w, &looked}, Contents: w.store, Mint: mint, Limit: 100}
	post := func(body string) (int, string) {
		rec := httptest.NewRecorder()
		problem.Handler(h.ByID).ServeHTTP(rec, httptest.NewRequest("POST", "/get/files", strings.NewReader(body)))
		return rec.Code, rec.Body.String()
	}
	list := func(n int, id func(int) string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, ",%q", id(i))
		}
		return "[" + b.String()[1:] + "]"
	}
	if status, body := post(list(200_000, func(i int) string { return fmt.Sprint("nobody", i) })); status != 404 || looked > idsAtOnce {
		t.Errorf("unknown ids: %d %s after %d look-ups", status, body, looked)
	}
	looked = 0
	if status, body := post(list(1_000_000, func(int) string { return "a" })); status != 404 || looked > 1 {
		t.Errorf("an id a million times: %d %s after %d look-ups", status, body, looked)
	}
	looked = 0
	if status, body := post(list(maxIDs+1, func(i int) string { return fmt.Sprint(i) })); status != 413 || looked > 0 {
		t.Errorf("too many ids: %d %s after %d look-ups", status, body, looked)
	}
	for _, bad := range []string{"", "[", `["a"`, `["a",]`, `["a"] "b"`, `{"a":1}`, `[1]`, `[["a"]]`, `"a"`, `["a\`} {
		if status, body := post(bad); status != 400 || !strings.Contains(body, "array") {
			t.Errorf("%q: %d %s", bad, status, body)
		}
	}
	id := w.order[1][strings.LastIndex(w.order[1], "/")+1:]
	if status, _ := post(list(10_000, func(int) string { return id })); status != 200 {
		t.Errorf("a known id ten thousand times: %d", status)
	}
}
