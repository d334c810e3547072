package results

import (
	"strconv"
	"unicode/utf8"

	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
)

const (
	sparqlNS = "http://www.w3.org/2005/sparql-results#"
	itsNS    = "http://www.w3.org/2005/11/its"
)

// xmlEncoder writes the SPARQL Query Results XML Format, with the triple terms and base directions of 1.2.
type xmlEncoder struct{ names [][]byte } // each variable, escaped

const xmlHead = `<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<sparql xmlns="` + sparqlNS + `">` + "\n"

func (e *xmlEncoder) begin(dst []byte, vars []string) []byte {
	dst = append(dst, xmlHead+"<head>"...)
	for _, v := range vars {
		name := appendXML(nil, v)
		e.names = append(e.names, name)
		dst = append(dst, `<variable name="`...)
		dst = append(dst, name...)
		dst = append(dst, `"/>`...)
	}
	return append(dst, "</head>\n<results>\n"...)
}

func (e *xmlEncoder) row(dst []byte, _ int64, row []term.Key) []byte {
	dst = append(dst, "<result>"...)
	for i, k := range row {
		if k == "" {
			continue
		}
		dst = append(dst, `<binding name="`...)
		dst = append(dst, e.names[i]...)
		dst = append(dst, `">`...)
		dst = appendXMLTerm(dst, k)
		dst = append(dst, "</binding>"...)
	}
	return append(dst, "</result>\n"...)
}

func (e *xmlEncoder) end(dst []byte) []byte { return append(dst, "</results>\n</sparql>\n"...) }

func (e *xmlEncoder) boolean(dst []byte, v bool) []byte {
	dst = strconv.AppendBool(append(dst, xmlHead+"<head/>\n<boolean>"...), v)
	return append(dst, "</boolean>\n</sparql>\n"...)
}

func appendXMLTerm(dst []byte, k term.Key) []byte {
	switch k.Kind() {
	case term.KindIRI:
		dst = appendXML(append(dst, "<uri>"...), k.Value())
		return append(dst, "</uri>"...)
	case term.KindBlank:
		dst = appendXML(append(dst, "<bnode>"...), rdfio.BlankLabel(k.Value()))
		return append(dst, "</bnode>"...)
	case term.KindTriple:
		s, p, o, _ := k.Parts()
		dst = appendXMLTerm(append(dst, "<triple><subject>"...), s)
		dst = appendXMLTerm(append(dst, "</subject><predicate>"...), p)
		dst = appendXMLTerm(append(dst, "</predicate><object>"...), o)
		return append(dst, "</object></triple>"...)
	}
	dst = append(dst, "<literal"...)
	switch k[0] {
	case '@':
		dst = append(dst, ` xml:lang="`...)
		dst = append(appendXML(dst, k.Lang()), '"')
		if dir := k.Dir(); dir != "" {
			dst = append(dst, ` xmlns:its="`+itsNS+`" its:version="2.0" its:dir="`...)
			dst = append(dst, dir...)
			dst = append(dst, '"')
		}
	case '^':
		dst = append(dst, ` datatype="`...)
		dst = append(appendXML(dst, k.Datatype()), '"')
	}
	dst = appendXML(append(dst, '>'), k.Value())
	return append(dst, "</literal>"...)
}

// appendXML appends s escaped for content and for quoted attributes. Tabs, line feeds and carriage returns become
// character references, so that they survive. Characters that XML 1.0 does not allow (other control characters, U+FFFE,
// U+FFFF) become U+FFFD.
func appendXML(dst []byte, s string) []byte {
	done := 0
	for i := 0; i < len(s); {
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
		}
		var esc string
		switch {
		case r == '<':
			esc = "&lt;"
		case r == '>':
			esc = "&gt;"
		case r == '&':
			esc = "&amp;"
		case r == '"':
			esc = "&quot;"
		case r == '\r':
			esc = "&#xD;"
		case r == '\t':
			esc = "&#x9;"
		case r == '\n':
			esc = "&#xA;"
		case r < ' ', r == 0xFFFE, r == 0xFFFF, r == utf8.RuneError:
			esc = "\ufffd"
		default:
			i += n
			continue
		}
		dst = append(dst, s[done:i]...)
		dst = append(dst, esc...)
		i += n
		done = i
	}
	return append(dst, s[done:]...)
}
