package ui_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"odarchive/triplestore/term"
	"odarchive/ui"

	"golang.org/x/net/html"
)

func get(t *testing.T, h http.Handler, address string) *http.Response {
	t.Helper()
	r := httptest.NewRequest("GET", address, nil)
	r.Header.Set("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	return rec.Result()
}

func body(t *testing.T, res *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// everyPage lists one address of each kind of page.
func everyPage(w *world) []string {
	trees := w.versions["http://data.city.example/trees.csv"]
	xml := w.versions["https://open.region.example/air/stations.xml"]
	return []string{"/", "/search", "/search?q=trees", "/search?q=nothing+at+all",
		"/search?type=text/csv&host=open.region.example&after=25", "/portals", "/operation",
		"/dataset?url=" + url.QueryEscape(trees[0].URL), "/dataset?url=https://open.region.example/gone.csv",
		"/dataset?url=ftp://files.library.example/loans.zip",
		"/dataset?url=" + url.QueryEscape(w.resources[0].Datasets[0]), "/dataset?url=" + url.QueryEscape(w.resources[0].Portals[0]),
		"/version?id=" + trees[3].ID, "/version?id=" + xml[0].ID, "/version?id=" + w.versions["http://data.city.example/budget.json"][1].ID,
		"/table/" + trees[3].ID, "/table/" + trees[3].ID + "?row=3", "/table/" + trees[3].ID + "?where=height%3E9&order=-height",
		"/diff?from=" + trees[0].ID + "&to=" + trees[1].ID, "/history?version=" + trees[3].ID + "&row=3",
		"/history?version=" + trees[3].ID + "&row=3&column=species", "/crawls", "/campaign", "/campaign?name=city",
		"/campaign?name=www.city.example", "/campaign?name=kaggle", "/crawls?outcome=no-version", "/statistics", "/console",
		"/console?query=ASK+%7B%7D",
		"/basket", "/basket?id=" + trees[0].ID + "&id=" + xml[0].ID + "&id=nonsense", "/docs/", "/docs/tutorial", "/docs/howto/proxy",
		"/docs/reference/commands/admin-host", "/docs/explanation/architecture", "/docs/?q=backup", "/api-doc"}
}

func TestEveryPageIsWholeAndSafe(t *testing.T) {
	t.Parallel()
	w := newWorld()
	h := site(w)
	for _, address := range everyPage(w) {
		res := get(t, h, address)
		text := body(t, res)
		if res.StatusCode != 200 {
			t.Errorf("%s: status %d: %.300s", address, res.StatusCode, text)
			continue
		}
		if csp := res.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") ||
			strings.Contains(csp, "unsafe") {
			t.Errorf("%s: policy %q", address, csp)
		}
		doc, err := html.Parse(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		check(t, address, doc)
		if strings.Contains(text, "ZgotmplZ") {
			t.Errorf("%s: the template engine refused a value", address)
		}
	}
}

// check tests a page: no inline code or style, unique ids, labels on fields, one h1, and links that stay on the server
// unless they name an archived address.
func check(t *testing.T, address string, doc *html.Node) {
	t.Helper()
	ids := map[string]bool{}
	h1 := 0
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		attr := map[string]string{}
		for _, a := range n.Attr {
			attr[a.Key] = a.Val
			if a.Key == "style" || strings.HasPrefix(a.Key, "on") {
				t.Errorf("%s: <%s %s=%q>", address, n.Data, a.Key, a.Val)
			}
		}
		switch n.Data {
		case "style":
			t.Errorf("%s: inline style element", address)
		case "script":
			if attr["type"] == "application/ld+json" { // data, which no browser runs
				checkData(t, address, n)
				continue
			}
			if n.FirstChild != nil || !strings.HasPrefix(attr["src"], "/assets/") {
				t.Errorf("%s: script %v", address, attr)
			}
		case "h1":
			h1++
		case "a":
			if strings.HasPrefix(attr["href"], "javascript:") {
				t.Errorf("%s: link %q", address, attr["href"])
			}
			if strings.Contains(attr["href"], "://") && !strings.HasPrefix(attr["href"], "/") && attr["rel"] != "noreferrer nofollow" {
				t.Errorf("%s: outside link %q without rel", address, attr["href"])
			}
		case "b":
			t.Errorf("%s: a stranger's markup became ours", address)
		}
		if id := attr["id"]; id != "" {
			if ids[id] {
				t.Errorf("%s: id %q twice", address, id)
			}
			ids[id] = true
		}
	}
	if h1 != 1 {
		t.Errorf("%s: %d h1", address, h1)
	}
}

func TestAResourcePageShowsItsVersionsAndHowToCiteThem(t *testing.T) {
	t.Parallel()
	w := newWorld()
	text := body(t, get(t, site(w), "/dataset?url=http://data.city.example/trees.csv"))
	for _, want := range []string{"Trees in the city", "Version 3", "Version 0", "What changed", "/get/files/sparql", "timemap/link",
		"Archived copy: http://localhost:8080/api/v1/get/file/id/", "Links to it", "<svg class=\"plot timeline\"", "81"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestPagesNameTheTablesThatGoWithOne(t *testing.T) {
	t.Parallel()
	w := newWorld()
	h := site(w)
	const trees = "http://data.city.example/trees.csv"
	for _, path := range []string{"/version?id=" + w.versions[trees][3].ID, "/dataset?url=" + url.QueryEscape(trees)} {
		text := body(t, get(t, h, path))
		for _, want := range []string{"Tables to join with this one", "&lt;year&gt;", "Series 03", "75 %", "100 %"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q", path, want)
			}
		}
	}
	if text := body(t, get(t, h, "/version?id="+w.versions[trees][2].ID)); strings.Contains(text, "Tables that go") {
		t.Error("a superseded version has joins")
	}
}

func TestAVersionsPageListsTheFilesInside(t *testing.T) {
	t.Parallel()
	w := newWorld()
	v := w.versions["ftp://files.library.example/loans.zip"][0]
	text := body(t, get(t, site(w), "/version?id="+v.ID))
	for _, want := range []string{"2 files inside", "loans 2026/&lt;b&gt;.csv",
		"/api/v1/get/file/id/" + v.ID + "/member/loans%202026/%3Cb%3E.csv?download=1", "inner.zip: encrypted"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

func TestAPreviewIsATableAndNeverMarkup(t *testing.T) {
	t.Parallel()
	w := newWorld()
	h := site(w)
	text := body(t, get(t, h, "/version?id="+w.versions["http://data.city.example/trees.csv"][3].ID))
	if !strings.Contains(text, "<th scope=\"col\">species</th>") || !strings.Contains(text, "<td>Acer platanoides</td>") {
		t.Error("no table of the CSV")
	}
	text = body(t, get(t, h, "/version?id="+w.versions["https://open.region.example/air/stations.xml"][0].ID))
	if !strings.Contains(text, "&lt;script&gt;alert(1)&lt;/script&gt;") {
		t.Error("the XML source is not shown as text")
	}
	text = body(t, get(t, h, "/version?id="+w.versions["http://data.city.example/budget.json"][0].ID))
	if !strings.Contains(text, "&#34;amount&#34;: 12000") {
		t.Error("the JSON is not indented")
	}
}

func TestADifferenceShowsLines(t *testing.T) {
	t.Parallel()
	w := newWorld()
	v := w.versions["http://data.city.example/trees.csv"]
	text := body(t, get(t, site(w), "/diff?from="+v[0].ID+"&to="+v[1].ID))
	if strings.Count(text, `<tr class="added">`) < 7 || !strings.Contains(text, `<tr class="gap">`) {
		t.Errorf("%d added lines, gap %v", strings.Count(text, `<tr class="added">`), strings.Contains(text, `<tr class="gap">`))
	}
}

func TestADifferenceHasPages(t *testing.T) {
	t.Parallel()
	w := newWorld()
	h := site(w)
	v := w.versions["http://data.city.example/trees.csv"]
	address := "/diff?from=" + v[0].ID + "&to=" + v[1].ID
	for offset, want := range map[string][2]bool{"0": {false, true}, "100": {true, true}, "10100": {true, false}} {
		text := body(t, get(t, h, address+"&key=id&offset="+offset))
		if before, more := strings.Contains(text, "← Changes before"), strings.Contains(text, ">More changes<"); before != want[0] ||
			more != want[1] {
			t.Errorf("after %s: before %v, more %v", offset, before, more)
		}
		if !strings.Contains(text, ">CSV from 10 001<") && !strings.Contains(text, ">CSV from 10\u202f001<") &&
			!strings.Contains(text, ">CSV from 10,001<") {
			t.Errorf("after %s there is no second file of changes: %.3000s", offset, text)
		}
	}
	if res := get(t, h, address+"&offset=-1"); res.StatusCode != 400 {
		t.Errorf("a negative offset: %d", res.StatusCode)
	}
}

func TestADifferenceTakesAKey(t *testing.T) {
	t.Parallel()
	w := newWorld()
	h := site(w)
	v := w.versions["http://data.city.example/trees.csv"]
	address := "/diff?from=" + v[0].ID + "&to=" + v[1].ID
	checked := regexp.MustCompile(`name="key" value="([^"]*)" checked`)
	for query, want := range map[string][]string{
		"":                                 {"id"},
		"&key=":                            {"id"},
		"&key=species":                     {"species"},
		"&key=id&key=%22quoted%22+%3Cb%3E": {"id", "&#34;quoted&#34; &lt;b&gt;"},
	} {
		var got []string
		for _, m := range checked.FindAllStringSubmatch(body(t, get(t, h, address+query)), -1) {
			got = append(got, m[1])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q are chosen, want %q", query, got, want)
		}
	}
	res := get(t, h, address+"&key=nonsense")
	if text := body(t, res); res.StatusCode != 400 || !strings.Contains(text, "nonsense") || strings.Count(text, `name="key"`) != 3 {
		t.Errorf("a column that is not there: %d %s", res.StatusCode, text)
	}
}

func TestAPortalsPageTellsOfItsFiles(t *testing.T) {
	t.Parallel()
	text := body(t, get(t, site(newWorld()), "/dataset?url=https://portal.city.example/"))
	for _, want := range []string{"City open data</h1>", "Trees in the city", "/search?portal=https%3A%2F%2Fportal.city.example%2F",
		"new version</a></th>", "JSON"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
}

func TestAFileOfTenThousandVersionsHasPages(t *testing.T) {
	t.Parallel()
	w := newWorld()
	const address = "http://data.city.example/hourly\"><script>.csv"
	w.add(address, strings.Repeat("A long title <b> ", 100), "text/csv", "https://portal.city.example/", 10_000,
		func(n int) string { return fmt.Sprintf("a\n%d\n", n) })
	h := site(w)
	next := "/dataset?url=" + url.QueryEscape(address)
	for n, pages := 9_999, 0; pages < 3; pages++ {
		text := body(t, get(t, h, next))
		if !strings.Contains(text, fmt.Sprintf(">Version %d</a>", n)) || strings.Contains(text, fmt.Sprintf(">Version %d</a>", n-50)) ||
			strings.Contains(text, "<script>.csv") {
			t.Fatalf("%s: a page of %d bytes", next, len(text))
		}
		if len(text) > 400_000 {
			t.Errorf("%s: %d bytes", next, len(text))
		}
		m := regexp.MustCompile(`rel="next" href="([^"]*)"`).FindStringSubmatch(text)
		if m == nil {
			t.Fatal("no older versions")
		}
		next, n = strings.TrimSuffix(html.UnescapeString(m[1]), "#versions"), n-50
	}
	if res := get(t, h, "/dataset?url="+url.QueryEscape(address)+"&before=0"); res.StatusCode != 400 {
		t.Errorf("before=0: %d", res.StatusCode)
	}
	v := w.versions[address]
	if text := body(t, get(t, h, "/diff?from="+v[0].ID+"&to="+v[9000].ID)); len(text) > 300_000 ||
		!strings.Contains(text, ">Version 9000,") {
		t.Errorf("the comparison is a page of %d bytes", len(text))
	}
}

func TestASearchNamesTheColumnsItFound(t *testing.T) {
	t.Parallel()
	if text := body(t, get(t, site(newWorld()), "/search?q=Series")); !strings.Contains(text, "column <b>series id</b>") {
		t.Error("the column is not listed")
	}
}

// The scripts that a browser loads with every page must stay below 160 KB.
func TestScriptsStaySmall(t *testing.T) {
	t.Parallel()
	scripts, err := filepath.Glob("dist/*.js")
	if err != nil || len(scripts) == 0 {
		t.Skip("the scripts are not built (npm ci --ignore-scripts && npm run build)")
	}
	total := 0
	for _, name := range scripts {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var packed bytes.Buffer
		z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		z.Write(data)
		z.Close()
		total += packed.Len()
	}
	if total > 160_000 {
		t.Errorf("%d bytes of script in gzip, at most 160,000", total)
	}
}

func TestFacetsAreAddressesThatNarrowAndWiden(t *testing.T) {
	t.Parallel()
	text := body(t, get(t, site(newWorld()), "/search?q=series&after=25"))
	links := regexp.MustCompile(`href="(/search\?[^"]*)"`).FindAllStringSubmatch(text, -1)
	if len(links) == 0 {
		t.Fatal("no facet links")
	}
	for _, l := range links {
		if strings.Contains(l[1], "after=") {
			t.Errorf("a changed search begins in the middle: %s", l[1])
		}
	}
	text = body(t, get(t, site(newWorld()), "/search?q=series&type=text/csv"))
	if !strings.Contains(text, `href="/search?q=series"`) {
		t.Error("the chosen type cannot be taken off")
	}
}

func TestWhatIsNotThereGetsAPageForPeopleAndAProblemForPrograms(t *testing.T) {
	t.Parallel()
	h := site(newWorld())
	res := get(t, h, "/dataset?url=http://nowhere.example/")
	if text := body(t, res); res.StatusCode != 404 || !strings.Contains(text, "<h1") || !strings.Contains(text, "not in the archive") {
		t.Errorf("got %d %s", res.StatusCode, text)
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequest("GET", "/dataset?url=http://nowhere.example/", nil))
	if got := rec.Result().Header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("a program got %s", got)
	}
	if res := get(t, h, "/version?id=../../etc"); res.StatusCode != 404 {
		t.Errorf("a bad version id: %d", res.StatusCode)
	}
}

func TestAssetsAreKeptForEverAndPacked(t *testing.T) {
	t.Parallel()
	h := site(newWorld())
	link := regexp.MustCompile(`href="(/assets/style[^"]+)"`).FindStringSubmatch(body(t, get(t, h, "/")))
	if link == nil {
		t.Fatal("no style sheet")
	}
	r := httptest.NewRequest("GET", link[1], nil)
	r.Header.Set("Accept-Encoding", "gzip")
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	res := rec.Result()
	if res.StatusCode != 200 || !strings.Contains(res.Header.Get("Cache-Control"), "immutable") ||
		res.Header.Get("Content-Encoding") != "gzip" {
		t.Errorf("got %d %v", res.StatusCode, res.Header)
	}
}

func TestADocumentOfStatementsIsReadSubjectBySubject(t *testing.T) {
	t.Parallel()
	w := newWorld()
	u, err := ui.New(ui.Options{Archive: w, Mint: w.mint})
	if err != nil {
		t.Fatal(err)
	}
	s, p, inner := term.IRI("http://s.example/"), term.IRI("http://www.w3.org/ns/dcat#keyword"), term.Blank("b")
	rec := httptest.NewRecorder()
	err = u.Document(rec, httptest.NewRequest("GET", "/.well-known/void", nil), "The <dataset>",
		[]term.Quad{{S: s, P: p, O: term.String("<script>")}, {S: s, P: p, O: inner}, {S: inner, P: p, O: term.String("inside")}})
	text := rec.Body.String()
	if err != nil || strings.Contains(text, "<script>\"") || !strings.Contains(text, "&lt;script&gt;") ||
		!strings.Contains(text, `class="inside"`) || !strings.Contains(text, "/.well-known/void?format=ttl") ||
		strings.Count(text, "<section>") != 1 {
		t.Errorf("%v\n%s", err, text)
	}
}

// TestDocumentsOfAnySizeHaveAPage has the catalog of a large archive in mind.
func TestDocumentsOfAnySizeHaveAPage(t *testing.T) {
	t.Parallel()
	w := newWorld()
	u, err := ui.New(ui.Options{Archive: w, Mint: w.mint})
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	var quads []term.Quad
	for i := range 100 {
		quads = append(quads, term.Quad{S: term.IRI("http://a.example/catalog"), P: term.IRI("http://a.example/has"),
			O: term.IRI(fmt.Sprintf("http://a.example/file-%d", i))})
	}
	for i := range 100 {
		quads = append(quads, term.Quad{S: term.IRI(fmt.Sprintf("http://a.example/file-%d", i)), P: term.IRI("http://a.example/p"),
			O: term.String("x")})
	}
	rec := httptest.NewRecorder()
	if err := u.Document(rec, httptest.NewRequest("GET", "/catalog", nil), "The catalog", quads); err != nil {
		t.Fatal(err)
	}
	page := rec.Body.String()
	for _, want := range []string{"and 50 more statements", "81 more subjects are not shown here"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if got := strings.Count(page, "<section"); got != 20 {
		t.Errorf("%d subjects are shown", got)
	}
}
