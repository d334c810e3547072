package syntax

import (
	"fmt"
	"strings"

	"odarchive/triplestore/internal/terminals"
)

type kind byte

const (
	tEOF    kind = iota
	tIRI         // val is the text between < and >, with escapes decoded, not resolved
	tName        // a prefixed name: val is the prefix, local the rest with escapes decoded
	tBlank       // val is the label
	tVar         // val is the name
	tLang        // val is the tag, with its base direction
	tNumber      // unsigned; val is as written, local the XSD datatype without its namespace
	tString      // val is decoded; local is "long" if the string is in triple quotes
	tWord        // a keyword, 'a', true or false; val is as written
	tPunct       // val is the punctuation
	tBad         // val is the error
)

type token struct {
	kind       kind
	val, local string
	at, end    int // byte offsets in the source
}

// lexer splits a request into tokens (SPARQL 1.1 §19.8, terminals).
type lexer struct {
	src string
	pos int
}

// next returns the next token. At the end of the source, and after a tBad, it returns tEOF.
func (l *lexer) next() token {
	l.space()
	t := token{at: l.pos}
	if l.pos >= len(l.src) {
		t.end = l.pos
		return t
	}
	l.scan(&t)
	t.end = l.pos
	if t.kind == tBad {
		l.pos = len(l.src)
	}
	return t
}

// space skips white space and comments.
func (l *lexer) space() {
	for l.pos < len(l.src) {
		switch l.src[l.pos] {
		case ' ', '\t', '\n', '\r':
			l.pos++
		case '#':
			if n := strings.IndexAny(l.src[l.pos:], "\r\n"); n >= 0 {
				l.pos += n
			} else {
				l.pos = len(l.src)
			}
		default:
			return
		}
	}
}

func (l *lexer) scan(t *token) {
	c := l.src[l.pos]
	switch {
	case c == '<':
		if l.iri(t) {
			return
		}
		l.punct(t, "<<(", "<<", "<=", "<")
	case c == '?' || c == '$':
		if n := varName(l.src[l.pos+1:]); n > 0 {
			t.kind, t.val = tVar, l.src[l.pos+1:l.pos+1+n]
			l.pos += 1 + n
			return
		}
		l.punct(t, "?")
	case c == '_':
		l.blank(t)
	case c == '"' || c == '\'':
		l.text(t, c)
	case c == '@':
		l.lang(t)
	case isDigit(c), c == '.' && isDigit(l.at(1)):
		n, datatype := terminals.Number(l.src[l.pos:])
		t.kind, t.val, t.local = tNumber, l.src[l.pos:l.pos+n], datatype
		l.pos += n
	case c == ':':
		l.pos++
		t.kind = tName
		l.local(t)
	case c == '|':
		l.punct(t, "||", "|}", "|")
	case c == '&':
		l.punct(t, "&&")
	case c == '!':
		l.punct(t, "!=", "!")
	case c == '>':
		l.punct(t, ">=", ">>", ">")
	case c == ')':
		l.punct(t, ")>>", ")")
	case c == '^':
		l.punct(t, "^^", "^")
	case c == '{':
		l.punct(t, "{|", "{")
	case strings.IndexByte("}[](;,.*+-/=~", c) >= 0:
		l.punct(t, l.src[l.pos:l.pos+1])
	default:
		l.word(t)
	}
}

// at returns the byte at n bytes after the position, or 0 after the end of the source.
func (l *lexer) at(n int) byte {
	if l.pos+n < len(l.src) {
		return l.src[l.pos+n]
	}
	return 0
}

// punct reads the first of the given tokens that comes next.
func (l *lexer) punct(t *token, signs ...string) {
	for _, s := range signs {
		if strings.HasPrefix(l.src[l.pos:], s) {
			t.kind, t.val = tPunct, s
			l.pos += len(s)
			return
		}
	}
	l.bad(t, fmt.Sprintf("%q is not a SPARQL token", l.src[l.pos:l.pos+1]))
}

func (l *lexer) bad(t *token, why string) {
	t.kind, t.val = tBad, why
}

func isDigit(c byte) bool { return terminals.Class[c]&terminals.Digit != 0 }
