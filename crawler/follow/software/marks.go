package software

import (
	"hash/maphash"
	"net/http"
	"strings"
	"unicode"

	"golang.org/x/net/html"
)

// marks is what rules look at of a page. It is read in one walk.
type marks struct {
	place      place
	title      string
	generators []string
	assets     []string // addresses of scripts, styles and pictures
	links      []string // "rel href" of link elements and Link header fields
	cookies    []string
	selected   map[int]bool // selectors that an element matches
	shape      shape
}

// shape is how a page is built: what stands in its main column.
type shape struct {
	text     int  // bytes of text that are no link
	pager    bool // there are links to further pages of a list
	password bool // there is a field for a password
	targets  int
	groups   map[uint64]*group // by the path of tags
}

// group are links of the main column with the same path of tags.
type group struct {
	links   int
	row     bool     // in a row of a table
	targets []target // of the first links of a page, at most maxTargets in all groups
}

type target struct {
	href, text, mediaType string
	download              bool
}

// Limits of a page.
const (
	maxNodes   = 300_000
	maxDepth   = 400
	maxStrings = 2000 // assets, links
	maxString  = 1000
	maxGroups  = 5000
	maxClasses = 30
	maxTargets = 1000
)

// marks returns the marks of a page.
func (h *Helper) marks(p *Page) *marks {
	if p.marks != nil {
		return p.marks
	}
	m := &marks{place: placeOf(p.URL, nil), selected: map[int]bool{}, shape: shape{groups: map[uint64]*group{}}}
	p.marks = m
	for _, line := range p.Header.Values("Link") {
		m.links = keep(m.links, line)
	}
	m.cookies = append(m.cookies, p.Cookies...)
	for _, c := range (&http.Response{Header: p.Header}).Cookies() {
		m.cookies = keep(m.cookies, c.Name)
	}
	if p.Root != nil {
		w := walk{marks: m, selectors: h.marked, seed: h.seed}
		w.node(p.Root, where{main: true})
	}
	return m
}

func keep(list []string, s string) []string {
	if s = strings.TrimSpace(s); s == "" || len(list) >= maxStrings {
		return list
	}
	return append(list, cut(s))
}

func cut(s string) string {
	if len(s) > maxString {
		return strings.ToValidUTF8(s[:maxString], "")
	}
	return s
}

// walk reads a page.
type walk struct {
	*marks
	selectors *selectors
	seed      maphash.Seed
	nodes     int
	digits    int // consecutive links whose text is a number
	classes   []string
}

// where is the place of an element.
type where struct {
	path  uint64 // hash of the tags and first classes above
	depth int
	main  bool // in the main column
	row   bool // in a row of a table
	link  bool // in a link
}

func (w *walk) node(n *html.Node, at where) {
	if w.nodes++; w.nodes > maxNodes || at.depth > maxDepth {
		return
	}
	switch n.Type {
	case html.TextNode:
		if at.main && !at.link {
			w.shape.text += len(strings.TrimSpace(n.Data))
		}
		return
	case html.ElementNode:
		w.element(n, &at)
		switch n.Data {
		case "script", "style", "noscript", "template", "svg", "title":
			return
		}
	}
	at.depth++
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		w.node(c, at)
	}
}

func (w *walk) element(n *html.Node, at *where) {
	w.classes = w.classes[:0]
	for _, a := range n.Attr {
		if a.Key == "class" {
			for class := range strings.FieldsSeq(a.Val) {
				if len(w.classes) < maxClasses {
					w.classes = append(w.classes, class)
				}
			}
		}
	}
	w.selectors.match(n, w.classes, w.selected)
	at.path = at.path*31 ^ maphash.String(w.seed, n.Data)
	if len(w.classes) > 0 {
		at.path ^= maphash.String(w.seed, w.classes[0]) << 1
	}
	if at.main && beside(n, w.classes) {
		at.main = false
	}
	switch n.Data {
	case "title":
		if w.title == "" && n.FirstChild != nil {
			w.title = cut(strings.Join(strings.Fields(n.FirstChild.Data), " "))
		}
	case "meta":
		if strings.EqualFold(attribute(n, "name"), "generator") {
			w.generators = keep(w.generators, attribute(n, "content"))
		}
	case "link":
		rel := attribute(n, "rel")
		w.links = keep(w.links, rel+" "+attribute(n, "href"))
		if strings.Contains(strings.ToLower(rel), "stylesheet") {
			w.assets = keep(w.assets, attribute(n, "href"))
		}
		if strings.EqualFold(rel, "next") {
			w.shape.pager = true
		}
	case "script", "img":
		w.assets = keep(w.assets, attribute(n, "src"))
	case "tr":
		at.row = true
	case "input":
		if at.main && strings.EqualFold(attribute(n, "type"), "password") {
			w.shape.password = true
		}
	case "a":
		w.anchor(n, at)
		at.link = true
	}
	if !w.shape.pager {
		for _, class := range w.classes {
			w.shape.pager = w.shape.pager || isPager(class)
		}
	}
}

// anchor counts a link.
func (w *walk) anchor(n *html.Node, at *where) {
	href := attribute(n, "href")
	if href == "" || !at.main || strings.HasPrefix(href, "#") || strings.HasPrefix(href, "javascript:") ||
		strings.HasPrefix(href, "mailto:") {
		return
	}
	text := textOf(n)
	if number(text) {
		w.digits++
		w.shape.pager = w.shape.pager || w.digits >= 3
		return
	}
	w.digits = 0
	if strings.EqualFold(attribute(n, "rel"), "next") {
		w.shape.pager = true
		return
	}
	g := w.shape.groups[at.path]
	if g == nil {
		if len(w.shape.groups) >= maxGroups {
			return
		}
		g = &group{}
		w.shape.groups[at.path] = g
	}
	g.links++
	g.row = at.row
	if w.shape.targets++; w.shape.targets <= maxTargets {
		_, download := lookup(n, "download")
		g.targets = append(g.targets, target{href: cut(href), text: text, mediaType: attribute(n, "type"), download: download})
	}
}

func number(s string) bool {
	if s == "" || len(s) > 5 {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool { return !unicode.IsDigit(r) }) < 0
}

// textOf returns the beginning of the text of an element.
func textOf(n *html.Node) string {
	var b strings.Builder
	looked := 0
	for c := range n.Descendants() {
		if looked++; looked > 100 || b.Len() > 200 {
			break
		}
		if c.Type == html.TextNode {
			for word := range strings.FieldsSeq(c.Data) {
				if b.Len() > 0 {
					b.WriteByte(' ')
				}
				b.WriteString(cut(word))
			}
		}
	}
	return b.String()
}

// beside reports whether an element is no part of the main column: menus, heads, feet, side columns.
func beside(n *html.Node, classes []string) bool {
	switch n.Data {
	case "nav", "footer", "aside":
		return true
	case "header":
		return true
	}
	switch attribute(n, "role") {
	case "navigation", "banner", "contentinfo", "complementary", "search", "menu", "menubar":
		return true
	}
	for _, class := range append(classes[:len(classes):len(classes)], attribute(n, "id")) {
		if class == "" || n.Data == "body" || n.Data == "html" {
			continue
		}
		class = strings.ToLower(class)
		for _, sign := range besides {
			if strings.Contains(class, sign) {
				return true
			}
		}
	}
	return false
}

// besides are words in the classes and ids of elements outside the main column: menus, banners, footers.
var besides = []string{"breadcrumb", "crumb", "sidebar", "navbar", "footer", "mainmenu", "main-menu", "menu-item", "site-header",
	"page-header-nav",
	"cookie", "skip-link", "tagcloud", "tag-cloud", "share", "social", "language-switch", "widget_"}

// isPager reports whether a class is one that designers give to links between the pages of a list.
func isPager(class string) bool {
	class = strings.ToLower(class)
	for _, sign := range pagers {
		if strings.Contains(class, sign) {
			return true
		}
	}
	return false
}

var pagers = []string{"pagination", "pager", "page-numbers", "nav-links", "page-navigation", "page-iterator", "paging", "listingbar"}
