package ui_test

import (
	"context"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"odarchive/crawler/catalog"
	"odarchive/triplestore/term"
	"odarchive/ui"
)

// Every line of a figure is named as people do, and leads to its files: to a search, a page, or a query with its term.
func TestLinesOfStatisticsLeadToTheirFiles(t *testing.T) {
	t.Parallel()
	w := newWorld()
	var queries []string
	h := siteOf(w, func(o *ui.Options) {
		o.Select = func(_ context.Context, query string, _ int) (ui.Rows, error) {
			row := func(first, second term.Key, more ...term.Key) ui.Rows {
				return ui.Rows{Rows: [][]term.Key{append([]term.Key{first, second}, more...)}}
			}
			n := term.Typed("7", "http://www.w3.org/2001/XMLSchema#integer")
			switch {
			case strings.Contains(query, "?month"):
				r := row(term.String("2026-09"), n)
				r.Rows = append(r.Rows, []term.Key{term.String("2026-10"), term.Typed("5000", "http://www.w3.org/2001/XMLSchema#integer")})
				return r, nil
			case strings.Contains(query, "?publisher"):
				return row(term.String("City & <Council>"), n), nil
			case strings.Contains(query, "?portal"):
				return row(term.IRI("https://portal.city.example/"), n, term.String("City <open> data")), nil
			case strings.Contains(query, "csvw:delimiter"):
				return row(term.String(`"; } #\`), n), nil
			case strings.Contains(query, "?datatype"):
				return row(term.IRI("http://www.w3.org/2001/XMLSchema#date"), n), nil
			case strings.Contains(query, "?type"):
				return row(term.String("text/csv"), n), nil
			case strings.Contains(query, "arc:httpStatus ?status"):
				return row(term.Typed("410", "http://www.w3.org/2001/XMLSchema#integer"), n), nil
			}
			return ui.Rows{}, nil
		}
	})
	text := body(t, get(t, h, "/statistics"))
	for _, want := range []string{`href="/dataset?url=https%3A%2F%2Fportal.city.example%2F">City &lt;open&gt; data</a>`,
		`href="/search?type=text%2Fcsv">CSV</a>`, ">date</a>", "5.0 KB", "Sep 2026",
		`href="/search?outcome=no-version&amp;portal=https%3A%2F%2Fportal.city.example%2F">City &lt;open&gt; data</a>`,
		`href="/search?outcome=no-version&amp;publisher=City&#43;%26&#43;%3CCouncil%3E">City &amp; &lt;Council&gt;</a>`,
		`href="/search?publisher=City&#43;%26&#43;%3CCouncil%3E">`, "What is broken"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, m := range regexp.MustCompile(`href="/console\?query=([^"]*)"`).FindAllStringSubmatch(text, -1) {
		q, err := url.QueryUnescape(strings.ReplaceAll(m[1], "&#43;", "+"))
		if err != nil {
			t.Fatal(err)
		}
		queries = append(queries, q)
	}
	all := strings.Join(queries, "\n")
	for _, want := range []string{`csvw:delimiter "\"; } #\\" .`, `csvw:datatype <http://www.w3.org/2001/XMLSchema#date> ;`,
		`arc:httpStatus "410"^^<http://www.w3.org/2001/XMLSchema#integer> ;`} {
		if !strings.Contains(all, want) {
			t.Errorf("no query has %q", want)
		}
	}
	if strings.Contains(all, "%!") || strings.Contains(all, "%s") {
		t.Error("a query has a place without a term")
	}
}

func TestPortalsSayHowManyOfTheirFilesFail(t *testing.T) {
	t.Parallel()
	w := newWorld()
	for i := range w.resources {
		if w.resources[i].Title == "Gone" {
			w.resources[i].Outcome = catalog.NoVersion
		}
	}
	text := body(t, get(t, siteOf(w, func(*ui.Options) {}), "/portals"))
	if !strings.Contains(text, "outcome=no-version") || !strings.Contains(text, "Failing") {
		t.Errorf("%s", text)
	}
}
