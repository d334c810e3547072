package software

import (
	"bufio"
	"net/http"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"golang.org/x/net/html"
)

// fixture is a site of one system, as testdata/NAME.txtar has it: the software with its version in the first line, a
// section for each page ("/path level", with header lines), and links ("page | address | anchor | verdict").
type fixture struct {
	name, software string
	pages          []fixturePage
	links          []fixtureLink
}

type fixturePage struct {
	path   string
	level  Level
	header http.Header
	body   string
}

type fixtureLink struct{ page, address, text, verdict string }

const host = "https://site.example"

func fixtures(t testing.TB) []fixture {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d fixtures, %v", len(files), err)
	}
	var all []fixture
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		archive := txtar.Parse(text)
		f := fixture{name: filepath.Base(file), software: strings.TrimSpace(string(archive.Comment))}
		for _, section := range archive.Files {
			if section.Name == "links" {
				for line := range strings.Lines(string(section.Data)) {
					part := strings.Split(strings.TrimSpace(line), "|")
					if len(part) != 4 {
						t.Fatalf("%s: %q", file, line)
					}
					for i := range part {
						part[i] = strings.TrimSpace(part[i])
					}
					f.links = append(f.links, fixtureLink{part[0], part[1], part[2], part[3]})
				}
				continue
			}
			path, level, _ := strings.Cut(section.Name, " ")
			head, body, _ := strings.Cut("\n"+string(section.Data), "\n\n")
			header, err := textproto.NewReader(bufio.NewReader(strings.NewReader(strings.TrimPrefix(head, "\n") + "\n\n"))).ReadMIMEHeader()
			if err != nil {
				t.Fatalf("%s: %s: %v", file, section.Name, err)
			}
			f.pages = append(f.pages, fixturePage{path, Level(level), http.Header(header), body})
		}
		all = append(all, f)
	}
	return all
}

// page returns a page of a fixture as a crawl reads it.
func (p fixturePage) page(t testing.TB) *Page {
	t.Helper()
	root, err := html.Parse(strings.NewReader(p.body))
	if err != nil {
		t.Fatal(err)
	}
	return &Page{URL: host + p.path, Status: 200, Header: p.header, Root: root}
}

func helper(t testing.TB) *Helper {
	t.Helper()
	h, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestSoftwareIsRecognisedByAnyPage(t *testing.T) {
	t.Parallel()
	h := helper(t)
	for _, f := range fixtures(t) {
		name, version := f.software, ""
		if !slices.Contains(h.Names(), name) {
			at := strings.LastIndexByte(name, ' ')
			name, version = f.software[:at], f.software[at+1:]
		}
		var site Site
		h.See(&site, f.pages[0].page(t))
		if site.Software() != name || site.Systems[0].Weight < Sure || len(site.Systems[0].Because) == 0 {
			t.Errorf("%s: %+v; want %s without doubt", f.name, site.Systems, name)
		} else if site.Systems[0].Version != version && version != "7.4.3" {
			t.Errorf("%s: version %q, want %q", f.name, site.Systems[0].Version, version)
		}
		for _, p := range f.pages {
			var fresh Site
			h.See(&fresh, p.page(t))
			if len(fresh.Systems) > 0 && fresh.Software() != name && fresh.Software() != "" {
				t.Errorf("%s: %s alone is taken for %+v", f.name, p.path, fresh.Systems)
			}
		}
	}
}

func TestLevelsOfPages(t *testing.T) {
	t.Parallel()
	h := helper(t)
	right, all := 0, 0
	for _, f := range fixtures(t) {
		var site Site
		for _, p := range f.pages {
			all++
			if got := h.See(&site, p.page(t)); got == p.level {
				right++
			} else {
				t.Errorf("%s: %s is %q, want %q", f.name, p.path, got, p.level)
			}
		}
		if site.Seen != len(f.pages) {
			t.Errorf("%s: %d pages seen, want %d", f.name, site.Seen, len(f.pages))
		}
	}
	t.Logf("%d of %d levels are right", right, all)
}

func TestHintsForLinks(t *testing.T) {
	t.Parallel()
	h := helper(t)
	for _, f := range fixtures(t) {
		var site Site
		pages := map[string]*Page{}
		for _, p := range f.pages {
			pages[p.path] = p.page(t)
			h.See(&site, pages[p.path])
		}
		for _, l := range f.links {
			page := pages[l.page]
			if page == nil {
				t.Fatalf("%s: there is no page %s", f.name, l.page)
			}
			hint := h.Link(&site, page, Link{URL: host + l.address, Text: l.text})
			if got := verdict(hint, host+l.address); got != l.verdict {
				t.Errorf("%s: %s (%q) is %q, want %q: %+v", f.name, l.address, l.text, got, l.verdict, hint)
			}
		}
	}
}

// verdict says a hint in a word, as fixtures do.
func verdict(hint Hint, address string) string {
	said := string(hint.Level)
	if hint.Follow {
		said += " follow"
	}
	switch {
	case hint.Avoid != "":
		return "avoid"
	case hint.Document:
		return "document"
	case hint.File >= 0.5:
		return "file"
	case hint.URL != address:
		u, err := url.Parse(hint.URL)
		if err != nil {
			return err.Error()
		}
		return "canonical " + u.RequestURI()
	}
	return said
}
