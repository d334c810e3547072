//go:build browser

package ui_test

import (
	"net/http"
	"os"
	"testing"
)

// TestBrowserTriesCallsAndKeepsNoToken opens forms and snippets of the API page in a narrow window and calls two
// operations.
func TestBrowserTriesCallsAndKeepsNoToken(t *testing.T) {
	axe, err := os.ReadFile("node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Skip("axe-core is not installed (npm ci --ignore-scripts)")
	}
	ctx, end := openBrowser(t)
	defer end()
	pages := withQueries(newWorld())
	asked := make(chan string, 10) // Authorization, method and address of calls of the two operations
	w := newWindow(t, ctx, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/crawl/pause" || r.URL.Path == "/get/dataset/id/x" {
			select {
			case asked <- r.Header.Get("Authorization") + " " + r.Method + " " + r.URL.String():
			default:
			}
			rw.Header().Set("Content-Type", "application/json")
			rw.Write([]byte(`{"answered": true}`))
			return
		}
		pages.ServeHTTP(rw, r)
	}))
	w.media(false, 390, 900)
	for _, operation := range []string{"getRows", "query", "crawlPause"} {
		w.open("/api-doc?operation=" + operation)
		w.until(`[...document.querySelectorAll("[data-send]")].every((b) => !b.hidden)`)
		eval[bool](w, `([...document.querySelectorAll("#`+operation+` details")].forEach((d) => d.open = true), true)`)
		eval[bool](w, string(axe)+`;true`)
		for _, v := range eval[[]string](w,
			`axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations.map((v) => v.id + ": " + v.nodes.map((n) => `+
				`n.html.slice(0, 160) + " | " + n.failureSummary.slice(0, 200)).join("; ")))`) {
			t.Errorf("%s: %s", operation, v)
		}
		if over := eval[int](w, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
			t.Errorf("%s: the page is %d pixels wider than the window", operation, over)
		}
	}
	eval[bool](w,
		`(() => { const f = document.querySelector("#crawlPause form"); f.querySelector("[data-in=token]").value = "t0k-secret"; `+
			`f.requestSubmit(); return true; })()`)
	w.until(`document.querySelector("#crawlPause [role=status]").textContent.includes("answered")`)
	if got := <-asked; got != "Bearer t0k-secret POST /crawl/pause" {
		t.Errorf("the call was %q", got)
	}
	if kept := eval[string](w,
		`location.href + JSON.stringify({...localStorage}) + JSON.stringify({...sessionStorage}) + document.cookie`); kept != w.base+
		"/api-doc?operation=crawlPause{}{}" {
		t.Errorf("the page keeps %q", kept)
	}
	w.report("with scripts")

	// What the form does where scripts do not run: submit() asks no listener.
	w.open("/api-doc?operation=getDatasetByID")
	eval[bool](w,
		`(() => { const f = document.querySelector("#getDatasetByID form"); f.elements.id.value = "x"; `+
			`HTMLFormElement.prototype.submit.call(f); return true; })()`)
	w.until(`location.pathname === "/get/dataset/id/x" && document.body.textContent.includes("answered")`)
	if got := <-asked; got != " GET /get/dataset/id/x" {
		t.Errorf("the call without scripts was %q", got)
	}
}
