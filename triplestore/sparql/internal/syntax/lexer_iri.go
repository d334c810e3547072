package syntax

import (
	"strings"
	"unicode/utf8"
)

// iri takes IRIREF; false where what follows '<' is not one, and '<' is an operator then.
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
		case c <= ' ', strings.IndexByte("<\"{}|^`\\", c) >= 0:
			return false
		}
	}
	return false
}

func (l *lexer) unescapeIRI(t *token) {
	var b strings.Builder
	for s := t.val; s != ""; {
		if s[0] != '\\' {
			b.WriteByte(s[0])
			s = s[1:]
			continue
		}
		r, n := codepoint(s)
		if n == 0 || r <= ' ' || r < utf8.RuneSelf && strings.ContainsRune("<>\"{}|^`\\", r) {
			l.bad(t, "an escape in the IRI names no character that may stand in one")
			return
		}
		b.WriteRune(r)
		s = s[n:]
	}
	t.val = b.String()
}

// codepoint reads \uXXXX or \UXXXXXXXX at the start of s; n is 0 where it names no character.
func codepoint(s string) (r rune, n int) {
	digits := 4
	if len(s) > 1 && s[1] == 'U' {
		digits = 8
	}
	if len(s) < 2+digits {
		return 0, 0
	}
	var v uint32
	for _, c := range []byte(s[2 : 2+digits]) {
		h, ok := hexVal(c)
		if !ok {
			return 0, 0
		}
		v = v<<4 | uint32(h)
	}
	if v > utf8.MaxRune || v >= 0xD800 && v < 0xE000 {
		return 0, 0
	}
	return rune(v), 2 + digits
}

func (l *lexer) blank(t *token) {
	if l.at(1) != ':' {
		l.bad(t, "a blank node is written _:label")
		return
	}
	rest := l.src[l.pos+2:]
	n := 0
	for i, r := range rest {
		if i == 0 && !isNameStart(r) && !isDigitRune(r) || !isNameChar(r) && r != '.' {
			break
		}
		if r != '.' {
			n = i + utf8.RuneLen(r)
		}
	}
	if n == 0 {
		l.bad(t, "a blank node is written _:label")
		return
	}
	t.kind, t.val = tBlank, rest[:n]
	l.pos += 2 + n
}

// lang takes LANG_DIR, of which LANGTAG is the part without "--".
func (l *lexer) lang(t *token) {
	s := l.src[l.pos+1:]
	n := letters(s, false)
	for n > 0 && n+1 < len(s) && s[n] == '-' && letters(s[n+1:], true) > 0 {
		n += 1 + letters(s[n+1:], true)
	}
	if n == 0 {
		l.bad(t, "a language tag is written @en or @de-AT")
		return
	}
	if strings.HasPrefix(s[n:], "--") {
		d := letters(s[n+2:], false)
		if dir := s[n+2 : n+2+d]; dir != "ltr" && dir != "rtl" {
			l.bad(t, "a base direction is --ltr or --rtl")
			return
		}
		n += 2 + d
	}
	t.kind, t.val = tLang, s[:n]
	l.pos += 1 + n
}

func letters(s string, digits bool) int {
	i := 0
	for i < len(s) && (s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z' || digits && isDigit(s[i])) {
		i++
	}
	return i
}
