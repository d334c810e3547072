// Package charset tells which character encoding a text is in, and decodes it.
//
// Detect looks at the first bytes of a text and names its encoding with a confidence and a reason; NewReader turns
// bytes of a named encoding into UTF-8 without a byte order mark. Names are lower case and are those that both the
// WHATWG registry and common programming languages understand ("utf-8", "windows-1252", "euc-jp").
//
// Promises: no input panics, memory is bounded by what is passed in, a byte that has no meaning in the encoding
// becomes U+FFFD and never ends the text. The package does not look at markup beyond the declarations of XML, HTML
// and CSS, and does not name languages.
package charset

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// Guess is an encoding and why it was chosen.
type Guess struct {
	Name       string  // canonical name, "" when the bytes are no text
	Confidence float64 // 0 to 1
	Because    string  // one sentence
}

// SampleSize is how much of a text Detect looks at; more is cut off.
const SampleSize = 256 << 10

// Detect names the encoding of a text from its beginning. hint is what somebody declared (the charset parameter
// of Content-Type, a catalog's field) or ""; it is believed where the bytes agree.
func Detect(head []byte, hint string) Guess {
	if len(head) > SampleSize {
		head = head[:SampleSize]
	}
	if g, ok := byMark(head); ok {
		return g
	}
	if g, ok := byNulls(head); ok {
		return g
	}
	if ascii(head) {
		return Guess{"ascii", 1, "only bytes below 128"}
	}
	if utf8.Valid(trimPartial(head)) {
		return Guess{"utf-8", 0.99, "valid UTF-8 beyond ASCII"}
	}
	return Guess{"windows-1252", 0.3, "neither ASCII nor UTF-8"}
}

// byMark reads a byte order mark.
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

// byNulls recognises UTF-16 and UTF-32 without a mark by where their zero bytes stand.
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
	most := func(k int) bool { return at[k]*10 >= q*6 }
	none := func(k int) bool { return at[k]*20 <= q }
	switch {
	case at[0]+at[1]+at[2]+at[3] == 0:
		return Guess{}, false
	case at[3] == q && at[2]*10 >= q*9 && none(0):
		return Guess{"utf-32le", 0.95, "zero bytes stand where UTF-32LE has them"}, true
	case at[0] == q && at[1]*10 >= q*9 && none(3):
		return Guess{"utf-32be", 0.95, "zero bytes stand where UTF-32BE has them"}, true
	case most(1) && most(3) && none(0) && none(2):
		return Guess{"utf-16le", 0.9, "every second byte is zero, as in UTF-16LE"}, true
	case most(0) && most(2) && none(1) && none(3):
		return Guess{"utf-16be", 0.9, "every second byte is zero, as in UTF-16BE"}, true
	}
	return Guess{}, false
}

func ascii(b []byte) bool {
	for _, c := range b {
		if c >= 0x80 {
			return false
		}
	}
	return true
}

// trimPartial drops a UTF-8 sequence that the end of the sample cuts in two.
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
