package rdfio

import (
	"strings"
	"unicode/utf8"

	"odarchive/triplestore/internal/terminals"
	"odarchive/triplestore/term"
)

// checkXML returns a *TermError if XML or RDF 1.1 in XML cannot express a term of q.
func checkXML(q term.Quad) error {
	for _, k := range [4]term.Key{q.S, q.P, q.O, q.G} {
		switch k.Kind() {
		case term.KindTriple:
			return &TermError{k, "this syntax has no triple terms"}
		case term.KindLiteral:
			if k.Dir() != "" {
				return &TermError{k, "this syntax has no base direction"}
			}
		}
		if strings.ContainsFunc(k.Value(), func(r rune) bool { return !isXMLChar(r) }) && k.Kind() != term.KindBlank {
			return &TermError{k, "XML has no control characters"}
		}
	}
	return nil
}

// appendXMLAttr appends ` name="value"`.
func appendXMLAttr(b []byte, name, value string) []byte {
	b = append(append(append(b, ' '), name...), `="`...)
	return append(escapeXML(b, value, &attrEscapes), '"')
}

// splitQName returns the position in iri of the longest local name at its end. If ok, both parts are not empty.
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
