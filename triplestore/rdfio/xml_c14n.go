package rdfio

import (
	"io"
	"slices"
	"strings"
)

// literal reads the content of the element whose start was told last, up to and including its end, and returns it as
// Exclusive XML Canonicalization 1.0 with comments writes it, as the lexical form of rdf:XMLLiteral.
func (x *xmlScanner) literal() (string, error) {
	markup, _, err := x.content()
	return string(markup), err
}

// content is literal; text is the content as mere text, nil where there are elements in it.
func (x *xmlScanner) content() (markup, text []byte, err error) {
	var b []byte
	text, onlyText := []byte{}, true
	depth := len(x.open)
	rendered := []xmlBinding{{"", ""}, {"xml", xmlNS}} // declarations in scope of the output
	var marks []int                                    // length of rendered outside of each open element of the output
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
			b = canonicalText(b, x.text)
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

// canonicalStart writes a start tag with the namespaces it uses itself and that are not declared yet.
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
		b = append(canonicalAttr(append(b, `="`...), u.iri), '"')
	}
	attrs := slices.Clone(x.attrs)
	slices.SortFunc(attrs, func(a, b xmlAttr) int {
		if c := strings.Compare(a.name.space, b.name.space); c != 0 {
			return c
		}
		return strings.Compare(a.name.local, b.name.local)
	})
	for _, a := range attrs {
		b = append(append(append(b, ' '), a.name.raw...), `="`...)
		b = append(canonicalAttr(b, a.value), '"')
	}
	return append(b, '>'), rendered
}

func canonicalText(b, text []byte) []byte {
	for _, c := range text {
		switch c {
		case '&':
			b = append(b, "&amp;"...)
		case '<':
			b = append(b, "&lt;"...)
		case '>':
			b = append(b, "&gt;"...)
		case '\r':
			b = append(b, "&#xD;"...)
		default:
			b = append(b, c)
		}
	}
	return b
}

func canonicalAttr(b []byte, value string) []byte {
	for i := 0; i < len(value); i++ {
		switch c := value[i]; c {
		case '&':
			b = append(b, "&amp;"...)
		case '<':
			b = append(b, "&lt;"...)
		case '"':
			b = append(b, "&quot;"...)
		case '\t':
			b = append(b, "&#x9;"...)
		case '\n':
			b = append(b, "&#xA;"...)
		case '\r':
			b = append(b, "&#xD;"...)
		default:
			b = append(b, c)
		}
	}
	return b
}

// canonicalPI leaves one space between the target and the rest.
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
