package rdfio

import (
	"cmp"
	"io"
	"slices"
	"strings"
)

// literal reads the content of the element that was just opened, and its end tag. It returns the content as the lexical
// form of an rdf:XMLLiteral, in Exclusive XML Canonicalization 1.0 with comments.
func (x *xmlScanner) literal() (string, error) {
	markup, _, err := x.content()
	return string(markup), err
}

// content is literal. It also returns the text of the content, nil if the content has elements.
func (x *xmlScanner) content() (markup, text []byte, err error) {
	var b []byte
	text, onlyText := []byte{}, true
	depth := len(x.open)
	rendered := []xmlBinding{{"", ""}, {"xml", xmlNS}} // declarations in scope of the output
	var marks []int                                    // length of rendered outside each open element of the output
	for {
		kind, err := x.next()
		if err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, nil, err
		}
		switch kind {
		case xmlStart:
			text, onlyText = nil, false
			marks = append(marks, len(rendered))
			b, rendered = x.canonicalStart(b, rendered)
		case xmlEnd:
			if len(x.open) < depth {
				return b, text, nil
			}
			b = append(append(append(b, "</"...), x.name.raw...), '>')
			rendered = rendered[:marks[len(marks)-1]]
			marks = marks[:len(marks)-1]
		case xmlText:
			b = escapeXML(b, x.text, &textEscapes)
			if onlyText {
				text = append(text, x.text...)
			}
		case xmlComment:
			b = append(append(append(b, "<!--"...), newlines(x.text)...), "-->"...)
		case xmlPI:
			b = append(append(append(b, "<?"...), canonicalPI(string(newlines(x.text)))...), "?>"...)
		}
		if len(b) > x.lim.Token {
			return nil, nil, x.in.failWith(0, limitError("a literal", int64(x.lim.Token)))
		}
	}
}

// canonicalStart appends the start tag, with declarations of the namespaces that it uses and that are not rendered yet.
func (x *xmlScanner) canonicalStart(b []byte, rendered []xmlBinding) ([]byte, []xmlBinding) {
	b = append(append(b, '<'), x.name.raw...)
	used := []xmlBinding{{x.name.prefix, x.name.space}}
	for _, a := range x.attrs {
		if a.name.prefix != "" && !slices.Contains(used, xmlBinding{a.name.prefix, a.name.space}) {
			used = append(used, xmlBinding{a.name.prefix, a.name.space})
		}
	}
	slices.SortFunc(used, func(a, b xmlBinding) int { return strings.Compare(a.prefix, b.prefix) })
	for _, u := range used {
		i := len(rendered) - 1
		for i >= 0 && rendered[i].prefix != u.prefix {
			i--
		}
		if i >= 0 && rendered[i].iri == u.iri {
			continue
		}
		rendered = append(rendered, u)
		b = append(b, " xmlns"...)
		if u.prefix != "" {
			b = append(append(b, ':'), u.prefix...)
		}
		b = append(escapeXML(append(b, `="`...), u.iri, &attrEscapes), '"')
	}
	attrs := slices.Clone(x.attrs)
	slices.SortFunc(attrs, func(a, b xmlAttr) int {
		return cmp.Or(strings.Compare(a.name.space, b.name.space), strings.Compare(a.name.local, b.name.local))
	})
	for _, a := range attrs {
		b = append(append(append(b, ' '), a.name.raw...), `="`...)
		b = append(escapeXML(b, a.value, &attrEscapes), '"')
	}
	return append(b, '>'), rendered
}

// How canonical XML writes characters in text and in the values of attributes.
var (
	textEscapes = [256]string{'&': "&amp;", '<': "&lt;", '>': "&gt;", '\r': "&#xD;"}
	attrEscapes = [256]string{'&': "&amp;", '<': "&lt;", '"': "&quot;", '\t': "&#x9;", '\n': "&#xA;", '\r': "&#xD;"}
)

func escapeXML[T string | []byte](b []byte, s T, escapes *[256]string) []byte {
	for i := range len(s) {
		if e := escapes[s[i]]; e != "" {
			b = append(b, e...)
		} else {
			b = append(b, s[i])
		}
	}
	return b
}

// canonicalPI reduces the white space after the target of a processing instruction to one space.
func canonicalPI(s string) string {
	i := strings.IndexAny(s, " \t\n")
	if i < 0 {
		return s
	}
	rest := strings.TrimLeft(s[i:], " \t\n")
	if rest == "" {
		return s[:i]
	}
	return s[:i] + " " + rest
}
