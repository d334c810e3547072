package syntax

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"odarchive/triplestore/internal/terminals"
	"odarchive/triplestore/rdfio/iri"
)

// iri reads an IRIREF. It returns false if '<' begins none and therefore is an operator.
func (l *lexer) iri(t *token) bool {
	rest := l.src[l.pos+1:]
	escaped := false
	for i := 0; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '>':
			t.kind, t.val = tIRI, rest[:i]
			l.pos += i + 2
			if escaped {
				l.unescapeIRI(t)
			}
			if !utf8.ValidString(t.val) {
				l.bad(t, "the IRI is not UTF-8")
			}
			return true
		case c == '\\' && i+1 < len(rest) && (rest[i+1] == 'u' || rest[i+1] == 'U'):
			escaped = true
		case c < utf8.RuneSelf && terminals.Class[c]&terminals.InIRI == 0:
			return false
		}
	}
	return false
}

func (l *lexer) unescapeIRI(t *token) {
	b, bad := terminals.AppendIRI(nil, t.val)
	if bad >= 0 || iri.CheckChars(b) != nil {
		l.bad(t, "an escape sequence in the IRI stands for no character that IRIs may contain")
		return
	}
	t.val = string(b)
}

// varName returns the length of the VARNAME at the start of s, or 0.
func varName(s string) int {
	n := terminals.Label(s)
	if i := strings.IndexAny(s[:n], "-."); i >= 0 {
		return i
	}
	return n
}

func (l *lexer) blank(t *token) {
	n := 0
	if l.at(1) == ':' {
		n = terminals.Label(l.src[l.pos+2:])
	}
	if n == 0 {
		l.bad(t, "a blank node is written _:label")
		return
	}
	t.kind, t.val = tBlank, l.src[l.pos+2:l.pos+2+n]
	l.pos += 2 + n
}

// word reads a keyword or, if a colon follows, a prefixed name.
func (l *lexer) word(t *token) {
	s := l.src[l.pos:]
	if n := terminals.Prefix(s); n < len(s) && s[n] == ':' {
		t.kind, t.val = tName, s[:n]
		l.pos += n + 1
		l.local(t)
		return
	}
	switch r, size := utf8.DecodeRuneInString(s); {
	case r == utf8.RuneError && size == 1:
		l.bad(t, "the text is not UTF-8")
		return
	case !terminals.PNCharsBase(r):
		l.bad(t, fmt.Sprintf("%q has no meaning here", string(r)))
		return
	case size > 1:
		t.val = s[:size]
	default:
		n := 1
		for n < len(s) && terminals.Class[s[n]]&terminals.InName != 0 && s[n] != '-' {
			n++
		}
		t.val = s[:n]
	}
	t.kind = tWord
	l.pos += len(t.val)
}

// local reads a PN_LOCAL, which may be empty.
func (l *lexer) local(t *token) {
	n, escaped, ok := terminals.Local(l.src[l.pos:])
	t.local = l.src[l.pos : l.pos+n]
	l.pos += n
	switch {
	case !ok:
		t.at = l.pos
		l.bad(t, "in a name, '%' comes before two hexadecimal digits and '\\' before a punctuation mark")
	case escaped:
		t.local = string(terminals.AppendLocal(nil, t.local))
	}
}

// lang reads a LANG_DIR (SPARQL 1.2).
func (l *lexer) lang(t *token) {
	s := l.src[l.pos+1:]
	n := terminals.LangTag(s)
	if n == 0 {
		l.bad(t, "a language tag is written @en or @de-AT")
		return
	}
	if direction := s[n:]; strings.HasPrefix(direction, "--") {
		if !strings.HasPrefix(direction, "--ltr") && !strings.HasPrefix(direction, "--rtl") ||
			terminals.LangTag(direction[len("--ltr"):]) > 0 {
			l.bad(t, "a base direction is --ltr or --rtl")
			return
		}
		n += len("--ltr")
	}
	t.kind, t.val = tLang, s[:n]
	l.pos += 1 + n
}

// text reads a string that begins with the quote q.
func (l *lexer) text(t *token, q byte) {
	start := l.pos
	quote := l.src[l.pos : l.pos+1]
	long := strings.HasPrefix(l.src[l.pos:], strings.Repeat(quote, 3))
	if long {
		quote = strings.Repeat(quote, 3)
		t.local = "long"
	}
	l.pos += len(quote)
	rest := l.src[l.pos:]
	var b []byte // the decoded form of rest[:done], nil while there were no escapes
	done := 0
	for i := 0; i < len(rest); {
		switch c := rest[i]; {
		case c == q && strings.HasPrefix(rest[i:], quote):
			t.kind = tString
			if b == nil {
				t.val = rest[:i]
			} else {
				t.val = string(append(b, rest[done:i]...))
			}
			l.pos += i + len(quote)
			if !utf8.ValidString(t.val) {
				l.bad(t, "the string is not UTF-8")
			}
			return
		case c == '\\':
			r, n := terminals.Escape(rest[i:])
			if n == 0 {
				t.at = l.pos + i
				l.bad(t, "unknown escape sequence in a string")
				return
			}
			b = utf8.AppendRune(append(b, rest[done:i]...), r)
			i += n
			done = i
		case (c == '\n' || c == '\r') && !long:
			t.at = start
			l.bad(t, "the string is not closed on its line")
			return
		default:
			i++
		}
	}
	l.bad(t, "the string is never closed")
}
