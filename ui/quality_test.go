package ui

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"odarchive/ns"
	"odarchive/triplestore/term"
)

func TestQualityOfAPortalIsATableWithItsQuery(t *testing.T) {
	t.Parallel()
	measured := func(_ context.Context, query string, _ int) (Rows, error) {
		if !strings.Contains(query, "<http://p.example/>") {
			return Rows{Vars: []string{"metric", "mean"}}, nil
		}
		return Rows{Vars: []string{"metric", "mean"}, Rows: [][]term.Key{
			{term.IRI("https://archiver.ai.wu.ac.at/ns/csvw#OpennessLicense"),
				term.Typed("0.5", "http://www.w3.org/2001/XMLSchema#decimal")},
			{term.IRI("https://archiver.ai.wu.ac.at/ns/csvw#ExistenceAccess"),
				term.Typed("1.0", "http://www.w3.org/2001/XMLSchema#decimal")}}}, nil
	}
	u := &UI{query: measured, mint: ns.Mint{Base: "http://a.example/"}}
	for _, c := range []struct{ portal, want string }{
		{
			"http://p.example/",
			`{"portal":"http://p.example/","metrics":[{"dimension":"Existence","metric":"https://archiver.ai.wu.ac.at/ns/csvw#ExistenceAc` +
				`cess","label":"access information","mean":1},{"dimension":"Openness"`},
		{"http://other.example/", "has not been measured"}, {"> } DROP ALL #", "has not been measured"}, {"", "No portal"},
	} {
		w := httptest.NewRecorder()
		err := u.quality(w, httptest.NewRequest(http.MethodGet, "/quality.json?portal="+url.QueryEscape(c.portal), nil))
		got := w.Body.String()
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%q: %s, want %s", c.portal, got, c.want)
		}
	}
}
