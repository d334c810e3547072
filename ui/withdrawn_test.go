package ui_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"odarchive/crawler/catalog"
)

func TestPagesOfAWithdrawnVersionSayWhyAndShowNothingOfIt(t *testing.T) {
	t.Parallel()
	w := newWorld()
	const address = "http://data.city.example/budget.json"
	for i := range w.versions[address] {
		v := &w.versions[address][i]
		v.Withdrawn = &catalog.Withdrawal{At: fixedNow, Reason: "It names <people>.", Basis: "GDPR, Article 17", Status: 451}
	}
	h := site(w)
	ask := func(path string, status int) string {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, httptest.NewRequest("GET", path, nil))
		if rec.Code != status {
			t.Errorf("%s: status %d, want %d", path, rec.Code, status)
		}
		return rec.Body.String()
	}
	id := w.versions[address][1].ID
	version, resource := ask("/version?id="+id, 451), ask("/dataset?url="+address, 200)
	for _, page := range []string{version, resource} {
		if !strings.Contains(page, "It names &lt;people&gt;. (legal basis: GDPR, Article 17)") {
			t.Error("a page does not say why")
		}
		for _, hidden := range []string{"12001", "?download=1", "What changed", "<people>"} {
			if strings.Contains(page, hidden) {
				t.Errorf("a page has %q", hidden)
			}
		}
	}
}
