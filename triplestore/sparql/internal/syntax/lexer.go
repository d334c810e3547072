package syntax

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

type kind byte

const (
	tEOF    kind = iota
	tIRI         // val: between < and >, escapes decoded, not resolved
	tName        // prefixed name; val: prefix, local: rest with escapes decoded
	tBlank       // val: label
	tVar         // val: name
	tLang        // val: tag, with --dir
	tInt         // unsigned numbers; val as written
	tDec         //
	tDbl         //
	tString      // val: decoded
	tWord        // keyword, 'a', true, false; val as written
	tPunct       // val: the sign
	tBad         // val: what is wrong
)

type token struct {
	kind       kind
	val, local string
	at, end    int // byte offsets in the text
}

// lexer cuts the text into tokens, one at a time (SPARQL 1.1 §19.8, terminals).
type lexer struct {
	src string
	pos int
}

// next gives the next token. At the end, and after a tBad, it keeps giving tEOF.
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
		l.str(t, c)
	case c == '@':
		l.lang(t)
	case c >= '0' && c <= '9', c == '.' && isDigit(l.at(1)):
		l.number(t)
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

// at looks n bytes ahead; 0 at the end.
func (l *lexer) at(n int) byte {
	if l.pos+n < len(l.src) {
		return l.src[l.pos+n]
	}
	return 0
}

// punct takes the first sign that fits.
func (l *lexer) punct(t *token, signs ...string) {
	for _, s := range signs {
		if strings.HasPrefix(l.src[l.pos:], s) {
			t.kind, t.val = tPunct, s
			l.pos += len(s)
			return
		}
	}
	l.bad(t, fmt.Sprintf("%q is no sign of SPARQL", l.src[l.pos:l.pos+1]))
}

func (l *lexer) bad(t *token, why string) {
	t.kind, t.val = tBad, why
}

func (l *lexer) number(t *token) {
	s := l.src[l.pos:]
	digits := func(i int) int {
		for i < len(s) && isDigit(s[i]) {
			i++
		}
		return i
	}
	n := digits(0)
	t.kind = tInt
	exp := func(i int) int { // end of an exponent at i, or i
		if i < len(s) && s[i]|0x20 == 'e' {
			j := i + 1
			if j < len(s) && (s[j] == '+' || s[j] == '-') {
				j++
			}
			if k := digits(j); k > j {
				return k
			}
		}
		return i
	}
	if n < len(s) && s[n] == '.' {
		if f := digits(n + 1); f > n+1 {
			n, t.kind = f, tDec
		} else if exp(n+1) > n+1 { // "1.e5"
			n++
		}
	}
	if e := exp(n); e > n {
		n, t.kind = e, tDbl
	}
	t.val = s[:n]
	l.pos += n
}

// word takes a keyword or, where a colon follows, a prefixed name.
func (l *lexer) word(t *token) {
	s := l.src[l.pos:]
	if r, _ := utf8.DecodeRuneInString(s); !isNameStart(r) {
		if r == utf8.RuneError {
			l.bad(t, "the text is not UTF-8")
		} else {
			l.bad(t, fmt.Sprintf("%q has no meaning here", string(r)))
		}
		return
	}
	n := 0
	for i, r := range s {
		if !isNameChar(r) && r != '.' {
			break
		}
		n = i + utf8.RuneLen(r)
	}
	if n < len(s) && s[n] == ':' && s[n-1] != '.' {
		t.kind, t.val = tName, s[:n]
		l.pos += n + 1
		l.local(t)
		return
	}
	n = 0
	for n < len(s) && (letters(s[n:n+1], true) > 0 || s[n] == '_') {
		n++
	}
	if n == 0 {
		_, n = utf8.DecodeRuneInString(s)
	}
	t.kind, t.val = tWord, s[:n]
	l.pos += n
}

// local takes PN_LOCAL, which may be empty.
func (l *lexer) local(t *token) {
	s := l.src[l.pos:]
	n, escaped := 0, false
	for i := 0; i < len(s); {
		r, w := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '%':
			if i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2]) {
				l.pos += i
				t.at = l.pos
				l.bad(t, "% in a name stands before two hexadecimal digits")
				return
			}
			i += 3
			n = i
		case r == '\\':
			if i+1 >= len(s) || strings.IndexByte("_~.-!$&'()*+,;=/?#@%", s[i+1]) < 0 {
				l.pos += i
				t.at = l.pos
				l.bad(t, "unknown escape in a name")
				return
			}
			escaped = true
			i += 2
			n = i
		case r == ':' || r == '.' && i > 0 || isNameChar(r) && (i > 0 || isNameStart(r) || isDigitRune(r)):
			i += w
			if r != '.' {
				n = i
			}
		default:
			i = len(s)
		}
	}
	t.local = s[:n]
	l.pos += n
	if escaped {
		var b strings.Builder
		for i := 0; i < n; i++ {
			if s[i] == '\\' {
				i++
			}
			b.WriteByte(s[i])
		}
		t.local = b.String()
	}
}
