package rdfio

import "unicode/utf8"

// What is expected, in errors, where an escape sequence is malformed.
const (
	unicodeEscape  = `\uXXXX or \UXXXXXXXX with the number of a character`
	escapeSequence = `an escape sequence (\t \b \n \r \f \" \' \\ \uXXXX \UXXXXXXXX)`
)

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
