package loose

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// clean removes characters and character references that XML 1.0 section 2.2 excludes. It returns body itself if there
// are none.
func clean(body []byte) []byte {
	out, kept := []byte(nil), 0
	drop := func(from, to int) {
		out, kept = append(out, body[kept:from]...), to
	}
	for i := 0; i < len(body); {
		switch b := body[i]; {
		case b == '&':
			if n := badReference(body[i:]); n > 0 {
				drop(i, i+n)
				i += n
				continue
			}
			i++
		case b >= utf8.RuneSelf:
			r, n := utf8.DecodeRune(body[i:])
			if !allowed(r) || (r == utf8.RuneError && n == 1) {
				drop(i, i+n)
			}
			i += n
		case !allowed(rune(b)):
			drop(i, i+1)
			i++
		default:
			i++
		}
	}
	if kept == 0 {
		return body
	}
	return append(out, body[kept:]...)
}

// badReference returns the length of the reference to an excluded character at the beginning of b, 0 if there is none.
func badReference(b []byte) int {
	if len(b) < 4 || b[1] != '#' {
		return 0
	}
	end := bytes.IndexByte(b[:min(len(b), 16)], ';')
	if end < 3 {
		return 0
	}
	digits, radix := b[2:end], 10
	if digits[0] == 'x' || digits[0] == 'X' {
		digits, radix = digits[1:], 16
	}
	n, err := strconv.ParseUint(string(digits), radix, 32)
	if err != nil || n > utf8.MaxRune || !allowed(rune(n)) {
		return end + 1
	}
	return 0
}

func allowed(r rune) bool {
	switch {
	case r < 0x20:
		return r == '\t' || r == '\n' || r == '\r'
	case r >= 0xD800 && r <= 0xDFFF, r == 0xFFFE, r == 0xFFFF:
		return false
	}
	return true
}
