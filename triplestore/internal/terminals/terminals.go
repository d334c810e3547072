// Package terminals holds the lexical rules that N-Triples, Turtle, TriG and SPARQL share: the characters of names, the
// lengths of names, labels, numbers and language tags, and the meaning of escape sequences.
//
// Functions look at the start of a string or byte slice, count in bytes, and allocate nothing unless they append. Names
// of productions are those of the SPARQL grammar (SPARQL 1.1 §19.8), which the Turtle grammar repeats.
package terminals

import (
	"strings"
	"unicode/utf8"
)

// PNCharsBase reports whether r is in PN_CHARS_BASE.
func PNCharsBase(r rune) bool {
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

// PNCharsU reports whether r is in PN_CHARS_U.
func PNCharsU(r rune) bool { return r == '_' || PNCharsBase(r) }

// PNChars reports whether r is in PN_CHARS.
func PNChars(r rune) bool {
	return PNCharsU(r) || '0' <= r && r <= '9' || r == '-' || r == 0xB7 || 0x300 <= r && r <= 0x36F || r == 0x203F || r == 0x2040
}

// Classes of ASCII characters, bits in Class.
const (
	InIRI  = 1 << iota // allowed unescaped in IRIREF
	InName             // in PN_CHARS
	Space              // in WS
	Digit
	Hex
)

// Class maps an ASCII character to its classes, and every byte of a longer character to 0.
var Class = func() (t [256]byte) {
	for c := range byte(utf8.RuneSelf) {
		if c > ' ' && strings.IndexByte("<>\"{}|^`\\", c) < 0 {
			t[c] |= InIRI
		}
		if PNChars(rune(c)) {
			t[c] |= InName
		}
		if strings.IndexByte(" \t\r\n", c) >= 0 {
			t[c] |= Space
		}
		if '0' <= c && c <= '9' {
			t[c] |= Digit | Hex
		}
		if 'a' <= c|0x20 && c|0x20 <= 'f' {
			t[c] |= Hex
		}
	}
	return t
}()

// decode decodes the character at s[i:]. Unlike in the UTF-8 package, its size is 0 if it is not valid UTF-8.
func decode[T string | []byte](s T, i int) (rune, int) {
	var b [utf8.UTFMax]byte
	r, size := utf8.DecodeRune(b[:copy(b[:], s[i:])])
	if r == utf8.RuneError && size == 1 {
		return r, 0
	}
	return r, size
}

// name returns the length of the run of PN_CHARS and inner dots whose first character satisfies first.
func name[T string | []byte](s T, first func(rune) bool) int {
	n, last := 0, 0
	for n < len(s) {
		switch c := s[n]; {
		case c >= utf8.RuneSelf:
			r, size := decode(s, n)
			if size == 0 || !PNChars(r) || n == 0 && !first(r) {
				return last
			}
			n += size
		case c == '.' && n > 0:
			n++
			continue
		case Class[c]&InName == 0 || n == 0 && !first(rune(c)):
			return last
		default:
			n++
		}
		last = n
	}
	return last
}

// Prefix returns the length of the PN_PREFIX at the start of s, or 0.
func Prefix[T string | []byte](s T) int { return name(s, PNCharsBase) }

// Label returns the length of the label at the start of s, which is what follows "_:" in BLANK_NODE_LABEL, or 0. Labels
// are also the non-empty local names that have no colons and need no escapes.
func Label[T string | []byte](s T) int {
	return name(s, func(r rune) bool { return PNCharsU(r) || '0' <= r && r <= '9' })
}

// Local returns the length of the PN_LOCAL at the start of s, which may be empty, and whether it contains
// PN_LOCAL_ESC. If it contains a '%' or '\' that begins no valid sequence, ok is false and n is the position of that.
func Local[T string | []byte](s T) (n int, escaped, ok bool) {
	last := 0
	for n < len(s) {
		switch c := s[n]; {
		case Class[c]&InName != 0 && (n > 0 || c != '-'), c == ':':
			n++
		case c == '.' && n > 0:
			n++
			continue
		case c == '%':
			if n+2 >= len(s) || Class[s[n+1]]&Class[s[n+2]]&Hex == 0 {
				return n, escaped, false
			}
			n += 3
		case c == '\\':
			if n+1 >= len(s) || strings.IndexByte("_~.-!$&'()*+,;=/?#@%", s[n+1]) < 0 {
				return n, escaped, false
			}
			escaped = true
			n += 2
		case c >= utf8.RuneSelf:
			r, size := decode(s, n)
			if size == 0 || !PNCharsU(r) && (n == 0 || !PNChars(r)) {
				return last, escaped, true
			}
			n += size
		default:
			return last, escaped, true
		}
		last = n
	}
	return last, escaped, true
}

// AppendLocal appends the PN_LOCAL s to dst without the backslashes of its escapes.
func AppendLocal[T string | []byte](dst []byte, s T) []byte {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			i++
		}
		dst = append(dst, s[i])
	}
	return dst
}

// Number returns the length of the INTEGER, DECIMAL or DOUBLE without a sign at the start of s, or 0, and its XSD
// datatype without the namespace.
func Number[T string | []byte](s T) (n int, datatype string) {
	digits := func(i int) int {
		for i < len(s) && Class[s[i]]&Digit != 0 {
			i++
		}
		return i
	}
	exponent := func(i int) int { // returns the end of the exponent at i, or i
		if i >= len(s) || s[i]|0x20 != 'e' {
			return i
		}
		from := i + 1
		if from < len(s) && (s[from] == '+' || s[from] == '-') {
			from++
		}
		if end := digits(from); end > from {
			return end
		}
		return i
	}
	n, datatype = digits(0), "integer"
	if n < len(s) && s[n] == '.' {
		if end := digits(n + 1); end > n+1 {
			n, datatype = end, "decimal"
		} else if n > 0 && exponent(n+1) > n+1 { // "1.e5"
			n++
		}
	}
	if end := exponent(n); n > 0 && end > n {
		n, datatype = end, "double"
	}
	return n, datatype
}

// IsNumber reports whether lex, written without quotes, is a literal of the XSD datatype, which is given without its
// namespace.
func IsNumber(lex, datatype string) bool {
	if lex != "" && (lex[0] == '+' || lex[0] == '-') {
		lex = lex[1:]
	}
	n, d := Number(lex)
	return n > 0 && n == len(lex) && d == datatype
}

// LangTag returns the length of the language tag at the start of s, which is LANGTAG without its '@', or 0.
func LangTag[T string | []byte](s T) int {
	n := 0
	for n < len(s) && letter(s[n]) {
		n++
	}
	for n > 0 && n < len(s) && s[n] == '-' {
		m := n + 1
		for m < len(s) && (letter(s[m]) || Class[s[m]]&Digit != 0) {
			m++
		}
		if m == n+1 {
			break
		}
		n = m
	}
	return n
}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// Escape returns the character that the ECHAR or UCHAR at the start of s stands for, and the length of the sequence.
// The length is 0 if there is none.
func Escape[T string | []byte](s T) (r rune, n int) {
	if len(s) >= 2 {
		switch s[1] {
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
			return rune(s[1]), 2
		}
	}
	return codePoint(s)
}

// codePoint is Escape for UCHAR alone.
func codePoint[T string | []byte](s T) (r rune, n int) {
	switch {
	case len(s) >= 6 && s[1] == 'u':
		n = 6
	case len(s) >= 10 && s[1] == 'U':
		n = 10
	default:
		return 0, 0
	}
	for i := 2; i < n; i++ {
		c := s[i]
		switch {
		case Class[c]&Hex == 0:
			return 0, 0
		case c > '9':
			c = c | 0x20 - 'a' + 10
		default:
			c -= '0'
		}
		if r = r<<4 | rune(c); r > utf8.MaxRune {
			return 0, 0
		}
	}
	if !utf8.ValidRune(r) {
		return 0, 0
	}
	return r, n
}

// AppendIRI appends s to dst with each UCHAR replaced by the character it stands for. If s contains a '\' that begins
// no UCHAR, bad is the position of that; otherwise it is -1. AppendIRI does not check the result.
func AppendIRI[T string | []byte](dst []byte, s T) (_ []byte, bad int) {
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			dst = append(dst, s[i])
			i++
			continue
		}
		r, n := codePoint(s[i:])
		if n == 0 {
			return dst, i
		}
		dst = utf8.AppendRune(dst, r)
		i += n
	}
	return dst, -1
}
