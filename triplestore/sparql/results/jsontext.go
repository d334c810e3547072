// Appends JSON strings to byte slices, for writers of many small values that cannot afford the
// allocations of encoding/json. It writes strings only; numbers are strconv's and everything else encoding/json's.

package results

import "unicode/utf8"

const hexDigits = "0123456789abcdef"

// AppendJSON appends s to dst as a JSON string (RFC 8259, section 7), with its quotes. Invalid UTF-8 becomes U+FFFD.
// U+2028 and U+2029 are escaped, because programs that read JSON as JavaScript or line by line take them for ends of
// lines.
func AppendJSON(dst []byte, s string) []byte {
	dst = append(dst, '"')
	done := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' && c != 0x7f {
				i++
				continue
			}
			dst = append(dst, s[done:i]...)
			switch c {
			case '"', '\\':
				dst = append(dst, '\\', c)
			case '\n':
				dst = append(dst, '\\', 'n')
			case '\r':
				dst = append(dst, '\\', 'r')
			case '\t':
				dst = append(dst, '\\', 't')
			default:
				dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			}
			i++
			done = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			dst = append(dst, s[done:i]...)
			dst = append(dst, "\ufffd"...)
			done = i + n
		case r == '\u2028' || r == '\u2029':
			dst = append(dst, s[done:i]...)
			dst = append(dst, '\\', 'u', '2', '0', '2', hexDigits[r&15])
			done = i + n
		}
		i += n
	}
	return append(append(dst, s[done:]...), '"')
}
