//go:build browser

package ui_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

const (
	maxWeight = 20 << 10 // bytes of a page with its style and script, compressed as they are sent
	maxShapes = 100      // shapes of addresses that are looked at of one server
	maxAlike  = 5        // pages of files and of versions, which show what their kind of data has
)

// looks are the widths and colours in which pages are looked at.
var looks = []struct {
	dark  bool
	width int64
}{{false, 1440}, {true, 390}}

// TestBrowserEveryPageOfTheProgramIsAccessible follows the links of the program's demo, or of the server that
// ODARCHIVE_URL names, and looks at the pages of each shape of address: with axe-core, at its width, and at its weight.
// So a page that is added is looked at as soon as something links to it.
func TestBrowserEveryPageOfTheProgramIsAccessible(t *testing.T) {
	axe := readAxe(t)
	ctx, end := openBrowser(t)
	defer end()
	base := os.Getenv("ODARCHIVE_URL")
	if base == "" {
		base = startDemo(t)
	}
	pages := shapesOf(t, base)
	for _, must := range []string{"/", "/search", "/portals", "/dataset?url", "/api/v1/get/file/id/…", "/table/…", "/describe?iri",
		"/crawls", "/campaign", "/hosts", "/operation", "/statistics", "/fixity", "/console", "/api-doc", "/docs/"} {
		if pages[must] == nil {
			t.Errorf("no link leads to a page %s", must)
		}
	}
	w := windowOn(t, ctx, base)
	for _, look := range looks {
		w.media(look.dark, look.width, 900)
		for _, alike := range pages {
			for _, path := range alike {
				w.examine(axe, path, fmt.Sprintf("%s at %d, dark %v", path, look.width, look.dark))
			}
		}
	}
}

// readAxe returns the script of axe-core; without it, the test is skipped.
func readAxe(t *testing.T) string {
	t.Helper()
	axe, err := os.ReadFile("node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Skip("axe-core is not installed (npm ci --ignore-scripts)")
	}
	return string(axe)
}

// examine opens a page, runs axe-core over it, and looks for what is wider than the window.
func (w *window) examine(axe, path, at string) {
	w.t.Helper()
	w.open(path)
	if strings.HasPrefix(path, "/console") {
		w.until(`document.querySelector(".editor")`)
	}
	if strings.HasPrefix(path, "/console?") {
		w.until(`document.querySelector("[data-results] > div").children.length > 0`)
	}
	eval[bool](w, axe+`;true`)
	for _, v := range eval[[]string](w,
		`axe.run(document, {resultTypes: ["violations"], rules: {"target-size": {enabled: true}}}).then((r) => r.violations.map((v) => `+
			`v.id + ": " + v.nodes.slice(0, 5).map((n) => n.html.slice(0, 160) + " | " + n.failureSummary.slice(0, 200)).join("; ")))`) {
		w.t.Errorf("%s: %s", at, v)
	}
	if over := eval[int](w, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
		widest := eval[[]string](w,
			`[...document.querySelectorAll("body *")].filter((e) => !e.closest(".scroll, nav") && e.getBoundingClientRect().right > `+
				`document.documentElement.clientWidth + 1).map((e) => e.outerHTML.slice(0, 120))`)
		w.t.Errorf("%s: the page is %d pixels wider than the window, for example by %.200q", at, over, widest)
	}
	w.report(at)
}

// shapesOf follows the links of a server's pages, and returns some addresses of each shape. It looks at the weight of
// each.
func shapesOf(t *testing.T, base string) map[string][]string {
	t.Helper()
	found, others := map[string][]string{}, map[string]bool{} // others are no pages
	weights := map[string]int{}
	queue := []string{"/", "/campaign", "/hosts", "/sign-in", "/fixity", "/basket", "/docs/", "/search?type=text/csv"}
	for len(queue) > 0 && len(found) < maxShapes {
		path := queue[0]
		queue = queue[1:]
		shape := shapeOf(path)
		most := 1
		if shape == "/dataset?url" || shape == "/api/v1/get/file/id/…" {
			most = maxAlike
		}
		if len(found[shape]) >= most || others[shape] || slices.Contains(found[shape], path) {
			continue
		}
		text, weight := load(t, base, path)
		if text == "" {
			others[shape] = true
			continue
		}
		found[shape] = append(found[shape], path)
		doc, err := html.Parse(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if description := descriptionOf(doc); len(description) < 20 {
			t.Errorf("%s: the description for search engines is %q", path, description)
		}
		for n := range doc.Descendants() {
			if n.Type != html.ElementNode {
				continue
			}
			asset := attribute(n, "src")
			if n.Data == "link" && attribute(n, "rel") == "stylesheet" {
				asset = attribute(n, "href")
			}
			if strings.HasPrefix(asset, "/assets/") {
				if _, known := weights[asset]; !known {
					_, weights[asset] = load(t, base, asset)
				}
				weight += weights[asset]
			}
			if href := attribute(n, "href"); n.Data == "a" && strings.HasPrefix(href, "/") && !strings.HasPrefix(href, "//") &&
				len(queue) < 10_000 {
				href, _, _ = strings.Cut(href, "#")
				queue = append(queue, href)
			}
		}
		t.Logf("%6d bytes %s", weight, path)
		if editor := strings.HasPrefix(path, "/console"); weight > maxWeight && !editor {
			t.Errorf("%s: %d bytes with its style and script", path, weight)
		}
	}
	return found
}

// shapeOf returns the path of an address with the names of its parameters, and without what names one thing among many.
func shapeOf(path string) string {
	u, err := url.Parse(path)
	if err != nil {
		return path
	}
	shape := u.Path
	for _, many := range []string{"/table/", "/activity/", "/event/", "/api/v1/get/file/id/", "/get/file/id/", "/api/v1/get/", "/get/",
		"/graph/", "/ns/", "/docs/reference/commands/", "/docs/reference/", "/docs/howto/", "/timemap/", "/timegate/", "/web/", "/ldes/"} {
		if rest, ok := strings.CutPrefix(shape, many); ok && rest != "" {
			shape = many + "…"
			break
		}
	}
	names := make([]string, 0, len(u.Query()))
	for name := range u.Query() {
		names = append(names, name)
	}
	slices.Sort(names)
	if len(names) > 1 && (u.Path == "/search" || u.Path == "/crawls") {
		names = []string{"…"} // filters that were chosen one after the other
	}
	if len(names) > 0 {
		shape += "?" + strings.Join(names, "&")
	}
	return shape
}

// load returns the text of a page or asset and its compressed size; "" if it is neither.
func load(t *testing.T, base, path string) (text string, weight int) {
	t.Helper()
	r, err := http.NewRequest("GET", base+path, nil)
	if err != nil {
		return "", 0
	}
	r.Header.Set("Accept", "text/html,*/*;q=0.1")
	r.Header.Set("Accept-Encoding", "gzip")
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	asset := strings.HasPrefix(path, "/assets/")
	if res.StatusCode != 200 || !asset && !strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") {
		return "", 0
	}
	sent := &counted{Reader: res.Body}
	body := io.Reader(sent)
	if res.Header.Get("Content-Encoding") == "gzip" {
		if body, err = gzip.NewReader(sent); err != nil {
			t.Fatal(err)
		}
	}
	data, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(data), sent.n
}

// counted counts the bytes that are read.
type counted struct {
	io.Reader
	n int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += n
	return n, err
}

// descriptionOf returns what a page says of itself to search engines.
func descriptionOf(doc *html.Node) string {
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && n.Data == "meta" && attribute(n, "name") == "description" {
			return attribute(n, "content")
		}
	}
	return ""
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
