package syntax

import (
	"unicode/utf8"
)

// varName is the length of VARNAME at the start of s.
func varName(s string) int {
	n := 0
	for i, r := range s {
		ok := isNameStart(r) || isDigitRune(r) || i > 0 && (r == 0xB7 || r >= 0x300 && r <= 0x36F || r == 0x203F || r == 0x2040)
		if !ok {
			break
		}
		n = i + utf8.RuneLen(r)
	}
	return n
}

// isNameStart is PN_CHARS_U.
func isNameStart(r rune) bool {
	switch {
	case r|0x20 >= 'a' && r|0x20 <= 'z' && r < 0x80, r == '_':
		return true
	case r < 0xC0 || r == 0xD7 || r == 0xF7 || r == utf8.RuneError:
		return false
	}
	return r <= 0x2FF || r >= 0x370 && r <= 0x1FFF && r != 0x37E || r == 0x200C || r == 0x200D || r >= 0x2070 && r <= 0x218F ||
		r >= 0x2C00 && r <= 0x2FEF || r >= 0x3001 && r <= 0xD7FF || r >= 0xF900 && r <= 0xFDCF || r >= 0xFDF0 && r <= 0xFFFD || r >= 0x10000 && r <= 0xEFFFF
}

// isNameChar is PN_CHARS.
func isNameChar(r rune) bool {
	return isNameStart(r) || r == '-' || isDigitRune(r) || r == 0xB7 || r >= 0x300 && r <= 0x36F || r == 0x203F || r == 0x2040
}

func isDigit(c byte) bool     { return c >= '0' && c <= '9' }
func isDigitRune(r rune) bool { return r >= '0' && r <= '9' }
func isHex(c byte) bool       { _, ok := hexVal(c); return ok }

func hexVal(c byte) (byte, bool) {
	switch {
	case isDigit(c):
		return c - '0', true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}
