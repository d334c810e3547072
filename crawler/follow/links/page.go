package links

import (
	"io"
	"strings"

	"golang.org/x/net/html"

	"odarchive/crawler/address"
	"odarchive/triplestore/rdfio/webpage"
)

// Limits of a page.
const (
	maxDepth = 1000 // nesting of elements
	maxPath  = 200  // bytes of the path of tags
)

// page reads a page: its links, and the statements of its RDFa, Microdata, JSON-LD and Microformats.
func (r *reader) page(name string, body io.Reader) {
	r.files++
	prefix := r.o.BlankPrefix
	page, err := webpage.Read(body,
		webpage.Options{Base: r.self, ContentType: r.in.Header.Get("Content-Type"), BlankPrefix: prefix, Context: r.o.Context})
	if err != nil {
		r.fault(name, err)
		return
	}
	for _, err := range page.Faults {
		r.fault(name, err)
	}
	for _, q := range page.All() {
		if !r.statement(q) {
			return
		}
	}
	if page.Root != nil && r.o.Page != nil {
		further, err := r.o.Page(r.ctx, page.Root)
		if err != nil {
			r.fault(name, err)
		}
		for _, q := range further {
			r.doc.Statements++
			if !r.keep(q) {
				return
			}
		}
	}
	base, err := address.Parse(page.Base)
	if err != nil {
		base = r.base
	}
	if page.Root != nil {
		r.elements(page.Root, base, "", 0)
	}
}

// elements takes the links of an element and of those below it. path is that of its parent.
func (r *reader) elements(n *html.Node, base address.URL, path string, depth int) {
	if depth > maxDepth || r.ctx.Err() != nil {
		return
	}
	if n.Type == html.ElementNode {
		path = extended(path, n)
		r.element(n, base, path)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		r.elements(c, base, path, depth+1)
	}
}

// extended returns a path with an element and its first class.
func extended(path string, n *html.Node) string {
	if n.Data == "html" || len(path) > maxPath {
		return path
	}
	step := n.Data
	if class, _, _ := strings.Cut(strings.TrimSpace(attribute(n, "class")), " "); class != "" && len(class) < 60 {
		step += "." + class
	}
	if path == "" {
		return step
	}
	return path + "/" + step
}

func (r *reader) element(n *html.Node, base address.URL, path string) {
	switch n.Data {
	case "meta":
		if strings.EqualFold(attribute(n, "name"), "generator") && r.doc.Generator == "" {
			r.doc.Generator = cut(strings.TrimSpace(attribute(n, "content")), maxText)
		}
	case "link":
		if kind := kindOfRel(attribute(n, "rel")); kind != "" {
			r.add(Link{URL: resolve(attribute(n, "href"), base), Kind: kind, Type: cut(attribute(n, "type"), maxText)})
		}
	case "a", "area":
		href := attribute(n, "href")
		if href == "" || nofollow(attribute(n, "rel")) {
			return
		}
		if to := resolve(href, base); to != "" {
			r.add(Link{URL: to, Kind: Anchor, Type: cut(attribute(n, "type"), maxText), Text: textOf(n), Path: path})
		}
	case "iframe", "frame":
		r.add(Link{URL: resolve(attribute(n, "src"), base), Kind: Anchor, Path: path})
	}
}

// nofollow reports whether a page asks not to follow a link.
func nofollow(rel string) bool {
	for _, one := range strings.Fields(rel) {
		if strings.EqualFold(one, "nofollow") {
			return true
		}
	}
	return false
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}

// textOf returns the beginning of the text of an element.
func textOf(n *html.Node) string {
	var b strings.Builder
	looked := 0
	for c := range n.Descendants() {
		if looked++; looked > maxText { // elements may be nested without any text
			break
		}
		if c.Type == html.TextNode {
			for _, word := range strings.Fields(c.Data) {
				if b.Len() > 0 {
					b.WriteByte(' ')
				}
				b.WriteString(cut(word, maxText))
				if b.Len() > maxText {
					return cut(b.String(), maxText)
				}
			}
		}
	}
	return b.String()
}
