package discover

import (
	"strings"

	"golang.org/x/net/html"
)

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}

// textOf returns the beginning of the text of an element, with single spaces.
func textOf(n *html.Node) string { return gather(n, maxText, false) }

// boxText returns the beginning of the text around links: that of an element without its links.
func boxText(n *html.Node) string { return gather(n, maxText, true) }

func gather(n *html.Node, limit int, withoutLinks bool) string {
	var b strings.Builder
	looked := 0
	var walk func(n *html.Node) bool
	walk = func(n *html.Node) bool {
		if looked++; looked > 200 || b.Len() >= limit {
			return false
		}
		switch {
		case n.Type == html.TextNode:
			for word := range strings.FieldsSeq(n.Data) {
				if b.Len() > 0 {
					b.WriteByte(' ')
				}
				b.WriteString(cut(word, limit))
				if b.Len() >= limit {
					return false
				}
			}
		case n.Type == html.ElementNode && (n.Data == "script" || n.Data == "style" || withoutLinks && n.Data == "a"):
			return true
		case n.Type == html.ElementNode && n.Data == "img":
			b.WriteString(cut(attr(n, "alt"), limit))
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if !walk(c) {
				return false
			}
		}
		return true
	}
	walk(n)
	return cut(strings.TrimSpace(b.String()), limit)
}

// cut returns the first bytes of a text, without half a character.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "")
}
