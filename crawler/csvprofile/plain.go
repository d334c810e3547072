package csvprofile

import (
	"strings"
	"unicode"
)

// plainness says how much a cell looks like one value, from 0 (a piece of something else) to 1 (a number, a date).
func plainness(cell string) float64 {
	s := strings.TrimSpace(cell)
	if s == "" {
		return 0.5
	}
	if k := kindOf(s); k != kindText {
		return 1
	}
	var letters, digits, spaces, odd int
	for _, c := range s {
		switch {
		case unicode.IsLetter(c) || unicode.IsMark(c):
			letters++
		case unicode.IsDigit(c):
			digits++
		case c == ' ' || c == '\n' || c == '\r':
			spaces++
		case strings.ContainsRune(",;|\t\"", c):
			odd += 2
		case strings.ContainsRune(".-_/()&'%+:", c):
		default:
			odd++
		}
	}
	n := letters + digits + spaces + odd
	if n == 0 {
		return 0.2
	}
	v := 0.9 - 1.2*float64(odd)/float64(n)
	if v < 0.1 {
		v = 0.1
	}
	return v
}
