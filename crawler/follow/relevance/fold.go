package relevance

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Limits of what is looked at of a text.
const (
	maxText    = 64 << 10 // bytes of running text
	maxShort   = 1000     // bytes of a title, an anchor, an address
	maxToken   = 60       // bytes of a word
	maxTokens  = 12_000
	maxHeading = 100
)

// tokens returns the words of a text, folded. list is appended to.
func tokens(list []string, text string, limit int) []string {
	if len(text) > limit {
		text = text[:limit]
	}
	start := -1
	plain := true
	for i, r := range text {
		if r < utf8.RuneSelf && (r|0x20 >= 'a' && r|0x20 <= 'z' || r >= '0' && r <= '9') || r >= utf8.RuneSelf &&
			(unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)) {
			if start < 0 {
				start, plain = i, true
			}
			if r >= 'A' && r <= 'Z' || r >= utf8.RuneSelf {
				plain = false
			}
			continue
		}
		if start >= 0 {
			if list = token(list, text[start:i], plain); len(list) >= maxTokens {
				return list
			}
			start = -1
		}
	}
	if start >= 0 {
		list = token(list, text[start:], plain)
	}
	return list
}

func token(list []string, word string, plain bool) []string {
	if len(word) > maxToken {
		return list
	}
	if !plain {
		word = fold(word)
	}
	return append(list, word)
}

// fold returns a word in lower case and without accents. "ß" becomes "ss".
func fold(word string) string {
	ascii := true
	for i := range len(word) {
		ascii = ascii && word[i] < utf8.RuneSelf
	}
	word = strings.ToLower(word)
	if ascii {
		return word
	}
	var b strings.Builder
	for _, r := range norm.NFD.String(word) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r == 'ß':
			b.WriteString("ss")
		case r == 'ø':
			b.WriteByte('o')
		case r == 'æ':
			b.WriteString("ae")
		case r == 'ł':
			b.WriteByte('l')
		case r == 'đ':
			b.WriteByte('d')
		case r == 'ħ':
			b.WriteByte('h')
		case r == 'ς':
			b.WriteRune('σ')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// spelled returns the words of a phrase as addresses spell them: "ä" as "ae", "å" as "aa".
func spelled(phrase string) string {
	return strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "å", "aa", "ø", "oe").Replace(strings.ToLower(phrase))
}
