package relevance

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed words.txt
var wordList string

// Kinds of terms.
const (
	Data     = "data"
	Noise    = "noise"
	Keyword  = "keyword"
	Entity   = "entity"
	Format   = "format"
	next     = "next"
	download = "download"
)

// formats are the names of formats of data. They count as words of their own only: "json", not "jsonp".
const formats = "csv xlsx xls ods json geojson jsonld ndjson xml rdf ttl parquet geopackage gpkg shapefile shp kml kmz gml netcdf sdmx " +
	"arff feather sparql wfs ogc dwca"

// term is a word or phrase that is looked for.
type term struct {
	text  string // as it is listed
	kind  string
	lang  string
	words []word
}

// word is one word of a term. A part of a word is enough for begin and end.
type word struct {
	text       string
	begin, end bool // only the beginning, or the end, of a word is given
}

func (w word) matches(token string) bool {
	switch {
	case w.begin:
		return strings.HasPrefix(token, w.text)
	case w.end:
		return strings.HasSuffix(token, w.text)
	}
	return token == w.text
}

// newTerms returns the terms for a word or phrase: as it is written, and as addresses spell it.
func newTerms(text, kind, lang string) ([]term, error) {
	var all []term
	for _, spelling := range slices.Compact([]string{strings.ToLower(text), spelled(text)}) {
		t := term{text: text, kind: kind, lang: lang}
		for part := range strings.FieldsSeq(spelling) {
			var w word
			part, w.begin = strings.CutSuffix(part, "*")
			part, w.end = strings.CutPrefix(part, "*")
			if w.begin && w.end {
				return nil, fmt.Errorf("%q: '*' stands at the beginning or at the end", text)
			}
			words := tokens(nil, part, maxShort)
			for i, one := range words {
				last := i == len(words)-1
				t.words = append(t.words, word{text: one, begin: w.begin && last, end: w.end && i == 0})
			}
		}
		if len(t.words) == 0 {
			return nil, fmt.Errorf("%q has no word", text)
		}
		all = append(all, t)
	}
	return all, nil
}

// listed returns the terms of the list of words.
func listed() ([]term, error) {
	var all []term
	number := 0
	for line := range strings.Lines(wordList) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		head, words, ok := strings.Cut(line, ":")
		lang, kind, ok2 := strings.Cut(head, " ")
		if !ok || !ok2 {
			return nil, fmt.Errorf("relevance: words.txt: line %d: expected a language, a kind and words", number)
		}
		for text := range strings.SplitSeq(words, ";") {
			terms, err := newTerms(strings.TrimSpace(text), kind, lang)
			if err != nil {
				return nil, fmt.Errorf("relevance: words.txt: line %d: %w", number, err)
			}
			all = append(all, terms...)
		}
	}
	for name := range strings.FieldsSeq(formats) {
		all = append(all, term{text: name, kind: Format, words: []word{{text: name}}})
	}
	return all, nil
}

// index finds terms by their first words.
type index struct {
	terms   []term
	exact   map[string][]int
	begins  map[string][]int
	ends    map[string][]int
	beginsN []int // lengths of the keys of begins, ascending
	endsN   []int
}

func newIndex(terms []term) *index {
	x := &index{terms: terms, exact: map[string][]int{}, begins: map[string][]int{}, ends: map[string][]int{}}
	for i, t := range terms {
		first := t.words[0]
		switch {
		case first.begin:
			x.begins[first.text] = append(x.begins[first.text], i)
			x.beginsN = append(x.beginsN, len(first.text))
		case first.end:
			x.ends[first.text] = append(x.ends[first.text], i)
			x.endsN = append(x.endsN, len(first.text))
		default:
			x.exact[first.text] = append(x.exact[first.text], i)
		}
	}
	slices.Sort(x.beginsN)
	slices.Sort(x.endsN)
	x.beginsN, x.endsN = slices.Compact(x.beginsN), slices.Compact(x.endsN)
	return x
}

// find calls f for each term in a text, with its number and the place of its first word. Where terms begin with the
// same word, the longest is found; a term within a longer one is not.
func (x *index) find(words []string, f func(term, at int)) {
	for at := 0; at < len(words); {
		best, length := -1, 0
		try := func(some []int) {
			for _, i := range some {
				t := &x.terms[i]
				if n := len(t.words); n >= length && (n > length || better(t, &x.terms[best])) && t.at(words[at:]) {
					best, length = i, n
				}
			}
		}
		token := words[at]
		try(x.exact[token])
		for _, n := range x.beginsN {
			if n > len(token) {
				break
			}
			try(x.begins[token[:n]])
		}
		for _, n := range x.endsN {
			if n > len(token) {
				break
			}
			try(x.ends[token[len(token)-n:]])
		}
		if best < 0 {
			at++
			continue
		}
		f(best, at)
		at += length
	}
}

// better reports whether a term is preferred to another of the same length: what an operator looks for to what is
// listed, whole words to parts, noise to data.
func better(a, b *term) bool { return a.rank() < b.rank() }

func (t *term) rank() int {
	rank := 0
	if t.words[0].end {
		rank = 10
	} else if t.words[0].begin {
		rank = 5
	}
	switch t.kind {
	case Keyword:
		return -2
	case Entity:
		return -1
	case Noise:
		return rank
	}
	return rank + 1
}

func (t *term) at(words []string) bool {
	if len(t.words) > len(words) {
		return false
	}
	for i := range t.words {
		if !t.words[i].matches(words[i]) {
			return false
		}
	}
	return true
}
