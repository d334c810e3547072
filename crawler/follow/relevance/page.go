package relevance

import (
	"strings"

	"golang.org/x/net/html"
)

// Limits of a page.
const (
	maxNodes = 200_000
	maxDepth = 500
)

// ReadPage returns what is scored of an HTML page: its title, its headings, and the text of its body.
func ReadPage(url string, root *html.Node) Page {
	r := reader{page: Page{URL: url}}
	r.node(root, 0)
	r.page.Text = strings.TrimSpace(r.text.String())
	return r.page
}

type reader struct {
	page  Page
	text  strings.Builder
	nodes int
}

func (r *reader) node(n *html.Node, depth int) {
	if r.nodes++; r.nodes > maxNodes || depth > maxDepth || r.text.Len() > maxText {
		return
	}
	switch n.Type {
	case html.TextNode:
		for word := range strings.FieldsSeq(n.Data) {
			if r.text.Len() > maxText {
				return
			}
			r.text.WriteString(word)
			r.text.WriteByte(' ')
		}
		return
	case html.ElementNode:
		switch n.Data {
		case "title":
			if r.page.Title == "" {
				r.page.Title = textOf(n)
			}
			return
		case "h1", "h2", "h3":
			if len(r.page.Headings) < maxHeading {
				r.page.Headings = append(r.page.Headings, textOf(n))
			}
			return
		case "script", "style", "noscript", "template", "svg", "nav", "header", "footer", "aside": // the same on every page
			return
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		r.node(c, depth+1)
	}
}

// textOf returns the beginning of the text of an element.
func textOf(n *html.Node) string {
	var b strings.Builder
	looked := 0
	for c := range n.Descendants() {
		if looked++; looked > maxShort || b.Len() > maxShort {
			break
		}
		if c.Type == html.TextNode {
			for word := range strings.FieldsSeq(c.Data) {
				if b.Len() > 0 {
					b.WriteByte(' ')
				}
				b.WriteString(word)
				if b.Len() > maxShort {
					return b.String()[:maxShort]
				}
			}
		}
	}
	return b.String()
}
