//go:build browser

package ui_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
	"github.com/go-chi/chi/v5"

	"odarchive/sparqlapi/data"
	"odarchive/sparqlapi/problem"
)

// withFiles adds the rows API to the pages.
func withFiles(w *world) http.Handler {
	api := data.NewRows(tablesOf{w})
	r := chi.NewRouter()
	r.Get("/api/v1/get/file/id/{id}/table.{ext}", problem.Handler(api.Table))
	pages := site(w)
	r.NotFound(pages.ServeHTTP)
	return r
}

// TestBrowserExploresTablesOnEveryWidth runs axe-core over the pages of tables, and looks for what is wider than the
// window.
func TestBrowserExploresTablesOnEveryWidth(t *testing.T) {
	axe, err := os.ReadFile("node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Skip("axe-core is not installed (npm ci --ignore-scripts)")
	}
	ctx, end := openBrowser(t)
	defer end()
	world, pages := exploreWorld()
	w := newWindow(t, ctx, withFiles(world))
	for _, look := range []struct {
		dark  bool
		width int64
	}{{false, 1440}, {false, 768}, {true, 390}} {
		w.media(look.dark, look.width, 900)
		for name, path := range pages {
			for _, state := range []string{"", "?row=1"} {
				at := fmt.Sprintf("%s%s at %d, dark %v", name, state, look.width, look.dark)
				w.open(path + state)
				eval[bool](w, string(axe)+`;true`)
				for _, v := range eval[[]string](w,
					`axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations.map((v) => v.id + ": " + v.nodes.map((n) `+
						`=> n.html.slice(0, 160) + " | " + n.failureSummary.slice(0, 200)).join("; ")))`) {
					t.Errorf("%s: %s", at, v)
				}
				if over := eval[int](w, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
					t.Errorf("%s: the page is %d pixels wider than the window", at, over)
				}
				w.report(at)
			}
		}
	}
	w.open(pages["stops"])
	if left := eval[float64](w,
		`(() => { const s = document.querySelector(".explore"); s.scrollLeft = 200; return s.querySelector("tbody `+
			`th").getBoundingClientRect().left - s.getBoundingClientRect().left; })()`); left < 0 || left > 2 {
		t.Errorf("the first column is not fixed: it is at %v", left)
	}
}

// TestBrowserFiltersATableAndDownloadsIt is the way of somebody who wants some of the rows, and then all in Python.
func TestBrowserFiltersATableAndDownloadsIt(t *testing.T) {
	ctx, end := openBrowser(t)
	defer end()
	world, pages := exploreWorld()
	w := newWindow(t, ctx, withFiles(world))
	w.media(false, 1440, 900)
	w.open("/version?id=" + strings.TrimPrefix(pages["stops"], "/table/"))
	w.do(chromedp.Click(chromedp.CSS(`a[href^="/table/"]`)))
	w.until(`location.pathname.startsWith("/table/") && document.querySelector(".explore")`)
	eval[bool](w,
		`(() => { const f = document.querySelector("form.pick[role=search]"); f.elements.c.value = "zone"; f.elements.op.value = "="; `+
			`f.elements.v.value = "rim"; f.requestSubmit(); return true; })()`)
	w.until(`location.search.includes("where=") && document.querySelector(".chip")`)
	w.do(chromedp.Click(chromedp.CSS(`.explore thead a`)))
	w.until(`document.querySelector("th[aria-sort=ascending]")`)
	if got := eval[string](w, `document.querySelector(".summary strong").textContent`); got != "Rows 1 to 20 of 100" {
		t.Errorf("after the filter: %s", got)
	}

	dir := t.TempDir()
	if _, err := chromedp.CallBrowser(w.ctx, browser.SetDownloadBehavior,
		browser.SetDownloadBehaviorParams{Behavior: "allow", DownloadPath: dir}); err != nil {
		t.Fatal(err)
	}
	eval[bool](w, `(() => { [...document.querySelectorAll(".formats a")].find((a) => a.textContent === "CSV").click(); return true; })()`)
	saved := ""
	for deadline := time.Now().Add(60 * time.Second); saved == "" && time.Now().Before(deadline); {
		if names, _ := filepath.Glob(filepath.Join(dir, "*.csv")); len(names) == 1 {
			b, err := os.ReadFile(names[0])
			if err != nil {
				t.Fatal(err)
			}
			saved = string(b)
		}
		eval[bool](w, `new Promise((done) => setTimeout(() => done(true), 50))`)
	}
	if lines := strings.Split(saved, "\n"); len(lines) != 102 || lines[0] != "stop,lat,lon,share,opened,zone" ||
		lines[1] != "Stop 2,48.1515,16.2529,0.025,1952-03-03,rim" {
		t.Errorf("the file has %d lines: %.300q", len(lines), saved)
	}

	code := eval[string](w,
		`[...document.querySelectorAll(".uses h3")].find((h) => h.textContent === "Python, `+
			`pandas").nextElementSibling.querySelector("code").textContent`)
	code = strings.Replace(code, "http://localhost:8080", w.base, 1) // the archive's name is not that of the test's server
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.CommandContext(t.Context(), python, "-c", "import pandas").Run() != nil {
			continue
		}
		out, err := exec.CommandContext(t.Context(), python, "-c",
			code+"\nprint(len(table), round(table['share'].sum(), 6))").CombinedOutput()
		if err != nil || !strings.HasSuffix(strings.TrimSpace(string(out)), "100 50.0") {
			t.Errorf("%s\nprints %s, %v", code, out, err)
		}
		break
	}
	w.report("the way to some rows")
}
