package discover

import (
	"bytes"
	"hash/fnv"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
)

// Limits of one page.
const (
	maxLinks    = 3000 // per page; the rest is left out
	maxText     = 160  // bytes of an anchor or heading
	maxPathSize = 300  // bytes of a path of tags
	maxSteps    = 60   // elements of a path
)

// anchor is a link as a page has it.
type anchor struct {
	url      string // absolute, http or https, without fragment
	text     string
	heading  string // that stands before it
	context  string // text of the row or list item around it
	rel      string
	kind     string // media type as declared
	path     string // of tags and first classes, as "body/main/ul.pager/li/a"
	download bool
	main     bool // in the main column
}

// pageView is what is read of a page.
type pageView struct {
	root     *html.Node
	title    string
	heading  string
	lang     string
	site     string // name of the site or its publisher, as the page says
	licence  string
	modified string
	feeds    []anchor // link elements: feeds
	catalogs []anchor // link elements: RDF
	anchors  []anchor
	template uint64 // hash of the set of paths of links in the main column
	content  uint64 // hash of title and links in the main column
	noIndex  bool   // robots meta: nofollow
	data     bool   // has RDF or schema.org markup of datasets
}

// readPage reads a page. It returns nil if the bytes cannot be parsed as HTML, such as elements nested without end.
func readPage(address, contentType string, body []byte) *pageView {
	text := body
	if r, err := charset.NewReader(bytes.NewReader(body), contentType); err == nil {
		var b bytes.Buffer
		if _, err := b.ReadFrom(r); err == nil {
			text = b.Bytes()
		}
	}
	root, err := html.Parse(bytes.NewReader(text))
	if err != nil {
		return nil
	}
	p := &pageView{root: root, data: describesData(text)}
	r := reader{page: p, base: address, seen: map[string]bool{}}
	r.node(root, make([]byte, 0, maxPathSize), 0, frame{})
	p.finish(r.hasMain)
	return p
}

// describesData reports whether a page may describe datasets in JSON-LD, Microdata or RDFa.
func describesData(text []byte) bool {
	return bytes.Contains(text, []byte("schema.org")) &&
		(bytes.Contains(text, []byte("Dataset")) || bytes.Contains(text, []byte("DataCatalog"))) ||
		bytes.Contains(text, []byte("ns/dcat#"))
}

// finish computes what depends on the whole page.
func (p *pageView) finish(hasMain bool) {
	var paths []string
	content := fnv.New64a()
	content.Write([]byte(p.title))
	for i := range p.anchors {
		a := &p.anchors[i]
		if !hasMain {
			a.main = true
		}
		if !a.main {
			continue
		}
		content.Write([]byte(a.url))
		if !slices.Contains(paths, a.path) && len(paths) < 200 {
			paths = append(paths, a.path)
		}
	}
	slices.Sort(paths)
	p.template, p.content = hash(paths...), content.Sum64()
}

// hash returns the hash of texts, each ended by a zero.
func hash(texts ...string) uint64 {
	h := uint64(14695981039346656037)
	for _, t := range texts {
		for i := 0; i < len(t); i++ {
			h = (h ^ uint64(t[i])) * 1099511628211
		}
		h *= 1099511628211
	}
	return h
}

// frame is what an element inherits.
type frame struct {
	main, side, hidden bool
	box                *html.Node // nearest row, list item or paragraph
}

// reader walks the tree of a page.
type reader struct {
	page    *pageView
	base    string
	based   bool
	heading string // last one
	hasMain bool
	seen    map[string]bool
}

// node reads an element and those below it. The parser bounds their depth.
func (r *reader) node(n *html.Node, path []byte, steps int, f frame) {
	if n.Type == html.ElementNode {
		path, steps = extend(path, steps, n)
		if !r.element(n, string(path), &f) {
			return
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		r.node(c, path, steps, f)
	}
}

// extend appends an element and its first class to a path.
func extend(path []byte, steps int, n *html.Node) ([]byte, int) {
	if n.Data == "html" || steps >= maxSteps || len(path) > maxPathSize {
		return path, steps
	}
	path = path[:len(path):len(path)] // siblings must not share what is appended
	if len(path) > 0 {
		path = append(path, '/')
	}
	path = append(path, n.Data...)
	if class, _, _ := strings.Cut(strings.TrimSpace(attr(n, "class")), " "); class != "" && len(class) < 60 {
		path = append(append(path, '.'), class...)
	}
	return path, steps + 1
}

// element reads one element. It returns false if those below it need not be read.
func (r *reader) element(n *html.Node, path string, f *frame) bool {
	p := r.page
	if hidden(n) {
		f.hidden = true
	}
	switch n.Data {
	case "script", "style", "template", "svg":
		return false
	case "html":
		p.lang = attr(n, "lang")
	case "base":
		if href := attr(n, "href"); href != "" && !r.based {
			r.based = true
			if to, err := resolve(r.base, href); err == nil {
				r.base = to
			}
		}
	case "title":
		if p.title == "" {
			p.title = textOf(n)
		}
	case "meta":
		r.meta(strings.ToLower(attr(n, "name")+attr(n, "property")), attr(n, "content"))
	case "link":
		r.link(n)
	case "main", "article":
		f.main, r.hasMain = true, true
	case "nav", "aside", "footer":
		f.side = true
	case "h1", "h2", "h3", "h4", "h5", "h6", "caption", "legend", "dt":
		r.heading = textOf(n)
		if n.Data == "h1" && p.heading == "" {
			p.heading = r.heading
		}
	case "li", "tr", "p", "dd":
		f.box = n
	case "time":
		if at := attr(n, "datetime"); p.modified == "" && len(at) < 40 {
			p.modified = at
		}
	case "a", "area":
		r.anchor(n, path, f)
	case "iframe", "frame":
		r.add(anchor{url: attr(n, "src"), path: path}, f)
	}
	if attr(n, "role") == "main" || attr(n, "id") == "content" {
		f.main, r.hasMain = true, true
	}
	return true
}

// hidden reports whether an element is not shown: what people cannot see is bait.
func hidden(n *html.Node) bool {
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden":
			return true
		case "style":
			style := strings.ToLower(strings.ReplaceAll(a.Val, " ", ""))
			return strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden")
		}
	}
	return false
}

func (r *reader) meta(name, content string) {
	p := r.page
	content = strings.TrimSpace(content)
	if content == "" {
		return
	}
	switch name {
	case "og:site_name", "dc.publisher", "dcterms.publisher", "publisher":
		if p.site == "" {
			p.site = cut(content, maxText)
		}
	case "dcterms.license", "dc.rights", "dcterms.rights", "license":
		if p.licence == "" {
			p.licence = cut(content, 500)
		}
	case "article:modified_time", "dcterms.modified", "last-modified", "date", "dc.date", "og:updated_time":
		if p.modified == "" && len(content) < 40 {
			p.modified = content
		}
	case "robots":
		if strings.Contains(strings.ToLower(content), "nofollow") || strings.EqualFold(content, "none") {
			p.noIndex = true
		}
	}
}

// link reads a link element.
func (r *reader) link(n *html.Node) {
	rel, kind := " "+strings.ToLower(attr(n, "rel"))+" ", strings.ToLower(attr(n, "type"))
	href := attr(n, "href")
	switch {
	case href == "":
	case strings.Contains(rel, " license "):
		if to, err := resolve(r.base, href); err == nil && r.page.licence == "" {
			r.page.licence = to
		}
	case strings.Contains(rel, " next "):
		r.add(anchor{url: href, rel: "next", path: "link.next"}, &frame{main: true})
	case !strings.Contains(rel, " alternate ") && !strings.Contains(rel, " describedby "):
	case kind == "application/rss+xml" || kind == "application/atom+xml":
		r.declared(&r.page.feeds, href, kind)
	case strings.Contains(kind, "turtle") || strings.Contains(kind, "rdf+xml") || strings.Contains(kind, "ld+json") ||
		strings.Contains(kind, "n-triples"):
		r.declared(&r.page.catalogs, href, kind)
	}
}

func (r *reader) declared(list *[]anchor, href, kind string) {
	if to, err := resolve(r.base, href); err == nil && len(*list) < 20 {
		*list = append(*list, anchor{url: to, kind: kind})
	}
}

func (r *reader) anchor(n *html.Node, path string, f *frame) {
	rel := strings.ToLower(attr(n, "rel"))
	if rel != "" {
		words := strings.Fields(rel)
		if slices.Contains(words, "license") && r.page.licence == "" {
			if to, err := resolve(r.base, attr(n, "href")); err == nil {
				r.page.licence = to
			}
			return
		}
		if slices.Contains(words, "nofollow") {
			return
		}
	}
	a := anchor{url: attr(n, "href"), text: textOf(n), rel: rel, kind: attr(n, "type"), path: path, heading: r.heading}
	if a.text == "" {
		a.text = cut(attr(n, "title")+attr(n, "aria-label"), maxText)
	}
	for _, x := range n.Attr {
		a.download = a.download || x.Key == "download"
	}
	if f.box != nil {
		a.context = boxText(f.box)
	}
	r.add(a, f)
}

// add adds a link that people can see, once for each URL.
func (r *reader) add(a anchor, f *frame) {
	if a.url == "" || f.hidden || len(r.page.anchors) >= maxLinks || strings.HasPrefix(a.url, "#") {
		return
	}
	to, err := resolve(r.base, a.url)
	if err != nil || r.seen[to] {
		return
	}
	r.seen[to] = true
	a.url, a.main = to, f.main && !f.side
	r.page.anchors = append(r.page.anchors, a)
}
