package wordindex

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

const (
	maxWord = 48      // bytes of a word that are kept
	maxText = 8 << 10 // bytes of a text that are looked at
)

// Words of a text, each once, in the order of the text, at most max. With parts, a word of several kinds of characters
// ("Luft2019", "LuftGuete") gives its parts too: an index wants them, a question does not.
func Words(text string, max int, parts bool) []string {
	c := cutter{max: max, parts: parts, seen: map[string]bool{}}
	if len(text) > maxText {
		text = text[:maxText]
	}
	run := c.runes[:0]
	for _, r := range norm.NFKD.String(strings.ToValidUTF8(text, " ")) {
		switch {
		case unicode.Is(unicode.Mn, r): // an accent, apart from its letter since NFKD
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			run = append(run, r)
		case len(run) > 0:
			c.word(run)
			run = run[:0]
		}
	}
	if len(run) > 0 {
		c.word(run)
	}
	return c.words
}

// everywhere are words that addresses begin with: they tell no document from another.
var everywhere = map[string]bool{"http": true, "https": true, "www": true}

type cutter struct {
	max   int
	parts bool
	seen  map[string]bool
	words []string
	runes [64]rune
}

func (c *cutter) add(runes []rune) {
	if len(c.words) >= c.max || len(runes) == 0 {
		return
	}
	w := fold(runes)
	if len(w) > maxWord {
		end := maxWord
		for !utf8.RuneStart(w[end]) {
			end--
		}
		w = w[:end]
	}
	if !c.seen[w] && !everywhere[w] {
		c.seen[w] = true
		c.words = append(c.words, w)
	}
}

// word takes a run of letters and digits. Scripts that are written without spaces give pairs of characters, and the last
// one alone, so that any two neighbours, and any one character as the beginning of a pair, find the text.
func (c *cutter) word(run []rune) {
	start := 0
	for i := range run {
		if i > 0 && unspaced(run[i]) != unspaced(run[i-1]) {
			c.spaced(run[start:i])
			start = i
		}
	}
	c.spaced(run[start:])
}

func (c *cutter) spaced(run []rune) {
	if len(run) == 0 {
		return
	}
	if unspaced(run[0]) {
		for i := 0; i+1 < len(run); i++ {
			c.add(run[i : i+2])
		}
		if c.parts || len(run) == 1 {
			c.add(run[len(run)-1:])
		}
		return
	}
	c.add(run)
	if !c.parts {
		return
	}
	start := 0
	for i := 1; i < len(run); i++ {
		if boundary(run[i-1], run[i]) {
			c.part(run[start:i])
			start = i
		}
	}
	if start > 0 {
		c.part(run[start:])
	}
}

func (c *cutter) part(run []rune) {
	if len(run) > 1 {
		c.add(run)
	}
}

func boundary(a, b rune) bool {
	return unicode.IsDigit(a) != unicode.IsDigit(b) || unicode.IsLower(a) && unicode.IsUpper(b)
}

func unspaced(r rune) bool {
	return r > 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// Begins tells whether one of the words of a text is a word or begins with it, as Find would find it.
func Begins(text, word string) bool {
	return slices.ContainsFunc(Words(text, 1000, true), func(w string) bool { return Meets(w, word) })
}

// Meets tells whether a word of a text is the one of a question, or begins with it, as Find would find it.
func Meets(w, word string) bool { return w == word || whole(word) && strings.HasPrefix(w, word) }

// fold writes letters as all their forms are compared.
func fold(runes []rune) string {
	b := make([]byte, len(runes))
	for i, r := range runes {
		if r >= utf8.RuneSelf {
			return cases.Fold().String(string(runes))
		}
		if b[i] = byte(r); 'A' <= r && r <= 'Z' {
			b[i] += 'a' - 'A'
		}
	}
	return string(b)
}

// whole tells whether a word is long enough to find what begins with it.
func whole(word string) bool {
	r, n := utf8.DecodeRuneInString(word)
	return len(word) > n || unspaced(r)
}
