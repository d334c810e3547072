package rdfio

import "unicode/utf8"

// isPNCharsBase is Turtle's PN_CHARS_BASE.
func isPNCharsBase(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z':
		return true
	case r < 0xC0:
		return false
	case r <= 0x2FF:
		return r != 0xD7 && r != 0xF7
	case r <= 0x1FFF:
		return 0x370 <= r && r != 0x37E
	case r <= 0xFFFD:
		return r == 0x200C || r == 0x200D || 0x2070 <= r && r <= 0x218F || 0x2C00 <= r && r <= 0x2FEF ||
			0x3001 <= r && r <= 0xD7FF || 0xF900 <= r && r <= 0xFDCF || 0xFDF0 <= r
	}
	return 0x10000 <= r && r <= 0xEFFFF
}

// isPNCharsU is Turtle's PN_CHARS_U.
func isPNCharsU(r rune) bool { return r == '_' || isPNCharsBase(r) }

// isPNChars is Turtle's PN_CHARS.
func isPNChars(r rune) bool {
	return isPNCharsU(r) || '0' <= r && r <= '9' || r == '-' || r == 0xB7 || 0x300 <= r && r <= 0x36F || r == 0x203F || r == 0x2040
}

// Classes of ASCII bytes, to scan with one table look-up per byte.
const (
	classIRI   = 1 << iota // may stand in an IRIREF as it is
	classPN                // PN_CHARS
	classSpace             // white space of Turtle
	classDigit
	classHex
)

var classes = func() (t [256]byte) {
	for c := 0; c < utf8.RuneSelf; c++ {
		switch c {
		case '<', '>', '"', '{', '}', '|', '^', '`', '\\':
		default:
			if c > ' ' {
				t[c] |= classIRI
			}
		}
		if isPNChars(rune(c)) {
			t[c] |= classPN
		}
		if '0' <= c && c <= '9' {
			t[c] |= classDigit | classHex
		}
		if 'a' <= c|0x20 && c|0x20 <= 'f' {
			t[c] |= classHex
		}
	}
	for _, c := range " \t\r\n" {
		t[c] |= classSpace
	}
	return t
}()

// unhex reads the hexadecimal digits of a \u or \U escape as a character; false for anything that is no Unicode scalar
// value.
func unhex(b []byte) (rune, bool) {
	var r rune
	for _, c := range b {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		if r = r<<4 | rune(c); r > utf8.MaxRune {
			return 0, false
		}
	}
	return r, utf8.ValidRune(r)
}
