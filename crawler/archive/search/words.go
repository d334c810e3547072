package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

const (
	maxWord     = 48      // bytes of a word that are kept
	maxWordText = 8 << 10 // bytes of a text that are read
)

// Words returns the distinct words of a text in order, at most max. If parts is set, as for an index, a word of several
// kinds of characters ("Luft2019", "LuftGuete") also yields its parts; a query needs none. A UUID is one word, without
// its hyphens: it is looked for as a whole, and its five groups would be most of the words of a list of CKAN's
// addresses.
func Words(text string, max int, parts bool) []string {
	return (&cutter{max: max, parts: parts, distinct: true}).cut(text)
}

// Sequence returns the words of a text in order, each as often as it occurs, at most max: for phrases.
func Sequence(text string, max int) []string { return (&cutter{max: max}).cut(text) }

func (c *cutter) cut(text string) []string {
	if len(text) > maxWordText {
		text = text[:maxWordText]
	}
	run := c.runes[:0]
	text = norm.NFKD.String(strings.ToValidUTF8(text, " "))
	end := 0 // of the last UUID
	for i, r := range text {
		if i < end {
			continue
		}
		switch {
		case len(run) == 0 && beginsWithUUID(text[i:]):
			c.addWord(strings.ToLower(strings.ReplaceAll(text[i:i+uuidLen], "-", "")))
			end = i + uuidLen
		case unicode.Is(unicode.Mn, r): // an accent, which NFKD separated from its letter
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

// stopWords are words that most addresses begin with, which distinguish no documents.
var stopWords = map[string]bool{"http": true, "https": true, "www": true}

type cutter struct {
	max      int
	parts    bool
	distinct bool // words do not repeat
	words    []string
	seen     map[string]bool // the words if they are more than fewWords
	runes    [64]rune
}

// fewWords is the number of words, as addresses have them, up to which comparing with each is cheaper than a map.
const fewWords = 16

func (c *cutter) add(runes []rune) {
	if len(c.words) >= c.max || len(runes) == 0 {
		return
	}
	c.addWord(fold(runes))
}

// addWord adds a folded word, cut to maxWord bytes.
func (c *cutter) addWord(w string) {
	if len(c.words) >= c.max {
		return
	}
	if len(w) > maxWord {
		end := maxWord
		for !utf8.RuneStart(w[end]) {
			end--
		}
		w = w[:end]
	}
	if !stopWords[w] && !(c.distinct && c.has(w)) {
		if c.words = append(c.words, w); c.seen != nil {
			c.seen[w] = true
		}
	}
}

// has reports whether a word was added.
func (c *cutter) has(w string) bool {
	if len(c.words) <= fewWords {
		return slices.Contains(c.words, w)
	}
	if c.seen == nil {
		c.seen = make(map[string]bool, 4*fewWords)
		for _, w := range c.words {
			c.seen[w] = true
		}
	}
	return c.seen[w]
}

// word adds the words of a run of letters and digits. A run in a script without spaces yields pairs of characters, and
// the last character alone, so that any two adjacent characters, and any one as the beginning of a pair, find the text.
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
	if !c.parts || isLongHex(run) {
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

// minLongHex is the number of digits from which a hexadecimal number counts as an identifier, whose parts mean nothing.
const minLongHex = 16

func isLongHex(run []rune) bool {
	return len(run) >= minLongHex && !slices.ContainsFunc(run, func(r rune) bool { return r >= utf8.RuneSelf || !isHex(byte(r)) })
}

func boundary(a, b rune) bool {
	return unicode.IsDigit(a) != unicode.IsDigit(b) || unicode.IsLower(a) && unicode.IsUpper(b)
}

func unspaced(r rune) bool {
	return r > 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer,
		unicode.Myanmar)
}

// Begins reports whether Find would find a word in a text.
func Begins(text, word string) bool {
	return slices.ContainsFunc(Words(text, 1000, true), func(w string) bool { return Meets(w, word) })
}

// Meets reports whether Find would find word through w, a word of a text.
func Meets(w, word string) bool {
	return w == word || findsBeginnings(word) && strings.HasPrefix(w, word)
}

// fold returns the runes in lower case, or folded if they are not ASCII.
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

// findsBeginnings reports whether a word is long enough to search for words that begin with it.
func findsBeginnings(word string) bool {
	r, n := utf8.DecodeRuneInString(word)
	return len(word) > n || unspaced(r)
}
