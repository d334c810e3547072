package syntax

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"odarchive/vocab"
)

// Error is a fault in a text that is not SPARQL.
type Error struct {
	Line, Col int    // of the token at fault, from 1; columns count characters
	Found     string // the token, quoted, or "the end of the text"
	Expected  string // what the grammar allows there; "" if Problem is set
	Problem   string // the rule beyond the grammar that is broken
	Hint      string // how to fix it, may be ""
}

// Error returns the place, the fault and the hint.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "line %d, column %d: ", e.Line, e.Col)
	switch {
	case e.Problem != "":
		b.WriteString(e.Problem)
	case e.Expected != "":
		fmt.Fprintf(&b, "found %s, expected %s", e.Found, e.Expected)
	default:
		fmt.Fprintf(&b, "unexpected %s", e.Found)
	}
	if e.Hint != "" {
		b.WriteString("; ")
		b.WriteString(e.Hint)
	}
	return b.String()
}

// place returns the line and column of a byte offset, both from 1. Lines end at LF, CR or CRLF.
func place(src string, at int) (line, col int) {
	at = min(at, len(src))
	line, start := 1, 0
	for i := 0; i < at; i++ {
		if src[i] == '\n' || src[i] == '\r' && (i+1 >= len(src) || src[i+1] != '\n') {
			line, start = line+1, i+1
		}
	}
	return line, utf8.RuneCountInString(src[start:at]) + 1
}

// otherPrefixes are common prefixes besides those of package vocab.
var otherPrefixes = map[string]string{
	"geo": "http://www.opengis.net/ont/geosparql#",
	"wd":  "http://www.wikidata.org/entity/",
	"wdt": "http://www.wikidata.org/prop/direct/",
}

// prefixHint suggests a declaration of the prefix.
func prefixHint(prefix string) string {
	if iri := cmp.Or(vocab.QueryPrefixes()[prefix], otherPrefixes[prefix]); iri != "" {
		return fmt.Sprintf("add \"PREFIX %s: <%s>\" at the top", prefix, iri)
	}
	return fmt.Sprintf("declare it at the top: PREFIX %s: <...>", prefix)
}
