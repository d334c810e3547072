package search

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"odarchive/crawler/archive/records"
	"odarchive/triplestore/text"
)

// Bounds of the vocabulary, which takes some 30 bytes a word.
const (
	maxVocabulary = 400_000
	maxVocabKeys  = 1_000_000 // postings of a field that are read for it
	minVocabulary = 3         // bytes of a word
	maxVocabWord  = 40
	vocabularyAge = 30 * time.Second // how long words that came later are unknown to it, at least
)

// Bounds of what one word of a question is looked up as.
const (
	maxForms       = 40  // words with the same stem
	maxCompounds   = 60  // words that contain it
	maxCorrections = 3   // words that it may be misspelt for
	maxChecked     = 600 // words that begin like its stem and are stemmed
)

// spoken are the fields whose words people wrote; addresses and values have too many that nobody looks for misspelt.
var spoken = []Field{fieldTitle, fieldKeyword, fieldDescription, fieldPublisher, fieldColumn, fieldDocument}

// languages are those in which words of one stem find each other. Texts do not say in which language they are.
var languages = []string{"de", "en"}

// vocabulary is the words of the spoken fields in memory, for forms, compounds and misspelt words. It is a hint: a word
// that it does not have yet is found as it is written.
type vocabulary struct {
	loading sync.Mutex
	mu      sync.Mutex
	words   []string // sorted; replaced, never changed
	made    time.Time
	took    time.Duration
	as      uint64 // count of changes when it was made
}

// vocabularyOf returns the vocabulary, made again if it is old and the index has changed.
func (x *Index) vocabularyOf(ctx context.Context, t records.Txn) ([]string, error) {
	v := &x.vocabulary
	v.loading.Lock()
	defer v.loading.Unlock()
	as := x.changes.Load()
	v.mu.Lock()
	words, fresh := v.words, !v.made.IsZero() && (v.as == as || time.Since(v.made) < max(vocabularyAge, 50*v.took))
	v.mu.Unlock()
	if fresh {
		return words, nil
	}
	begun := time.Now()
	words, _, err := Vocabulary(ctx, t.Txn, spoken, maxVocabKeys, maxVocabulary, isSpoken)
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.words, v.made, v.took, v.as = words, time.Now(), time.Since(begun), as
	return words, nil
}

// isSpoken reports whether a word is of letters alone and of a length at which people misspell it.
func isSpoken(word []byte) bool {
	if len(word) < minVocabulary || len(word) > maxVocabWord {
		return false
	}
	for i := 0; i < len(word); {
		r, n := utf8.DecodeRune(word[i:])
		if !unicode.IsLetter(r) {
			return false
		}
		i += n
	}
	return true
}

// stems returns the distinct stems of a word as written.
func stems(word string) (list []string) {
	for _, lang := range languages {
		if s := text.Stem(lang, word); s != "" && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// formsOf returns the words of a vocabulary with a stem that one of a word has, without the word.
func formsOf(words []string, word string, stemsOf []string) (forms []string) {
	for _, stem := range stemsOf {
		if utf8.RuneCountInString(stem) < minVocabulary {
			continue
		}
		i, _ := slices.BinarySearch(words, stem)
		for n := 0; i < len(words) && n < maxChecked && strings.HasPrefix(words[i], stem); i, n = i+1, n+1 {
			if w := words[i]; w != word && len(w) <= len(stem)+6 && len(forms) < maxForms && !slices.Contains(forms, w) &&
				slices.Contains(stems(w), stem) {
				forms = append(forms, w)
			}
		}
	}
	return forms
}

// umlauts are the two spellings of German vowels and of those of the north; words without accents have the second.
var umlauts = [...][2]string{{"ae", "a"}, {"oe", "o"}, {"ue", "u"}}

// spellings returns other folded spellings of a word as written: Bäume as baeume, baeume as baume.
func spellings(written, folded string) (list []string) {
	if spelt := strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "Ä", "ae", "Ö", "oe", "Ü", "ue").Replace(written); spelt != written {
		list = append(list, Words(spelt, 1, false)...)
	}
	plain := folded
	for _, u := range umlauts {
		plain = strings.ReplaceAll(plain, u[0], u[1])
	}
	if plain != folded {
		list = append(list, plain)
	}
	return list
}

// links are what German puts between the parts of a compound.
var links = []string{"", "s", "n", "es", "en", "e", "er"}

// minCompound is the minimum number of letters of a word that is looked for inside others, and minUnknown of one whose
// other part need not be a word.
const (
	minCompound = 4
	minUnknown  = 8
)

// compoundsOf returns words of a vocabulary that contain a word behind another: baumkataster for kataster.
func compoundsOf(words []string, word string) (found []string) {
	if utf8.RuneCountInString(word) < minCompound {
		return nil
	}
	for _, w := range words {
		if len(w) < len(word)+minVocabulary {
			continue
		}
		i := strings.Index(w[1:], word) + 1
		if i < minVocabulary || len(w) > 3*len(word)+12 {
			continue
		}
		if len(word) < minUnknown && !isHead(words, w[:i]) {
			continue
		}
		if found = append(found, w); len(found) >= 4*maxCompounds {
			break
		}
	}
	slices.SortStableFunc(found, func(a, b string) int { return len(a) - len(b) })
	return found[:min(len(found), maxCompounds)]
}

// isHead reports whether the first part of a compound is a word, with or without what links it to the second.
func isHead(words []string, head string) bool {
	return slices.ContainsFunc(links, func(link string) bool {
		stem, ok := strings.CutSuffix(head, link)
		if !ok || len(stem) < minVocabulary {
			return false
		}
		_, known := slices.BinarySearch(words, stem)
		return known
	})
}

// partsOf returns the two words of a vocabulary that a word is made of.
func partsOf(words []string, word string) (first, second string, ok bool) {
	for i := minCompound; i <= len(word)-minCompound; i++ {
		if !utf8.RuneStart(word[i]) {
			continue
		}
		if _, known := slices.BinarySearch(words, word[i:]); known && isHead(words, word[:i]) {
			for _, link := range links {
				stem, linked := strings.CutSuffix(word[:i], link)
				if _, known := slices.BinarySearch(words, stem); linked && known {
					return stem, word[i:], true
				}
			}
		}
	}
	return "", "", false
}

// correctionsOf returns the words of a vocabulary that a word may be misspelt for, the nearest first: with one mistake,
// and in words of eight letters and more with two. A mistake is a letter too many, too few or wrong, or two exchanged.
func correctionsOf(words []string, word string) (list []string) {
	letters := []rune(word)
	if len(letters) < minCompound {
		return nil
	}
	allowed := 1
	if len(letters) >= 8 {
		allowed = 2
	}
	type candidate struct {
		word     string
		mistakes int
	}
	var found []candidate
	var d distances
	for _, w := range words {
		if len(w) > len(word)+4*allowed || len(w)+4*allowed < len(word) {
			continue
		}
		if n := d.between(letters, w, allowed); n > 0 && n <= allowed {
			found = append(found, candidate{w, n})
		}
	}
	first, _ := utf8.DecodeRuneInString(word)
	slices.SortStableFunc(found, func(a, b candidate) int {
		if a.mistakes != b.mistakes {
			return a.mistakes - b.mistakes
		}
		begins := func(s string) int { // mistakes in the first letter are rare
			if r, _ := utf8.DecodeRuneInString(s); r == first {
				return 0
			}
			return 1
		}
		return begins(a.word) - begins(b.word)
	})
	for _, c := range found {
		if c.mistakes > found[0].mistakes || len(list) == maxCorrections {
			break
		}
		list = append(list, c.word)
	}
	return list
}

// distances computes distances of words, with the memory of the last one.
type distances struct {
	letters []rune
	rows    [3][]int
}

// between returns the number of mistakes between a word's letters and another word (the optimal string alignment
// distance), or a number above limit as soon as it is known to be greater.
func (d *distances) between(a []rune, word string, limit int) int {
	d.letters = d.letters[:0]
	for _, r := range word {
		d.letters = append(d.letters, r)
	}
	b := d.letters
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	for i := range d.rows {
		d.rows[i] = slices.Grow(d.rows[i][:0], len(b)+1)[:len(b)+1]
	}
	before, last, row := d.rows[0], d.rows[1], d.rows[2]
	for j := range last {
		last[j] = j
	}
	for i, r := range a {
		row[0] = i + 1
		least := row[0]
		for j, s := range b {
			cost := 1
			if r == s {
				cost = 0
			}
			n := min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && r == b[j-1] && a[i-1] == s {
				n = min(n, before[j-1]+1)
			}
			row[j+1] = n
			least = min(least, n)
		}
		if least > limit {
			return least
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
