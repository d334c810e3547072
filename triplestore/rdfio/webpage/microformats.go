package webpage

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"odarchive/triplestore/term"
)

const profileNS = "http://microformats.org/profile/"

// vocabularies are the roots of Microformats 2 that count. The grammar allows any h-name, but so do style sheets, which
// mean heights by h-full or h-screen.
var vocabularies = map[string]bool{
	"h-adr": true, "h-app": true, "h-card": true, "h-cite": true, "h-entry": true, "h-event": true, "h-feed": true, "h-geo": true,
	"h-item": true, "h-leg": true, "h-listing": true, "h-measure": true, "h-news": true, "h-product": true, "h-recipe": true,
	"h-resume": true, "h-review": true, "h-review-aggregate": true, "h-trip": true,
}

// propertyClass matches the class of a property: how its value is read, a vendor's prefix perhaps, and words.
var propertyClass = regexp.MustCompile(`^(p|u|dt|e)-((?:[a-z0-9]+-)?[a-z]+(?:-[a-z]+)*)$`)

// classProperty is a property that a class names.
type classProperty struct{ kind, name string }

// classesOf returns the roots and properties that the classes of an element name, each once.
func classesOf(n *html.Node) (roots []string, properties []classProperty) {
	if n.Type != html.ElementNode {
		return nil, nil
	}
	class, _ := attr(n, "class")
	if !strings.Contains(class, "-") {
		return nil, nil
	}
	seen := map[string]bool{}
	for _, c := range strings.Fields(class) {
		if seen[c] {
			continue
		}
		seen[c] = true
		if vocabularies[c] {
			roots = append(roots, c)
		} else if m := propertyClass.FindStringSubmatch(c); m != nil && c != "p-px" { // which style sheets mean as a padding
			properties = append(properties, classProperty{kind: m[1], name: m[2]})
		}
	}
	return roots, properties
}

// isRoot reports whether an element is an item of Microformats.
func isRoot(n *html.Node) bool {
	class, _ := attr(n, "class")
	return strings.Contains(class, "h-") && slices.ContainsFunc(strings.Fields(class), func(c string) bool { return vocabularies[c] })
}

// formats makes the statements of Microformats 2 (https://microformats.org/wiki/microformats2-parsing).
type formats struct {
	*document
}

// format is an item of Microformats.
type format struct {
	node    *html.Node
	subject term.Key
	vocab   string // namespace of its properties
	names   []string
	texts   bool // it has a p- or e- property
	links   bool // it has a u- property
	nested  bool // there is another item in it
}

// microformats returns the statements of Microformats.
func (d *document) microformats() ([]term.Quad, error) {
	d.out = nil
	if !d.hasFormats {
		return nil, nil
	}
	f := &formats{document: d}
	if err := f.children(d.root, nil); err != nil {
		return nil, err
	}
	return d.out, nil
}

// children makes the statements of the elements below n, which is in the item it, or in none if it is nil. The depth of
// the page, which survey has checked, bounds the recursion.
func (f *formats) children(n *html.Node, it *format) error {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode || c.Data == "template" {
			continue
		}
		if err := f.element(c, it); err != nil {
			return err
		}
	}
	return nil
}

// element makes the statements of an element and those below it.
func (f *formats) element(n *html.Node, it *format) error {
	roots, properties := classesOf(n)
	if it == nil {
		properties = nil // they are nobody's
	}
	for _, p := range properties {
		it.names = append(it.names, p.name)
		it.texts = it.texts || p.kind == "p" || p.kind == "e"
		it.links = it.links || p.kind == "u"
	}
	if len(roots) > 0 {
		return f.item(n, roots, properties, it)
	}
	for _, p := range properties {
		value := f.value(n, p.kind)
		f.made += len(value) // once for each name
		f.emit(it.subject, f.key(term.IRI(it.vocab+p.name)), value)
		if err := f.checkSize(); err != nil {
			return err
		}
	}
	return f.children(n, it)
}

// item makes the statements of an item, which is a value of properties of the item around it, or its child.
func (f *formats) item(n *html.Node, roots []string, properties []classProperty, outer *format) error {
	it := &format{node: n, subject: f.fresh("f-"), vocab: profileNS + roots[0] + "#"}
	for _, root := range roots {
		f.emit(it.subject, rdfType, f.key(term.IRI(profileNS+root)))
	}
	if err := f.children(n, it); err != nil {
		return err
	}
	f.implied(it)
	if outer != nil {
		outer.nested = true
		if len(properties) == 0 {
			properties = []classProperty{{name: "children"}}
		}
		said := map[string]bool{}
		for _, p := range properties {
			if said[p.name] { // u-author p-author h-card
				continue
			}
			said[p.name] = true
			f.emit(outer.subject, f.key(term.IRI(outer.vocab+p.name)), it.subject)
		}
	}
	return f.checkSize()
}

// implied makes the statements of the name, photo and url of an item that has no properties of their kind and no other
// item in it. They are those of its element, of its only child, or of the only child of that.
func (f *formats) implied(it *format) {
	if it.nested {
		return
	}
	say := func(name string, value term.Key) {
		if !slices.Contains(it.names, name) {
			f.emit(it.subject, f.key(term.IRI(it.vocab+name)), value)
		}
	}
	if !it.texts {
		name := ""
		for n, i := it.node, 0; n != nil && i < 3 && name == ""; n, i = onlyChild(n), i+1 {
			name = ownName(n)
		}
		if name == "" {
			name = f.plain(it.node)
		}
		say("name", f.text(name, it.node))
	}
	if it.links {
		return
	}
	say("photo", f.impliedLink(it.node, [][2]string{{"img", "src"}, {"object", "data"}}))
	say("url", f.impliedLink(it.node, [][2]string{{"a", "href"}, {"area", "href"}}))
}

// impliedLink returns the link of an item by its element, or by the only element of its kind among its children, or
// among those of its only child. kinds are elements and their attributes.
func (f *formats) impliedLink(n *html.Node, kinds [][2]string) term.Key {
	for _, k := range kinds {
		if ref, ok := attr(n, k[1]); ok && n.Data == k[0] {
			return f.link(ref)
		}
	}
	for in, i := n, 0; in != nil && i < 2; in, i = onlyChild(in), i+1 {
		for _, k := range kinds {
			only, found := (*html.Node)(nil), 0
			for c := in.FirstChild; c != nil; c = c.NextSibling {
				if c.Type == html.ElementNode && c.Data == k[0] {
					only, found = c, found+1
				}
			}
			if found != 1 {
				continue
			}
			if ref, ok := attr(only, k[1]); ok {
				return f.link(ref)
			}
		}
	}
	return ""
}

// onlyChild returns the only element in n, or nil. Text beside it does not count.
func onlyChild(n *html.Node) *html.Node {
	var only *html.Node
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode {
			continue
		}
		if only != nil {
			return nil
		}
		only = c
	}
	return only
}

// ownName returns the name that an element gives by an attribute.
func ownName(n *html.Node) string {
	name := ""
	switch n.Data {
	case "img", "area":
		name, _ = attr(n, "alt")
	case "abbr":
		name, _ = attr(n, "title")
	}
	return strings.TrimSpace(name)
}
