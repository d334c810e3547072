//go:build browser

package ui_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// endpoint answers queries by a word in them, and keeps their parameters.
type endpoint struct {
	mu    sync.Mutex // guards asked
	asked []url.Values
}

const xsdInteger = "http://www.w3.org/2001/XMLSchema#integer"

var places = [][]string{
	{"Vienna", "<http://www.opengis.net/def/crs/OGC/1.3/CRS84> POINT(16.37 48.21)"},
	{
		"Austria, roughly",
		"POLYGON((9.5 47.3, 13 47.7, 13 48.7, 15 49, 17 48, 16 46.7, 13 46.6, 10 46.9, 9.5 47.3), (12 47, 13 47, 13 47.4, 12 47))"},
	{"Danube", "SRID=4326;MULTILINESTRING((8.2 48, 11.4 48.7, 13.4 48.6, 16.4 48.2), (16.4 48.2, 19 47.5, 20.5 44.8, 28.8 45.2))"},
	{"Cities, latitude first", "<http://www.opengis.net/def/crs/EPSG/0/4326> MULTIPOINT((47.07 15.44), (47.8 13.04), (46.62 14.3))"},
	{"Lake", `{"type":"Polygon","coordinates":[[[16.6,47.7],[16.9,47.8],[16.85,47.95],[16.65,47.9],[16.6,47.7]]]}`},
	{"In metres", "<http://www.opengis.net/def/crs/EPSG/0/31256> POINT(2000 340000)"},
	{"Nowhere", ""},
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.ParseForm()
	e.mu.Lock()
	e.asked = append(e.asked, r.Form)
	first := len(e.asked) == 1
	e.mu.Unlock()
	query := r.FormValue("query")
	switch {
	case strings.Contains(query, "BUSY") && first:
		w.Header().Set("Content-Type", "application/problem+json")
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(503)
		fmt.Fprint(w, `{"title":"Too many queries at a time","status":503,"detail":"All places for queries are taken; try again soon."}`)
	case strings.Contains(query, "PLACES"):
		sendRows(w, []string{"name", "shape"}, places)
	case strings.Contains(query, "TREES"):
		var rows [][]string
		for i := range 60 {
			rows = append(rows, []string{[]string{"Graz", "Linz", "Wien"}[i%3], "year " + strconv.Itoa(2023+i%4), strconv.Itoa(i)})
		}
		sendRows(w, []string{"city", "year", "trees"}, rows)
	default:
		sendRows(w, []string{"s"}, [][]string{{"one"}})
	}
}

func (e *endpoint) queries() []url.Values {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]url.Values(nil), e.asked...)
}

// sendRows answers with literals; integers are typed, and "" is unbound.
func sendRows(w http.ResponseWriter, vars []string, rows [][]string) {
	bindings := []map[string]any{}
	for _, row := range rows {
		b := map[string]any{}
		for i, value := range row {
			term := map[string]string{"type": "literal", "value": value}
			if _, err := strconv.Atoi(value); err == nil {
				term["datatype"] = xsdInteger
			}
			if value != "" {
				b[vars[i]] = term
			}
		}
		bindings = append(bindings, b)
	}
	w.Header().Set("Content-Type", "application/sparql-results+json")
	json.NewEncoder(w).Encode(map[string]any{"head": map[string]any{"vars": vars}, "results": map[string]any{"bindings": bindings}})
}

// newConsole opens a window whose queries e answers.
func newConsole(t *testing.T, e *endpoint) *window {
	t.Helper()
	ctx, end := openBrowser(t)
	t.Cleanup(end)
	mux := http.NewServeMux()
	mux.Handle("/sparql", e)
	mux.Handle("/", withQueries(newWorld()))
	return newWindow(t, ctx, mux)
}

func (w *window) press(selector, text string) {
	w.t.Helper()
	script := fmt.Sprintf(`[...document.querySelectorAll(%q)].find((b) => b.textContent === %q && b.offsetParent)`, selector, text)
	w.until(script)
	eval[bool](w, `(`+script+`.click(), true)`)
}

// fresh opens a path from an empty page, so that an address that differs only after its # loads anew.
func (w *window) fresh(path string) {
	w.t.Helper()
	w.do(chromedp.Navigate("about:blank"))
	w.open(path)
}

const (
	placesQuery = "/console?query=SELECT+*+%7B+PLACES+%7D"
	treesQuery  = "/console?query=SELECT+*+%7B+TREES+%7D"
)

func TestBrowserDrawsGeometriesOverTheWorld(t *testing.T) {
	w := newConsole(t, &endpoint{})
	w.media(false, 1440, 900)
	w.open(placesQuery)
	w.press(".views button", "Map")
	w.until(`document.querySelectorAll(".map [data-place]").length === 5`)
	if got := eval[string](w, `document.querySelector(".map image").getAttribute("href")`); !strings.HasPrefix(got, "/assets/world.") {
		t.Errorf("the outline is %q", got)
	}
	if got := eval[int](w, `fetch(document.querySelector(".map image").getAttribute("href")).then((r) => r.status)`); got != 200 {
		t.Errorf("the outline has status %d", got)
	}
	text := eval[string](w, `document.querySelector(".map").textContent`)
	for _, want := range []string{"5 of 7 rows are on the map", "Rows without a place: 1",
		"reference system http://www.opengis.net/def/crs/EPSG/0/31256", "Natural Earth"} {
		if !strings.Contains(text, want) {
			t.Errorf("the map lacks %q: %s", want, text)
		}
	}
	key := func(key string) {
		t.Helper()
		eval[bool](w, fmt.Sprintf(
			`(document.querySelector(".map-frame").dispatchEvent(new KeyboardEvent("keydown", {key: %q, bubbles: true, cancelable: `+
				`true})), true)`, key))
	}
	extent := `document.querySelector(".map .toolbar [role=status]").textContent`
	w.until(extent)
	before := eval[string](w, extent)
	for _, k := range []string{"+", "ArrowLeft", "ArrowUp", "-", "0"} {
		at := eval[string](w, extent)
		key(k)
		w.until(fmt.Sprintf(`%s !== %q`, extent, at))
	}
	if after := eval[string](w, extent); after != before {
		t.Errorf("all places were at %q, and are at %q", before, after)
	}
	// Every place is read out in turn.
	for i, want := range []string{"Vienna", "Austria, roughly", "Danube", "Cities, latitude first", "Lake", "Vienna"} {
		key("n")
		w.until(fmt.Sprintf(`document.querySelector(".map .place").textContent.includes(%q)`, want))
		if i == 4 {
			key("p")
			w.until(`document.querySelector(".map .place").textContent.includes("Cities")`)
			key("N")
		}
	}
	w.until(`document.querySelectorAll(".map .chosen").length === 1`)
	// A click chooses a place, too; the first of the page is the largest.
	eval[bool](w, `(document.querySelector(".map [data-place='1'] path").dispatchEvent(new MouseEvent("click", {bubbles: true})), true)`)
	w.until(`document.querySelector(".map .place").textContent.includes("Austria")`)
	w.until(`location.hash === "#outputFormat=geo"`)
	w.fresh(placesQuery + "#outputFormat=geo")
	w.until(`document.querySelectorAll(".map [data-place]").length === 5`)
	w.report("a map")
}

func TestBrowserPivotsAResultAndSavesItAsCSV(t *testing.T) {
	w := newConsole(t, &endpoint{})
	w.media(false, 1440, 900)
	dir := t.TempDir()
	if _, err := chromedp.CallBrowser(w.ctx, browser.SetDownloadBehavior,
		browser.SetDownloadBehaviorParams{Behavior: "allow", DownloadPath: dir}); err != nil {
		t.Fatal(err)
	}
	w.open(treesQuery)
	w.press(".views button", "Pivot")
	w.until(`document.querySelector(".pivot caption").textContent === "Sum of trees by city and year"`)
	table := `[...document.querySelectorAll(".pivot tbody tr")].map((r) => [...r.cells].map((c) => c.textContent).join(" ")).join("; ")`
	want := "Graz 120 165 150 135 570; Linz 140 125 170 155 590; Wien 160 145 130 175 610; All 420 435 450 465 1\u202f770"
	if got := eval[string](w, table); got != want {
		t.Errorf("the pivot is %q, want %q", got, want)
	}
	choose := func(label, value string) {
		t.Helper()
		eval[bool](w, fmt.Sprintf(
			`(() => { const s = [...document.querySelectorAll(".pivot label")].find((l) => l.firstChild.textContent === `+
				`%q).querySelector("select"); s.focus(); s.value = %q; s.dispatchEvent(new Event("change")); return `+
				`document.activeElement.value === %q; })()`, label+" ", value, value))
	}
	choose("Show", "max")
	choose("Columns", "-1")
	w.until(`document.querySelector(".pivot caption").textContent === "Maximum of trees by city"`)
	if got := eval[string](w, table); got != "Graz 57; Linz 58; Wien 59; All 59" {
		t.Errorf("the pivot is %q", got)
	}
	choose("of", "-1") // rows have no maximum
	w.until(`document.querySelector(".pivot caption").textContent === "Count of rows by city"`)
	w.press(".pivot button", "CSV of this pivot")
	got := ""
	for deadline := time.Now().Add(20 * time.Second); got == "" && time.Now().Before(deadline); {
		data, _ := os.ReadFile(filepath.Join(dir, "pivot.csv"))
		got = string(data)
		eval[bool](w, `new Promise((done) => setTimeout(() => done(true), 50))`)
	}
	if got != "city,All\r\nGraz,20\r\nLinz,20\r\nWien,20\r\nAll,60\r\n" {
		t.Errorf("the file is %q", got)
	}
	// The address has the pivot.
	address := eval[string](w, `location.pathname + location.search + location.hash`)
	w.fresh(address)
	w.until(`document.querySelector(".pivot caption").textContent === "Count of rows by city"`)
	w.report("a pivot")
}

func TestBrowserSavesQueriesByName(t *testing.T) {
	w := newConsole(t, &endpoint{})
	w.media(false, 1440, 900)
	dir := t.TempDir()
	if _, err := chromedp.CallBrowser(w.ctx, browser.SetDownloadBehavior,
		browser.SetDownloadBehaviorParams{Behavior: "allow", DownloadPath: dir}); err != nil {
		t.Fatal(err)
	}
	names := `[...document.querySelectorAll(".saved .name")].map((b) => b.textContent).join()`
	says := `document.querySelector(".saved [role=status]").textContent`
	w.open(treesQuery)
	w.press(".bar button", "Saved")
	save := func(name string) {
		t.Helper()
		eval[bool](w, fmt.Sprintf(
			`(() => { const f = document.querySelector(".saved form.save"); f.querySelector("input").value = %q; f.requestSubmit(); `+
				`return true; })()`, name))
	}
	save("Trees by city")
	w.until(names + ` === "Trees by city"`)
	w.until(`document.querySelector("[role=tab][aria-selected=true]").textContent === "Trees by city"`)
	save("Other trees")
	w.until(names + ` === "Other trees,Trees by city"`)
	w.press(".saved .acts button", "Rename")
	eval[bool](w,
		`(() => { const f = document.querySelector(".saved li form"); f.querySelector("input").value = "Trees by city"; `+
			`f.requestSubmit(); return true; })()`)
	w.until(says + `.includes("already")`)
	eval[bool](w,
		`(() => { const f = document.querySelector(".saved li form"); f.querySelector("input").value = "<b>Shrubs</b>"; `+
			`f.requestSubmit(); return true; })()`)
	w.until(names + ` === "<b>Shrubs</b>,Trees by city"`)
	w.press(".saved .files button", "Export to a file")
	var file []byte
	for deadline := time.Now().Add(20 * time.Second); len(file) == 0 && time.Now().Before(deadline); {
		file, _ = os.ReadFile(filepath.Join(dir, "queries.json"))
		eval[bool](w, `new Promise((done) => setTimeout(() => done(true), 50))`)
	}
	w.press(".saved .acts button", "Remove")
	w.until(names + ` === "Trees by city"`)
	w.press(".saved .status button", "Undo")
	w.until(names + ` === "<b>Shrubs</b>,Trees by city"`)

	// Another visit has them, and opens one in a tab of its own.
	w.open("/console")
	w.press(".bar button", "Saved")
	w.press(".saved .name", "<b>Shrubs</b>")
	w.until(
		`document.querySelector(".grid td") && document.querySelector("[role=tab][aria-selected=true]").textContent === "<b>Shrubs</b>"`)

	// Another browser gets them from the file.
	eval[bool](w, `(localStorage.clear(), true)`)
	w.open("/console")
	w.press(".bar button", "Saved")
	w.until(`document.querySelector(".saved li").textContent.includes("No query")`)
	bring := func(text string) {
		t.Helper()
		eval[bool](w, fmt.Sprintf(
			`(() => { const d = new DataTransfer(); d.items.add(new File([%q], "queries.json")); const i = `+
				`document.querySelector(".saved input[type=file]"); i.files = d.files; i.dispatchEvent(new Event("change")); return `+
				`true; })()`, text))
	}
	bring("no list")
	w.until(says + `.includes("not JSON")`)
	bring(string(file))
	w.until(names + ` === "<b>Shrubs</b>,Trees by city"`)

	// A browser that stores nothing more says so, and keeps what it has.
	eval[bool](w, `(Storage.prototype.setItem = () => { throw new DOMException("full", "QuotaExceededError"); }, true)`)
	save("One more")
	w.until(says + `.includes("full or forbidden")`)
	w.until(names + ` === "<b>Shrubs</b>,Trees by city"`)
	w.report("saved queries")
	if _, err := chromedp.Call(w.ctx, page.AddScriptToEvaluateOnNewDocument,
		page.AddScriptToEvaluateOnNewDocumentParams{
			Source: `Object.defineProperty(window, "localStorage", {get() { throw new ` +
				`DOMException("denied", "SecurityError"); }})`}); err != nil {
		t.Fatal(err)
	}
	w.open(treesQuery)
	w.until(`document.querySelector(".grid td") && document.body.textContent.includes("This browser stores nothing more")`)
	w.report("a forbidden storage")
}

func TestBrowserReadsAndWritesAddressesOfYASGUI(t *testing.T) {
	e := &endpoint{}
	w := newConsole(t, e)
	w.media(false, 1440, 900)
	w.open("/console#" + strings.ReplaceAll(url.Values{"query": {"SELECT * { TREES }"}, "endpoint": {w.base + "/sparql"},
		"requestMethod": {"GET"}, "tabTitle": {"Trees & more"}, "outputFormat": {"pivot"},
		"headers": {`{"Authorization":"Bearer stolen"}`}, "contentTypeSelect": {"text/csv"}, "timeout": {"9999"},
		"namedGraph": {"http://g.example/1"}}.Encode(), "+", "%20"))
	w.until(`document.querySelector(".pivot tbody tr")`)
	w.until(`document.querySelector("[role=tab][aria-selected=true]").textContent === "Trees & more"`)
	w.until(`document.querySelector(".notes").textContent.includes("Only these graphs are asked: named <http://g.example/1>")`)
	w.until(`document.querySelector(".notes").textContent.includes("the header Authorization, the argument timeout")`)
	if asked := e.queries(); len(asked) != 1 || asked[0].Get("named-graph-uri") != "http://g.example/1" || asked[0].Get("timeout") != "3" {
		t.Errorf("asked %v", asked)
	}
	w.press(".notes button", "Ask all")
	w.until(`!document.querySelector(".notes").textContent.includes("graphs")`)
	eval[bool](w, `(Object.defineProperty(navigator, "clipboard", {value: {writeText: async (t) => { window.copied = t; }}}), true)`)
	w.press(".bar button", "Share")
	w.press(".menu button", "Copy the address as YASGUI has it")
	w.until(`window.copied`)
	copied := eval[string](w, `window.copied`)
	_, after, _ := strings.Cut(copied, "#")
	got, err := url.ParseQuery(after)
	if err != nil || got.Get("query") != "SELECT * { TREES }" || got.Get("endpoint") != w.base+"/sparql" ||
		got.Get("requestMethod") != "GET" || got.Get("tabTitle") != "Trees & more" || got.Get("outputFormat") != "pivot" {
		t.Errorf("copied %s, %v", copied, err)
	}
	w.fresh(strings.TrimPrefix(copied, w.base))
	w.until(`document.querySelector(".pivot tbody tr")`)

	// Without a clipboard, as on a page without HTTPS, the address is there to be copied.
	eval[bool](w, `(Object.defineProperty(navigator, "clipboard", {value: undefined}), true)`)
	w.press(".bar button", "Share")
	w.press(".menu button", "Copy the address")
	w.until(`document.querySelector("input.address").value.startsWith(location.origin + "/console?query=")`)
	w.report("addresses of YASGUI")
}

// TestBrowserAsksNothingElsewhere opens addresses that somebody has sent to have this browser, or this server, ask
// another.
func TestBrowserAsksNothingElsewhere(t *testing.T) {
	e := &endpoint{}
	w := newConsole(t, e)
	w.media(false, 1440, 900)
	w.open("/console#" + url.Values{"query": {"SELECT * { ?s ?p ?o }"}, "endpoint": {"https://token:secret@other.example/sparql?a=b"},
		"headers": {`{"Authorization":"Bearer x"}`}}.Encode())
	w.until(`document.querySelector(".ask-box").textContent.includes("https://other.example/sparql?a=b")`)
	link := eval[string](w,
		`(() => { const a = document.querySelector(".ask-box a"); return [a.href, a.rel, a.textContent].join(" | "); })()`)
	if link != "https://other.example/sparql?a=b&query=SELECT+*+%7B+%3Fs+%3Fp+%3Fo+%7D | noopener noreferrer | Open it at other.example" {
		t.Errorf("the link is %s", link)
	}
	if asked := e.queries(); len(asked) != 0 {
		t.Errorf("asked %v", asked)
	}
	w.press(".ask-box button", "Run it here")
	w.until(`document.querySelector(".grid td")`)

	eval[bool](w, `(location.hash = `+
		strconv.Quote(url.Values{"query": {"SELECT * { ?s ?p ?o } #2"}, "endpoint": {"javascript:alert(1)"}}.Encode())+`, true)`)
	w.until(`document.querySelector(".ask-box").textContent.includes("javascript:alert(1)") && !document.querySelector(".ask-box a")`)

	w.fresh("/console?query=" + url.QueryEscape("SELECT * { SERVICE <http://169.254.169.254/> { ?s ?p ?o } }"))
	w.until(`document.querySelector(".ask-box").textContent.includes("SERVICE")`)
	if asked := e.queries(); len(asked) != 1 {
		t.Errorf("asked %v", asked)
	}
	w.report("an address of somebody else")
}

func TestBrowserTellsABusyServerFromALongQuery(t *testing.T) {
	w := newConsole(t, &endpoint{})
	w.open("/console?query=" + url.QueryEscape("SELECT * { ?BUSY ?p ?o }"))
	w.until(`document.querySelector(".error-box button").textContent === "Try again"`)
	text := eval[string](w, `document.querySelector(".error-box").textContent`)
	if !strings.Contains(text, "The server is busy") || !strings.Contains(text, "in 7 seconds") || strings.Contains(text, "takes longer") {
		t.Errorf("it says %q", text)
	}
	w.press(".error-box button", "Try again")
	w.until(`document.querySelector(".grid td")`)
	w.report("a busy server")
}

// TestBrowserConsoleIsAccessibleInEveryView runs axe over the views and panels, and saves pictures of them to
// ODARCHIVE_SHOTS if it names a folder.
func TestBrowserConsoleIsAccessibleInEveryView(t *testing.T) {
	axe, err := os.ReadFile("node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Skip("axe-core is not installed (npm ci --ignore-scripts)")
	}
	w := newConsole(t, &endpoint{})
	states := []struct{ name, path, ready string }{
		{"map", placesQuery + "#outputFormat=geo", `document.querySelector(".map [data-place]")`},
		{"pivot", treesQuery + "#outputFormat=pivot", `document.querySelector(".pivot td")`},
		{"saved", treesQuery, `document.querySelector(".grid td") && document.querySelector(".saved .name")`},
		{
			"elsewhere",
			"/console#query=ASK%7B%7D&endpoint=https%3A%2F%2Fother.example%2Fsparql&headers=%7B%22X-A%22%3A1%7D&defaultGraph=http%3A%2F%2" +
				"Fg.example%2Fa", `document.querySelector(".ask-box")`},
	}
	for _, look := range []struct {
		dark  bool
		width int64
	}{{false, 1440}, {true, 1440}, {false, 768}, {true, 390}, {false, 390}} {
		w.media(look.dark, look.width, 900)
		for _, state := range states {
			at := fmt.Sprintf("%s at %d, dark %v", state.name, look.width, look.dark)
			w.fresh(state.path)
			w.until(`document.querySelector(".editor")`)
			switch state.name {
			case "saved":
				w.press(".bar button", "Saved")
				eval[bool](w,
					`(() => { const f = document.querySelector(".saved form.save"); f.querySelector("input").value = "Trees of every `+
						`city by the year in which they were planted, with a long name"; f.requestSubmit(); return true; })()`)
			case "map":
				w.until(state.ready)
				w.press(".map button", "→")
				w.press(".map button", "→")
			}
			w.until(state.ready)
			eval[bool](w, string(axe)+`;true`)
			for _, v := range eval[[]string](w,
				`axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations.map((v) => v.id + ": " + v.nodes.map((n) => `+
					`n.html.slice(0, 160) + " | " + n.failureSummary.slice(0, 200)).join("; ")))`) {
				t.Errorf("%s: %s", at, v)
			}
			if over := eval[int](w, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
				t.Errorf("%s: the page is %d pixels wider than the window", at, over)
			}
			if dir := os.Getenv("ODARCHIVE_SHOTS"); dir != "" {
				shot, err := chromedp.Run(w.ctx, chromedp.FullScreenshot(100))
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%d-%v.png", state.name, look.width, look.dark)), shot,
					0o644); err != nil {
					t.Fatal(err)
				}
			}
			w.report(at)
		}
	}
}
