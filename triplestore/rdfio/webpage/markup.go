package webpage

import (
	"maps"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// markupOf returns the content of an element as the lexical form of an rdf:XMLLiteral or rdf:HTML literal. In an
// rdf:XMLLiteral, the outermost elements declare the namespaces in scope.
func (d *document) markupOf(s *step) string {
	var b strings.Builder
	declared := map[string]string{}
	for p := s.prefixes; p != nil; p = p.outer {
		for prefix, ns := range p.own {
			if _, hidden := declared[prefix]; !hidden {
				declared[prefix] = ns
			}
		}
	}
	for c := s.n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode {
			html.Render(&b, c) // a strings.Builder never fails
			continue
		}
		top := *c
		top.Parent, top.PrevSibling, top.NextSibling = nil, nil, nil
		top.Attr = slices.Clone(c.Attr)
		if datatype, _ := attr(s.n, "datatype"); strings.HasSuffix(datatype, "XMLLiteral") {
			top.Attr = append(namespaceAttrs(declared, c), top.Attr...)
		}
		html.Render(&b, &top)
	}
	d.made += b.Len()
	return b.String()
}

// namespaceAttrs returns declarations of the prefixes that n does not declare itself.
func namespaceAttrs(declared map[string]string, n *html.Node) []html.Attribute {
	var attrs []html.Attribute
	for _, prefix := range slices.Sorted(maps.Keys(declared)) {
		if _, own := attr(n, "xmlns:"+prefix); !own {
			attrs = append(attrs, html.Attribute{Key: "xmlns:" + prefix, Val: declared[prefix]})
		}
	}
	return attrs
}
