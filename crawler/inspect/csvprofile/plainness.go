package csvprofile

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// What a character contributes to plainness.
const (
	charNeutral = iota // often part of a value: . - _ / ( ) & ' % + :
	charLetter
	charDigit
	charSpace
	charOdd
	charSeparator // , ; | tab " : counts as two odd characters
	chars
)

// asciiChars are the classes of the ASCII characters.
var asciiChars = func() (class [utf8.RuneSelf]uint8) {
	for c := range class {
		switch r := rune(c); {
		case unicode.IsLetter(r):
			class[c] = charLetter
		case unicode.IsDigit(r):
			class[c] = charDigit
		case r == ' ' || r == '\n' || r == '\r':
			class[c] = charSpace
		case strings.ContainsRune(",;|\t\"", r):
			class[c] = charSeparator
		case strings.ContainsRune(".-_/()&'%+:", r):
			class[c] = charNeutral
		default:
			class[c] = charOdd
		}
	}
	return class
}()

// plainness returns how much a cell of that kind looks like one value, from 0 (a piece of something else) to 1 (a
// number, a date).
func plainness(cell string, k kind) float64 {
	if k == kindEmpty {
		return 0.5
	}
	if k != kindText {
		return 1
	}
	s := strings.TrimSpace(cell)
	var seen [chars]int
	for _, c := range s {
		switch {
		case c < utf8.RuneSelf:
			seen[asciiChars[c]]++
		case unicode.IsLetter(c) || unicode.IsMark(c):
			seen[charLetter]++
		case unicode.IsDigit(c):
			seen[charDigit]++
		default:
			seen[charOdd]++
		}
	}
	odd := seen[charOdd] + 2*seen[charSeparator]
	n := seen[charLetter] + seen[charDigit] + seen[charSpace] + odd
	if n == 0 {
		return 0.2
	}
	return max(0.9-1.2*float64(odd)/float64(n), 0.1)
}
