package rdfio

import (
	"unicode/utf8"
)

// escape reads the escape sequence at the start of b (ECHAR or UCHAR); n is its length, 0 where it is none.
func escape(b []byte) (r rune, n int) {
	if len(b) < 2 {
		return 0, 0
	}
	switch b[1] {
	case 't':
		return '\t', 2
	case 'b':
		return '\b', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 'f':
		return '\f', 2
	case '"', '\'', '\\':
		return rune(b[1]), 2
	}
	return numericEscape(b)
}

// numericEscape is escape for UCHAR alone.
func numericEscape(b []byte) (r rune, n int) {
	if len(b) < 2 {
		return 0, 0
	}
	switch b[1] {
	case 'u':
		n = 6
	case 'U':
		n = 10
	default:
		return 0, 0
	}
	if len(b) < n {
		return 0, 0
	}
	r, ok := unhex(b[2:n])
	if !ok {
		return 0, 0
	}
	return r, n
}

// langLen is the length of the language tag at the start of b: [a-zA-Z]+ ('-' [a-zA-Z0-9]+)*.
func langLen(b []byte) int {
	n := 0
	for n < len(b) && 'a' <= b[n]|0x20 && b[n]|0x20 <= 'z' {
		n++
	}
	for n > 0 && n < len(b) && b[n] == '-' {
		m := n + 1
		for m < len(b) && ('a' <= b[m]|0x20 && b[m]|0x20 <= 'z' || '0' <= b[m] && b[m] <= '9') {
			m++
		}
		if m == n+1 {
			break
		}
		n = m
	}
	return n
}

// appendLang appends to lex (a text behind a quote, as in the key of a plain string) the key of the same text with a
// language tag; the new key is what lies behind the old length.
func appendLang(lex, tag []byte) []byte {
	b := append(lex, '@')
	for _, c := range tag {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		b = append(b, c)
	}
	b = append(b, 0)
	return append(b, lex[1:]...)
}

// appendTyped is appendLang for a datatype.
func appendTyped(lex []byte, datatype string) []byte {
	b := append(lex, '^')
	b = append(b, datatype...)
	b = append(b, 0)
	return append(b, lex[1:]...)
}

// invalidAt is where the first byte stands that is no UTF-8.
func invalidAt(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(b)
}
