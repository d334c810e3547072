package ui_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"odarchive/ui/docs"

	"golang.org/x/net/html"
)

// docsPages are the addresses of the documentation.
func docsPages(t *testing.T) []string {
	t.Helper()
	library, err := docs.New()
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, p := range library.Pages() {
		list = append(list, "/docs/"+p.Path)
	}
	return append(list, "/docs/?q=disk+full", "/docs/?q=%3Cscript%3E")
}

// Every page of the documentation is whole, small, and every link and picture of it is there, with its heading.
func TestTheDocumentationIsServedWithAllItsLinks(t *testing.T) {
	t.Parallel()
	h := site(newWorld())
	ids := map[string]map[string]bool{} // by path
	type link struct{ from, path, fragment string }
	var links []link
	for _, address := range docsPages(t) {
		res := get(t, h, address)
		text := body(t, res)
		if res.StatusCode != http.StatusOK {
			t.Fatalf("%s: status %d", address, res.StatusCode)
		}
		if len(text) > 20<<10 && !strings.HasPrefix(address, "/docs/source/") {
			t.Errorf("%s has %d bytes, more than 20 KB", address, len(text))
		}
		doc, err := html.Parse(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		check(t, address, doc)
		at, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		here := map[string]bool{}
		for n := range doc.Descendants() {
			for _, a := range n.Attr {
				switch {
				case a.Key == "id":
					here[a.Val] = true
				case a.Key == "href" || a.Key == "src" && n.Data == "img":
					to, err := at.Parse(a.Val)
					if err != nil {
						t.Errorf("%s: link %q: %v", address, a.Val, err)
					} else if to.Host == "" {
						links = append(links, link{address, to.Path, to.Fragment})
					}
				}
			}
		}
		if at.RawQuery == "" {
			ids[at.Path] = here
		}
	}
	status := map[string]int{}
	for _, l := range links {
		if !strings.HasPrefix(l.path, "/docs") {
			continue // the site's navigation
		}
		if status[l.path] == 0 {
			status[l.path] = get(t, h, l.path).StatusCode
		}
		if status[l.path] != http.StatusOK {
			t.Errorf("%s links to %s: status %d", l.from, l.path, status[l.path])
		}
		if l.fragment != "" && !ids[l.path][l.fragment] {
			t.Errorf("%s links to %s#%s, which is not there", l.from, l.path, l.fragment)
		}
	}
	if len(links) < 500 {
		t.Errorf("only %d links were found", len(links))
	}
}

func TestTheDocumentationIsThereAsMarkdownToo(t *testing.T) {
	t.Parallel()
	h := site(newWorld())
	for address, want := range map[string]string{"/docs/tutorial.md": "# From nothing", "/docs/README.md": "# Documentation",
		"/docs/source/triplestore/wal/FORMAT.md": "# "} {
		res := get(t, h, address)
		if text := body(t, res); !strings.HasPrefix(text, want) || res.Header.Get("Content-Type") != "text/markdown; charset=utf-8" {
			t.Errorf("%s: %s, %.40q", address, res.Header.Get("Content-Type"), text)
		}
	}
	if res := get(t, h, "/docs"); res.StatusCode != http.StatusPermanentRedirect || res.Header.Get("Location") != "docs/" {
		t.Errorf("/docs: %d to %q", res.StatusCode, res.Header.Get("Location"))
	}
	for _, address := range []string{"/docs/nothing", "/docs/../ui.go", "/docs/pictures/..%2Fdocs.go", "/docs/pictures/", "/docs/tutorial/",
		"/docs/docs.go", "/docs/.md"} {
		if res := get(t, h, address); res.StatusCode != http.StatusNotFound {
			t.Errorf("%s: status %d", address, res.StatusCode)
		}
	}
}
