package rdfio

import (
	"strings"
	"unicode/utf8"

	"odarchive/triplestore/internal/terminals"
	"odarchive/triplestore/term"
)

// checkXML refuses a term that XML or RDF 1.1 in XML cannot hold.
func checkXML(q term.Quad) error {
	for _, k := range [4]term.Key{q.S, q.P, q.O, q.G} {
		switch k.Kind() {
		case term.KindTriple:
			return &TermError{k, "this syntax holds no triple terms"}
		case term.KindLiteral:
			if k.Dir() != "" {
				return &TermError{k, "this syntax holds no base direction"}
			}
			if strings.ContainsFunc(k.Value(), func(r rune) bool { return !isXMLChar(r) }) {
				return &TermError{k, "XML holds no control characters"}
			}
		case term.KindIRI:
			if strings.ContainsFunc(k.Value(), func(r rune) bool { return !isXMLChar(r) }) {
				return &TermError{k, "XML holds no control characters"}
			}
		}
	}
	return nil
}

// appendXMLText appends s as the text of an element.
func appendXMLText(b []byte, s string) []byte { return canonicalText(b, []byte(s)) }

// appendXMLAttr appends ` name="value"`.
func appendXMLAttr(b []byte, name, value string) []byte {
	b = append(append(append(b, ' '), name...), `="`...)
	return append(canonicalAttr(b, value), '"')
}

// splitQName finds the longest end of an IRI that is a local name; 0 < i < len(iri) unless there is none.
func splitQName(iri string) (i int, ok bool) {
	split := len(iri)
	for i := len(iri); i > 0; {
		r, size := utf8.DecodeLastRuneInString(iri[:i])
		if !terminals.PNChars(r) && r != '.' {
			break
		}
		i -= size
		if terminals.PNCharsU(r) {
			split = i
		}
	}
	return split, split < len(iri) && split > 0
}
