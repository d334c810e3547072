package scrape

import (
	"net/url"
	"strings"

	"odarchive/triplestore/term"

	"golang.org/x/net/html"
)

// value returns the value that a rule takes from an element. ok is false if the element has no such value.
func (s *scraping) value(v *Value, e *html.Node) (o term.Key, ok bool) {
	text := ""
	isIRI := v.IRI
	switch {
	case v.Attr != "":
		text = attribute(e, v.Attr)
	case v.Auto && linkOf(e) != "":
		text, isIRI = linkOf(e), true
	case v.IRI:
		if text = linkOf(e); text == "" { // the text of the element is used only if it is an absolute address
			if u, err := url.Parse(s.textOf(e)); err == nil && u.IsAbs() && u.Host != "" {
				text = u.String()
			}
		}
	default:
		text = s.textOf(e)
	}
	if text, ok = v.part(text); !ok {
		return "", false
	}
	if len(text) > maxText {
		text, s.result.More = strings.ToValidUTF8(text[:maxText], ""), true
	}
	text = strings.Map(printable, strings.ToValidUTF8(text, "\uFFFD"))
	switch {
	case strings.TrimSpace(text) == "":
		return "", false
	case isIRI:
		iri, err := s.resolve(text)
		return term.IRI(iri), err == nil
	case v.datatype != "":
		return term.Typed(strings.TrimSpace(text), v.datatype), true
	case v.Lang != "":
		return term.Lang(text, v.Lang), true
	}
	return term.String(text), true
}

// part returns the part of a text that Match and Replace select, or the whole text without Match. ok is false if Match
// does not match.
func (v *Value) part(text string) (part string, ok bool) {
	if v.match == nil {
		return text, true
	}
	at := v.match.FindStringSubmatchIndex(text)
	switch {
	case at == nil:
		return "", false
	case v.Replace != "":
		return string(v.match.ExpandString(nil, v.Replace, text, at)), true
	case len(at) > 2 && at[2] >= 0:
		return text[at[2]:at[3]], true
	}
	return text[at[0]:at[1]], true
}

// textOf returns the text inside an element, with single spaces between words. The content of scripts, styles and
// templates is left out.
func (s *scraping) textOf(n *html.Node) string {
	var b strings.Builder
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		switch {
		case b.Len() > 2*maxText || !s.visit():
			return
		case n.Type == html.TextNode:
			b.WriteString(n.Data)
			return
		case n.Type == html.ElementNode && (n.Data == "script" || n.Data == "style" || n.Data == "template"):
			return
		case n.Type == html.ElementNode && (n.Data == "br" || n.Data == "p" || n.Data == "div" || n.Data == "li" || n.Data == "td"):
			b.WriteByte(' ')
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(n)
	return strings.Join(strings.Fields(b.String()), " ")
}

// printable drops control characters.
func printable(r rune) rune {
	if r < ' ' && r != '\t' && r != '\n' || r == 0x7f {
		return -1
	}
	return r
}
