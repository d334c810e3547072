package text

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"

	"odarchive/triplestore/internal/segments"
	"odarchive/triplestore/term"
)

// Doc is a literal to be indexed.
type Doc struct {
	ID   term.ID
	Text string
	Tag  string // language tag, or ""
}

// growing is a segment in memory. Documents are numbered as they come.
type growing struct {
	docs  docs
	known map[term.ID]bool
	words map[string]*postingWriter
	bytes int // approximate size

	positions []uint32 // scratch
}

// docs are the documents of a segment by number.
type docs struct {
	ids   []term.ID
	sizes []byte // number of words, at most 255
	total uint64 // sum of the numbers of words
}

func newGrowing() *growing {
	return &growing{known: map[term.ID]bool{}, words: map[string]*postingWriter{}}
}

// occurrenceOf is a place of a term in the document that is being added.
type occurrenceOf struct {
	term string
	at   uint32
}

// add indexes a document that the segment does not have.
func (g *growing) add(a *Analyser, d Doc) {
	lang := stemLanguage(d.Tag)
	found := a.found[:0]
	n := 0
	a.tokens(d.Text, func(t token) {
		n++
		found = append(found, occurrenceOf{t.word, t.at})
		if lang != "" {
			found = append(found, occurrenceOf{a.stem(lang, t.full).term, t.at})
		}
	})
	slices.SortFunc(found, func(x, y occurrenceOf) int {
		return cmp.Or(strings.Compare(x.term, y.term), cmp.Compare(x.at, y.at))
	})
	doc := uint32(len(g.docs.ids))
	g.known[d.ID] = true
	g.docs.ids = append(g.docs.ids, d.ID)
	g.docs.sizes = append(g.docs.sizes, byte(min(n, 255)))
	g.docs.total += uint64(n)
	for i := 0; i < len(found); {
		w := found[i].term
		g.positions = g.positions[:0]
		for ; i < len(found) && found[i].term == w; i++ {
			g.positions = append(g.positions, found[i].at)
		}
		p := g.words[w]
		if p == nil {
			p = &postingWriter{}
			w = strings.Clone(w)
			g.words[w] = p
			g.bytes += len(w) + 96
		}
		before := len(p.b)
		p.add(doc, g.positions)
		g.bytes += len(p.b) - before
	}
	g.bytes += 32
	clear(found) // the words may be parts of the text, which is not needed any more
	a.found = found
}

func (g *growing) documents() *docs { return &g.docs }

// postings returns the postings of a term.
func (g *growing) postings(_ segments.Reader, term string) (list postingList, err error) {
	if p := g.words[term]; p != nil {
		return postingList{p.b, p.docs}, nil
	}
	return postingList{}, nil
}

// each iterates over the terms that begin with a prefix, in order.
func (g *growing) each(_ segments.Reader, prefix string) iter.Seq2[termEntry, error] {
	return func(yield func(termEntry, error) bool) {
		var words []string
		if prefix == "" {
			words = slices.Sorted(maps.Keys(g.words))
		} else {
			for w := range g.words {
				if strings.HasPrefix(w, prefix) {
					words = append(words, w)
				}
			}
			slices.Sort(words)
		}
		for _, w := range words {
			p := g.words[w]
			if !yield(termEntry{w, postingList{p.b, p.docs}}, nil) {
				return
			}
		}
	}
}
