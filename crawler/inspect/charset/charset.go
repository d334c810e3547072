// Package charset detects the character encoding of a text, and decodes it.
//
// Detect examines the first bytes of a text and returns its encoding with a confidence and a reason. NewReader decodes
// a named encoding to UTF-8 without a byte order mark. Names are lower case, and are those that both the WHATWG
// registry and common programming languages understand ("utf-8", "windows-1252", "euc-jp").
//
// No input panics, and memory is bounded by the sample. Bytes without a meaning in the encoding do not end the text:
// they become U+FFFD, or pass through unchanged in UTF-8. Of markup, the package reads only the encoding declarations
// of XML, HTML and CSS. It does not identify languages.
package charset

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"unicode"
	"unicode/utf8"
)

// Guess is an encoding and the reason for it.
type Guess struct {
	Name       string  // canonical name, "" if the bytes are not text
	Confidence float64 // 0 to 1
	Because    string  // one sentence
}

// sampleSize is the number of bytes of a text that Detect examines.
const sampleSize = 256 << 10

// Detect returns the encoding of a text from its beginning. hint is the declared encoding (the charset parameter of
// Content-Type, a catalog's field) or "". It is used if the bytes agree.
func Detect(head []byte, hint string) Guess {
	if len(head) > sampleSize {
		head = head[:sampleSize]
	}
	for _, f := range []func([]byte) (Guess, bool){byMark, byEscapes, byNulls, byControls, byUTF8} {
		if g, ok := f(head); ok {
			return g
		}
	}
	return byModels(head, hint)
}

// byMark recognises a byte order mark.
func byMark(b []byte) (Guess, bool) {
	for _, m := range []struct{ mark, name string }{
		{"\xef\xbb\xbf", "utf-8"},
		{"\xff\xfe\x00\x00", "utf-32le"},
		{"\x00\x00\xfe\xff", "utf-32be"},
		{"\xff\xfe", "utf-16le"},
		{"\xfe\xff", "utf-16be"},
	} {
		if bytes.HasPrefix(b, []byte(m.mark)) {
			return Guess{m.name, 1, fmt.Sprintf("begins with the byte order mark of %s", m.name)}, true
		}
	}
	return Guess{}, false
}

// byNulls recognises UTF-16 and UTF-32 without a mark by the positions of zero bytes.
func byNulls(b []byte) (Guess, bool) {
	n := min(len(b), 4096) &^ 3
	if n < 4 {
		return Guess{}, false
	}
	var at [4]int
	for i := range n {
		if b[i] == 0 {
			at[i&3]++
		}
	}
	q := n / 4
	mostly := func(k int) bool { return at[k]*10 >= q*6 }
	none := func(k int) bool { return at[k]*20 <= q }
	switch {
	case at[0]+at[1]+at[2]+at[3] == 0:
		return Guess{}, false
	case at[3] == q && at[2]*10 >= q*9 && none(0):
		return Guess{"utf-32le", 0.95, "zero bytes stand where UTF-32LE has them"}, true
	case at[0] == q && at[1]*10 >= q*9 && none(3):
		return Guess{"utf-32be", 0.95, "zero bytes stand where UTF-32BE has them"}, true
	case mostly(1) && mostly(3) && none(0) && none(2):
		return Guess{"utf-16le", 0.9, "every second byte is zero, as in UTF-16LE"}, true
	case mostly(0) && mostly(2) && none(1) && none(3):
		return Guess{"utf-16be", 0.9, "every second byte is zero, as in UTF-16BE"}, true
	}
	return Guess{}, false
}

// byControls recognises UTF-16 without a mark in scripts whose letters have no zero byte. As bytes they contain many
// control characters, as UTF-16 they are text.
func byControls(b []byte) (Guess, bool) {
	n := min(len(b), 4096) &^ 1
	control, latin := 0, 0
	for _, c := range b[:n] {
		switch {
		case c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\v' && c != '\f' && c != 0x1b || c == 0x7f:
			control++
		case c < 0x7f:
			latin++
		}
	}
	if n < 8 || control*25 < n {
		return Guess{}, false
	}
	text := func(at int) (share float64) {
		good := 0
		for i := 0; i < n; i += 2 {
			u := rune(b[i+at])<<8 | rune(b[i+1-at])
			switch {
			case u == '\n' || u == '\r' || u == '\t' || u == 0xFEFF || u >= 0xD800 && u < 0xE000:
				good++
			case u >= ' ' && u != 0x7f &&
				(unicode.IsLetter(u) || unicode.IsPunct(u) || unicode.IsSpace(u) || unicode.IsDigit(u) || unicode.IsMark(u)):
				good++
			}
		}
		return float64(good) / float64(n/2)
	}
	le, be := text(1), text(0)
	if le >= 0.97 && be >= 0.97 { // both could be text: the bytes that select the script vary less than those that select the letter
		if odd, even := variety(b[:n], 1), variety(b[:n], 0); odd < even {
			be = 0
		} else {
			le = 0
		}
	}
	if latin*5 >= n*4 { // one byte a character: pairs of them would be signs of Chinese, whatever they say
		le, be = 0, 0
	}
	switch {
	case le >= 0.97 && le > be:
		return Guess{"utf-16le", 0.8, "control characters as bytes, text as UTF-16LE"}, true
	case be >= 0.97 && be > le:
		return Guess{"utf-16be", 0.8, "control characters as bytes, text as UTF-16BE"}, true
	case ascii(b):
		return Guess{"ascii", 0.5, "bytes below 128, many of them control characters"}, true
	case bytes.IndexByte(b[:n], 0) >= 0:
		return Guess{"", 0.5, "bytes of no text"}, true
	}
	return Guess{}, false
}

// variety returns the number of distinct bytes in nine tenths of every second byte, starting at from.
func variety(b []byte, from int) (n int) {
	var count [256]int
	for i := from; i < len(b); i += 2 {
		count[b[i]]++
	}
	slices.Sort(count[:])
	for left := len(b) / 2 * 9 / 10; left > 0 && n < 256; n++ {
		left -= count[255-n]
	}
	return n
}

// byEscapes recognises the seven-bit encodings that switch between character sets: ISO 2022 and HZ.
func byEscapes(b []byte) (Guess, bool) {
	if !ascii(b) {
		return Guess{}, false
	}
	var escapes []byte // from the first escape on
	if i := bytes.IndexByte(b, '\x1b'); i >= 0 {
		escapes = b[i:]
	}
	for _, e := range []struct{ escape, name string }{
		{"\x1b$)C", "iso-2022-kr"}, {"\x1b$B", "iso-2022-jp"}, {"\x1b$@", "iso-2022-jp"}, {"\x1b(J", "iso-2022-jp"},
		{"\x1b(I", "iso-2022-jp"},
		{"\x1b$A", "iso-2022-jp-2"}, {"\x1b$(C", "iso-2022-jp-2"}, {"\x1b$(D", "iso-2022-jp-1"}, {"\x1b$)A", "iso-2022-cn"},
		{"\x1b$)G", "iso-2022-cn"},
	} {
		if bytes.Contains(escapes, []byte(e.escape)) {
			return Guess{e.name, 0.97, fmt.Sprintf("the escape sequence of %s", e.name)}, true
		}
	}
	if i := bytes.Index(b, []byte("~{")); i >= 0 && hz(b[i+2:]) {
		return Guess{"hz", 0.9, "seven-bit Chinese between ~{ and ~}"}, true
	}
	return Guess{}, false
}

// hz reports whether b begins with pairs of GB 2312 up to "~}".
func hz(b []byte) bool {
	for i := 0; i+1 < len(b); i += 2 {
		if b[i] == '~' && b[i+1] == '}' {
			return i > 0
		}
		if b[i] < 0x21 || b[i] > 0x77 || b[i+1] < 0x21 || b[i+1] > 0x7e {
			return false
		}
	}
	return false
}

// byUTF8 recognises ASCII, UTF-8, and UTF-8 with a few invalid bytes.
func byUTF8(b []byte) (Guess, bool) {
	if ascii(b) {
		return Guess{"ascii", 1, "only bytes below 128"}, true
	}
	b = trimPartial(b)
	if utf8.Valid(b) {
		return Guess{"utf-8", 0.99, "valid UTF-8 beyond ASCII"}, true
	}
	good, bad := 0, 0
	for i := 0; i < len(b); {
		if b[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, w := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && w <= 1 {
			bad++
		} else {
			good++
		}
		i += w
	}
	if good >= 8 && bad*10 <= good {
		return Guess{"utf-8", 0.8, fmt.Sprintf("UTF-8 with %d broken bytes among %d characters", bad, good)}, true
	}
	return Guess{}, false
}

func ascii(b []byte) bool {
	for ; len(b) >= 8; b = b[8:] {
		if binary.LittleEndian.Uint64(b)&0x8080808080808080 != 0 {
			return false
		}
	}
	for _, c := range b {
		if c >= 0x80 {
			return false
		}
	}
	return true
}

// trimPartial removes an incomplete UTF-8 sequence at the end of the sample.
func trimPartial(b []byte) []byte {
	for i := 1; i <= 3 && i <= len(b); i++ {
		c := b[len(b)-i]
		if c >= 0xC0 {
			if !utf8.FullRune(b[len(b)-i:]) {
				return b[:len(b)-i]
			}
			break
		}
		if c < 0x80 {
			break
		}
	}
	return b
}
