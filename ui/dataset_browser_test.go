//go:build browser

package ui_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/go-chi/chi/v5"

	"odarchive/crawler/catalog"
	"odarchive/ui"
)

// portalWorld is the world with what portals say of its datasets, with citations, and with a portal whose files fail.
func portalWorld() (pages http.Handler, dataset string) {
	w := newWorld()
	w.resources[0].Outcome, w.resources[0].Errors, w.resources[0].ErrorClass, w.resources[0].Why = catalog.NoVersion, 3,
		catalog.ErrHTTPStatus, "the server answered 410 Gone"
	dataset = w.resources[0].Datasets[0]
	inner := siteOf(w, func(o *ui.Options) {
		o.About = says
		o.Select = withQueriesSelect
		o.Cite = func(_ context.Context, version, address string) (ui.Citation, error) {
			return ui.Citation{Text: "City of Trees (2020). Trees [Data set]. " + address + version,
				Formats: []string{"bibtex", "ris", "csl", "datacite"}}, nil
		}
	})
	r := chi.NewRouter()
	r.Get("/dataset", func(rw http.ResponseWriter, req *http.Request) {
		if req.URL.Query().Get("format") == "bibtex" {
			rw.Header().Set("Content-Type", "text/plain; charset=utf-8")
			fmt.Fprint(rw, "@dataset{trees, title = {Trees}}")
			return
		}
		inner.ServeHTTP(rw, req)
	})
	r.NotFound(inner.ServeHTTP)
	return r, "/dataset?url=" + url.QueryEscape(dataset)
}

// withQueriesSelect answers the queries of pages with nothing.
func withQueriesSelect(context.Context, string, int) (ui.Rows, error) { return ui.Rows{}, nil }

// TestBrowserPagesOfPortalsOnEveryWidth runs axe-core over the pages of datasets, portals and statistics, and looks for
// what is wider than the window.
func TestBrowserPagesOfPortalsOnEveryWidth(t *testing.T) {
	axe, err := os.ReadFile("node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Skip("axe-core is not installed (npm ci --ignore-scripts)")
	}
	ctx, end := openBrowser(t)
	defer end()
	pages, dataset := portalWorld()
	w := newWindow(t, ctx, pages)
	for _, look := range []struct {
		dark  bool
		width int64
	}{{false, 1440}, {true, 768}, {false, 390}, {true, 390}} {
		w.media(look.dark, look.width, 900)
		for _, path := range []string{dataset, "/dataset?url=http%3A%2F%2Fdata.city.example%2Ftrees.csv", "/portals",
			"/dataset?url=https%3A%2F%2Fportal.city.example%2F", "/statistics"} {
			at := fmt.Sprintf("%s at %d, dark %v", path, look.width, look.dark)
			w.open(path)
			eval[bool](w, string(axe)+`;true`)
			for _, v := range eval[[]string](w,
				`axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations.map((v) => v.id + ": " + v.nodes.map((n) => `+
					`n.html.slice(0, 160) + " | " + n.failureSummary.slice(0, 200)).join("; ")))`) {
				t.Errorf("%s: %s", at, v)
			}
			if over := eval[int](w, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
				t.Errorf("%s: the page is %d pixels wider than the window", at, over)
			}
			w.report(at)
		}
	}
}

// TestBrowserCitesADatasetAndSubscribes is the way of somebody who writes a paper: from the page of a dataset to its
// citation, and to the feed of its changes.
func TestBrowserCitesADatasetAndSubscribes(t *testing.T) {
	ctx, end := openBrowser(t)
	defer end()
	pages, dataset := portalWorld()
	w := newWindow(t, ctx, pages)
	w.media(false, 390, 800)
	w.open(dataset)
	if cite := eval[string](w, `document.querySelector(".cite").textContent`); !strings.Contains(cite, "City of Trees (2020)") {
		t.Errorf("the citation is %q", cite)
	}
	feed := eval[string](w, `document.querySelector('link[type="application/atom+xml"]').getAttribute("href")`)
	if seen := eval[string](w,
		`document.querySelector('.feed a[type="application/atom+xml"]').getAttribute("href")`); !strings.HasPrefix(feed,
		"/feed.atom?dataset=") || seen != feed {
		t.Errorf("feeds at %q and %q", feed, seen)
	}
	w.do(chromedp.Click(chromedp.CSS(`.formats a[href*="format=bibtex"]`)))
	w.until(`document.body && document.body.textContent.includes("@dataset{trees")`)
}

// TestBrowserFindsThePortalsThatAreBroken goes from the list of portals to the files that fail.
func TestBrowserFindsThePortalsThatAreBroken(t *testing.T) {
	ctx, end := openBrowser(t)
	defer end()
	pages, _ := portalWorld()
	w := newWindow(t, ctx, pages)
	w.media(false, 1440, 900)
	w.open("/")
	w.do(chromedp.Click(chromedp.CSS(`nav a[href="/portals"]`)))
	w.until(`location.pathname === "/portals" && document.querySelector('td a[href*="outcome=no-version"]')`)
	w.do(chromedp.Click(chromedp.CSS(`td a[href*="outcome=no-version"]`)))
	w.until(
		`location.pathname === "/search" && location.search.includes("outcome=no-version") && document.querySelector(".resources .title")`)
}
