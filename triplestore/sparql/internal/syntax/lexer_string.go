package syntax

import (
	"strings"
	"unicode/utf8"
)

func (l *lexer) str(t *token, q byte) {
	start := l.pos
	quote := l.src[l.pos : l.pos+1]
	long := strings.HasPrefix(l.src[l.pos:], strings.Repeat(quote, 3))
	if long {
		quote = strings.Repeat(quote, 3)
		t.local = "long"
	}
	l.pos += len(quote)
	rest := l.src[l.pos:]
	var b []byte // decoded so far, nil while nothing was escaped
	done := 0    // rest[:done] is in b
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
			s, n := escape(rest[i:])
			if n == 0 {
				t.at = l.pos + i
				l.bad(t, "unknown escape in a string")
				return
			}
			b = append(append(b, rest[done:i]...), s...)
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

// escape reads one escape at the start of s; n is 0 where there is none.
func escape(s string) (string, int) {
	if len(s) < 2 {
		return "", 0
	}
	switch s[1] {
	case 't':
		return "\t", 2
	case 'b':
		return "\b", 2
	case 'n':
		return "\n", 2
	case 'r':
		return "\r", 2
	case 'f':
		return "\f", 2
	case '\\', '"', '\'':
		return s[1:2], 2
	case 'u', 'U':
		if r, n := codepoint(s); n > 0 {
			return string(r), n
		}
	}
	return "", 0
}
