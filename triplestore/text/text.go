// Package text finds literals by their words: it cuts texts into words, reads queries, and keeps an inverted index of
// literals, ranked by BM25.
//
// A word is a run of letters and digits, folded to one case and without accents; in scripts without spaces, each
// character is a word. A literal whose language has a stemmer is also found by other forms of its words. Find and Match
// agree: Find returns from the index the literals for which Match, which reads the text, is true.
//
// An Index is a set of immutable segments in a key-value database and one growing segment in memory. It only grows; a
// literal that no quad has any more is found nevertheless, and the caller, who joins the literals with quads, drops it.
// The index is derived from the quads and can always be rebuilt. FORMAT.md describes the segments.
package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

const (
	maxWord  = 64      // bytes of a word that are kept
	maxWords = 1 << 14 // words of a literal that are indexed
	maxStems = 1 << 14 // words whose stems an Analyser remembers
)

// stemmers by primary language subtag.
var stemmers = map[string]func(*snowballstem.Env) bool{
	"da": danish.Stem, "nl": dutch.Stem, "en": english.Stem, "fi": finnish.Stem, "fr": french.Stem, "de": german.Stem, "hu": hungarian.Stem,
	"it": italian.Stem, "nb": norwegian.Stem, "nn": norwegian.Stem, "no": norwegian.Stem, "pt": portuguese.Stem, "ro": romanian.Stem,
	"ru": russian.Stem, "es": spanish.Stem, "sv": swedish.Stem,
}

// stemLanguage returns the key in stemmers for a language tag, or "".
func stemLanguage(tag string) string {
	primary, _, _ := strings.Cut(strings.ToLower(tag), "-")
	if _, ok := stemmers[primary]; ok {
		return primary
	}
	return ""
}

// Analyser cuts texts into words. It belongs to one goroutine. The zero value is ready for use.
type Analyser struct {
	stems  map[string]map[string]stemmed // by language and word
	cached int                           // words in stems
	runes  []rune
	found  []occurrenceOf // of growing.add
}

// stemmed is the stem of a word, and the term under which it is indexed.
type stemmed struct{ stem, term string }

// token is a word of a text.
type token struct {
	word string // folded, without accents
	full string // folded, with accents: what is stemmed
	at   uint32 // position among the words of the text
}

// tokens calls f with the words of a text in order, at most maxWords. Words may share memory with the text.
func (a *Analyser) tokens(text string, f func(token)) {
	run := a.runes[:0]
	at := uint32(0)
	flush := func() {
		if len(run) > 0 && at < maxWords {
			full, word := fold(string(run))
			if word != "" {
				f(token{word, full, at})
				at++
			}
		}
		run = run[:0]
	}
	for i := 0; i < len(text) && at < maxWords; {
		if n := asciiWord(text[i:]); n > 0 && len(run) == 0 {
			word := cut(strings.ToLower(text[i : i+n]))
			f(token{word, word, at})
			at++
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		i += n
		switch {
		case unspaced(r):
			flush()
			run = append(run, r)
			flush()
		case unicode.IsLetter(r) || unicode.IsDigit(r) || len(run) > 0 && unicode.Is(unicode.M, r):
			if len(run) <= maxWord {
				run = append(run, r)
			}
		default:
			flush()
		}
	}
	flush()
	a.runes = run
}

// asciiWord returns the length of the word that a text begins with, if it is of ASCII letters and digits and no other
// letter, digit or mark follows, else 0.
func asciiWord(s string) int {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c >= utf8.RuneSelf:
			return 0
		default:
			return i
		}
	}
	return len(s)
}

// unspaced reports whether a letter is of a script that is written without spaces.
func unspaced(r rune) bool {
	return r > 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer,
		unicode.Myanmar)
}

// fold returns a word in one case, with and without accents, each cut to maxWord bytes.
func fold(s string) (full, plain string) {
	ascii := true
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			ascii = false
			break
		}
	}
	if ascii {
		full = cut(strings.ToLower(s))
		return full, full
	}
	full = cut(norm.NFC.String(cases.Fold().String(strings.ToValidUTF8(s, ""))))
	return full, withoutAccents(full)
}

func withoutAccents(s string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(s) {
		if !unicode.Is(unicode.Mn, r) {
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return cut(b.String())
}

// cut shortens a word to maxWord bytes, at the beginning of a character.
func cut(s string) string {
	if len(s) <= maxWord {
		return s
	}
	end := maxWord
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

// stem returns the stem of a folded word in a language of stemmers, without accents.
func (a *Analyser) stem(lang, full string) stemmed {
	words := a.stems[lang]
	if s, ok := words[full]; ok {
		return s
	}
	if a.stems == nil || a.cached >= maxStems {
		a.stems, a.cached, words = map[string]map[string]stemmed{}, 0, nil
	}
	if words == nil {
		words = map[string]stemmed{}
		a.stems[lang] = words
	}
	s := withoutAccents(snowball(lang, full))
	out := stemmed{s, stemTerm(lang, s)}
	words[strings.Clone(full)] = out
	a.cached++
	return out
}

// snowball calls a stemmer. The generated stemmers panic on text that they do not expect; then the word is its own
// stem.
func snowball(lang, word string) (stem string) {
	defer func() {
		if recover() != nil {
			stem = word
		}
	}()
	env := snowballstem.NewEnv(word)
	stemmers[lang](env)
	return env.Current()
}

// stemTerm returns the term under which stems of a language are indexed. No word begins with its first byte.
func stemTerm(lang, stem string) string { return "\x01" + lang + ":" + stem }

// Stem returns the stem of a word in a language, folded and without accents; the folded word if the language has no
// stemmer.
func Stem(lang, word string) string {
	full, plain := fold(word)
	if lang = stemLanguage(lang); lang == "" {
		return plain
	}
	return withoutAccents(snowball(lang, full))
}
