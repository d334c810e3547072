package address

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// RemoveSecrets returns a text with "[removed]" in the place of each secret, in any spelling that answers have: as it
// is, with escapes of JSON (some encoders write "\/", or "\u" and digits), of addresses with digits in either case, and
// of markup; also where escapes were escaped once more.
func RemoveSecrets(text string, secrets ...string) string { return Secrets(secrets).Replace(text) }

// longestSpelling is how many bytes of a text may spell one byte of a secret, unless escapes were escaped many times.
const longestSpelling = 16

// maxEscapes is how many times an escape may have been escaped.
const maxEscapes = 4

// spelled returns where a text spells a secret for the first time, and where that ends; from is -1 if it does not.
func spelled(text, secret string) (from, to int) {
	starts := `\%&` + secret[:1]
	if secret[0] == ' ' {
		starts += "+"
	}
	var first [256]bool
	for i := range len(starts) {
		first[starts[i]] = true
	}
	for at := range len(text) {
		if first[text[at]] {
			if end := spelledAt(text, at, secret); end > 0 {
				return at, end
			}
		}
	}
	return -1, -1
}

// spelledAt returns the end of a secret that a text spells at a position, 0 if it does not. It follows all readings at
// once: a backslash may be the secret's own or that of an escape.
func spelledAt(text string, at int, secret string) int {
	begins := false
	for range spellings(text[at:], secret) {
		begins = true
		break
	}
	if !begins {
		return 0
	}
	// ends[i] are ends of spellings of the first i bytes of the secret. A spelling spells one byte, or one character.
	ends := map[int][]int{0: {at}}
	for i := range len(secret) {
		for _, from := range ends[i] {
			for size, end := range spellings(text[from:], secret[i:]) {
				if end += from; !slices.Contains(ends[i+size], end) {
					ends[i+size] = append(ends[i+size], end)
				}
			}
		}
		delete(ends, i)
		if len(ends) == 0 {
			return 0
		}
	}
	if found := ends[len(secret)]; len(found) > 0 {
		return slices.Max(found)
	}
	return 0
}

// spellings yields how many bytes of the beginning of a secret the beginning of a text spells, and with how many bytes
// of its own.
func spellings(text, secret string) func(yield func(size, end int) bool) {
	return func(yield func(size, end int) bool) {
		if text == "" {
			return
		}
		char, size := utf8.DecodeRuneInString(secret)
		if text[0] == secret[0] && !yield(1, 1) {
			return
		}
		switch text[0] {
		case '+':
			if char == ' ' {
				yield(1, 1)
			}
		case '%':
			rest := text[1:]
			for n := 0; n < maxEscapes && strings.HasPrefix(rest, "25"); n++ {
				if secret[0] == '%' && !yield(1, len(text)-len(rest)+2) {
					return
				}
				rest = rest[2:]
			}
			if b, ok := hexadecimal(rest, 2); ok && (byte(b) == secret[0] || b == '+' && char == ' ') {
				yield(1, len(text)-len(rest)+2)
			}
		case '\\':
			rest := strings.TrimLeft(text[1:min(len(text), 1+2*maxEscapes)], `\`)
			rest = text[min(len(text), 1+2*maxEscapes)-len(rest):]
			end := len(text) - len(rest)
			if char == '\\' && end > 1 && !yield(1, end) {
				return
			}
			if rest == "" {
				return
			}
			if rest[0] == secret[0] && size == 1 && !yield(1, end+1) {
				return
			}
			if rest[0] == 'u' {
				if n, ok := hexadecimal(rest[1:], 4); ok && rune(n) == char {
					yield(size, end+5)
				} else if second := strings.TrimLeft(rest[min(len(rest), 5):], `\`); ok && char > 0xffff && strings.HasPrefix(second, "u") {
					high, low := utf16.EncodeRune(char)
					if m, ok := hexadecimal(second[1:], 4); ok && rune(n) == high && rune(m) == low {
						yield(size, len(text)-len(second)+5)
					}
				}
			}
		case '&':
			rest := text[1:]
			for n := 0; n < maxEscapes && strings.HasPrefix(rest, "amp;"); n++ {
				if char == '&' && !yield(1, len(text)-len(rest)+4) {
					return
				}
				rest = rest[4:]
			}
			name, _, found := strings.Cut(rest[:min(len(rest), longestSpelling)], ";")
			if found && entity(name) == char {
				yield(size, len(text)-len(rest)+len(name)+1)
			}
		}
	}
}

func hexadecimal(text string, digits int) (uint64, bool) {
	if len(text) < digits || strings.ContainsAny(text[:digits], "+-_") {
		return 0, false
	}
	n, err := strconv.ParseUint(text[:digits], 16, 32)
	return n, err == nil
}

// entity returns the character of a reference of markup, without "&" and ";"; -1 if it is none of those that encoders
// write.
func entity(name string) rune {
	digits, base := "", 10
	switch {
	case strings.HasPrefix(name, "#x"), strings.HasPrefix(name, "#X"):
		digits, base = name[2:], 16
	case strings.HasPrefix(name, "#"):
		digits = name[1:]
	default:
		switch name {
		case "lt":
			return '<'
		case "gt":
			return '>'
		case "quot":
			return '"'
		case "apos":
			return '\''
		}
		return -1
	}
	n, err := strconv.ParseUint(digits, base, 31)
	if err != nil {
		return -1
	}
	return rune(n)
}
