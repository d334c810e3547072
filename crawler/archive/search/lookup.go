package search

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"odarchive/crawler/archive/records"
	"odarchive/crawler/archive/tallies"
	"odarchive/crawler/catalog"
)

// part is a word or phrase of a question, or alternatives of them, and where it was found.
type part struct {
	shown   string   // as written
	words   []string // folded, to mark them
	hits    []hit    // highest worth first
	all     Set
	portals map[string]bool // portals whose title or address has it
	strict  bool            // a phrase, or a word of one field
}

// hit is the documents for which a part is worth the same.
type hit struct {
	worth float64
	docs  Set
	title bool // found in the title
}

// worth is what a word in a field is worth.
var worth = []struct {
	field  Field
	points float64
}{
	{fieldTitle, 8}, {fieldKeyword, 5}, {fieldPublisher, 4}, {fieldColumn, 3}, {fieldDescription, 3}, {fieldDocument, 3},
	{fieldAddress, 2.5}, {fieldLicence, 2.5}, {fieldValue, 2},
}

const (
	worthPortal = 2.0
	worthName   = 1e6 // the text is the address of the resource
)

// How much of its worth a word has if it was found in another form.
const (
	asWritten = 1.0
	asSpelt   = 0.95 // ue for ü
	asForm    = 0.9  // another form of the word
	asStart   = 0.6  // a word that begins with it
	asRoot    = 0.5  // a word that begins with its stem
	asPart    = 0.5  // a word that ends with it, as compounds do
	asParts   = 0.4  // both parts of a compound, apart
	asMeant   = 0.6  // it seems to be misspelt
)

// lookup looks up the words of one question.
type lookup struct {
	ctx       context.Context
	x         *Index
	t         records.Txn
	portals   map[string][]string // words of the titles and addresses of portals, by IRI
	total     int                 // documents
	corrected []catalog.Correction
	bounded   bool
	cost      int // look-ups so far
	tables    int // documents whose columns were read
}

// maxLookups bounds the words that one question is looked up as, over all fields.
const maxLookups = 12_000

func (x *Index) newLookup(ctx context.Context, t records.Txn, words bool) (*lookup, error) {
	l := &lookup{ctx: ctx, x: x, t: t}
	s, _, err := readState(t.Txn)
	if err != nil {
		return nil, err
	}
	l.total = int(s.Next)
	l.portals, err = portalWords(ctx, t, words)
	return l, err
}

// portalWords returns the words in the titles and addresses of portals, by IRI, if there is anything to ask.
func portalWords(ctx context.Context, t records.Txn, asked bool) (map[string][]string, error) {
	portals := map[string][]string{}
	if !asked {
		return portals, nil
	}
	err := tallies.Each(ctx, t.Txn, tallies.ByPortal, func(iri string, n tallies.Tally) error {
		portals[iri] = Words(n.Title+"\n"+unescaped(iri), maxWords, true)
		return nil
	})
	return portals, err
}

// part looks up the alternatives of a part.
func (l *lookup) part(alternatives []clause) (part, error) {
	p := part{portals: map[string]bool{}}
	var names []string
	for _, c := range alternatives {
		g, words, err := l.clause(c)
		if err != nil {
			return p, err
		}
		for iri := range g.portals {
			p.portals[iri] = true
		}
		for _, h := range g.by {
			if !h.docs.Empty() {
				p.hits = append(p.hits, *h)
				p.all.Union(h.docs)
			}
		}
		p.words = append(p.words, words...)
		names = append(names, c.raw)
		p.strict = p.strict || c.phrase || c.fields != nil
	}
	p.shown = strings.Join(names, " OR ")
	slices.SortFunc(p.hits, func(a, b hit) int {
		switch {
		case a.worth > b.worth:
			return -1
		case a.worth < b.worth:
			return 1
		}
		return 0
	})
	return p, nil
}

// fieldsOf returns the fields that a clause is looked up in, with what each is worth.
func fieldsOf(c clause) (list []struct {
	field  Field
	points float64
}) {
	for _, w := range worth {
		if c.fields == nil || slices.Contains(c.fields, w.field) {
			list = append(list, w)
		}
	}
	return list
}

// clause looks up one alternative. It returns the words to mark.
func (l *lookup) clause(c clause) (*gathered, []string, error) {
	g := newGathered()
	if c.phrase || len(c.words) > 1 {
		return g, c.words, l.together(c, g)
	}
	word := c.words[0]
	marks, err := l.word(c, word, g)
	if err != nil || !g.empty() {
		return g, marks, err
	}
	words, err := l.x.vocabularyOf(l.ctx, l.t)
	if err != nil {
		return g, marks, err
	}
	if first, second, ok := partsOf(words, word); ok {
		both := newGathered()
		if err := l.together(clause{words: []string{first, second}, fields: c.fields}, both); err != nil {
			return g, marks, err
		}
		for _, h := range both.by {
			g.at(h.worth, asParts, false).Union(h.docs)
		}
		if !g.empty() {
			return g, append(marks, first, second), nil
		}
	}
	for _, meant := range correctionsOf(words, word) {
		some, err := l.word(clause{words: []string{meant}, raw: meant, fields: c.fields}, meant, g, asMeant)
		if err != nil {
			return g, marks, err
		}
		marks = append(marks, some...)
		if !g.empty() {
			l.corrected = append(l.corrected, catalog.Correction{Word: c.raw, By: meant})
			break
		}
	}
	return g, marks, nil
}

// word looks up one word, in all of its forms. share is what all of it is worth, 1 by default.
func (l *lookup) word(c clause, word string, g *gathered, share ...float64) (marks []string, err error) {
	all := 1.0
	if len(share) > 0 {
		all = share[0]
	}
	marks = []string{word}
	for _, w := range fieldsOf(c) {
		exact, beginning, err := Find(l.ctx, l.t.Txn, w.field, word)
		if err != nil {
			return nil, err
		}
		g.at(w.points, asWritten*all, w.field == fieldTitle).Union(exact)
		g.at(w.points, asStart*all, false).Union(beginning)
	}
	if c.portal {
		for iri, words := range l.portals {
			if slices.ContainsFunc(words, func(w string) bool { return Meets(w, word) }) {
				g.portals[iri] = true
			}
		}
	}
	if !isSpoken([]byte(word)) {
		return marks, nil
	}
	words, err := l.x.vocabularyOf(l.ctx, l.t)
	if err != nil {
		return nil, err
	}
	find := func(word string, share float64) error {
		for _, w := range fieldsOf(c) {
			if l.cost++; l.cost > maxLookups {
				return nil
			}
			if err := Exact(l.t.Txn, w.field, word, g.at(w.points, share*all, w.field == fieldTitle)); err != nil {
				return err
			}
		}
		return nil
	}
	for _, s := range spellings(c.raw, word) {
		marks = append(marks, s)
		if err := find(s, asSpelt); err != nil {
			return nil, err
		}
	}
	roots := stems(c.raw)
	for _, form := range formsOf(words, word, roots) {
		marks = append(marks, form)
		if err := find(form, asForm); err != nil {
			return nil, err
		}
	}
	if len(word) < minCompound {
		return marks, nil
	}
	compounds := compoundsOf(words, word)
	for _, root := range roots {
		if len(root) < minCompound {
			continue
		}
		if root != word && strings.HasPrefix(word, root[:len(root)-1]) {
			marks = append(marks, root)
			compounds = append(compounds, compoundsOf(words, root)...)
			if len(root) > minCompound { // shorter beginnings are those of too many words
				for _, w := range fieldsOf(c) {
					_, beginning, err := Find(l.ctx, l.t.Txn, w.field, root)
					if err != nil {
						return nil, err
					}
					g.at(w.points, asRoot*all, false).Union(beginning)
				}
			}
		}
	}
	for _, w := range compounds {
		marks = append(marks, w)
		if err := find(w, asPart); err != nil {
			return nil, err
		}
	}
	return marks, nil
}

// maxVerified bounds the documents whose texts are read for a phrase.
const maxVerified = 5000

// together looks up words that must all be there, and for a phrase one after the other.
func (l *lookup) together(c clause, g *gathered) error {
	var all Set
	for i, word := range c.words {
		var with Set
		for _, w := range fieldsOf(c) {
			if l.cost++; l.cost > maxLookups {
				return fmt.Errorf("%w", catalog.BadQuestion("The search has too many words."))
			}
			if err := Exact(l.t.Txn, w.field, word, &with); err != nil {
				return err
			}
		}
		if i == 0 {
			all = with
		} else {
			all.Intersect(with)
		}
	}
	if !c.phrase || len(c.words) == 1 {
		for _, w := range fieldsOf(c) {
			in := append(Set{}, all...)
			for _, word := range c.words {
				var with Set
				if err := Exact(l.t.Txn, w.field, word, &with); err != nil {
					return err
				}
				in.Intersect(with)
			}
			g.at(w.points, asWritten, w.field == fieldTitle).Union(in)
		}
		g.at(worthPortal, asWritten, false).Union(all) // in several fields
		return nil
	}
	n := 0
	var err error
	all.Each(func(doc uint32) {
		if n++; err != nil || n > maxVerified {
			l.bounded = l.bounded || n > maxVerified
			return
		}
		if n%256 == 0 && l.ctx.Err() != nil {
			err = l.ctx.Err()
			return
		}
		var found Field
		if found, err = l.phraseIn(doc, c); found != 0 {
			for _, w := range worth {
				if w.field == found {
					g.at(w.points, asWritten, found == fieldTitle).Put(doc)
				}
			}
		}
	})
	return err
}

// exclude returns the documents that a clause excludes: those with its words, in any form, but not those with words
// that it begins.
func (l *lookup) exclude(c clause) (Set, error) {
	g := newGathered()
	var all Set
	if c.phrase || len(c.words) > 1 {
		if err := l.together(c, g); err != nil {
			return nil, err
		}
	} else {
		words, err := l.x.vocabularyOf(l.ctx, l.t)
		if err != nil {
			return nil, err
		}
		for _, word := range append([]string{c.words[0]}, formsOf(words, c.words[0], stems(c.raw))...) {
			for _, w := range fieldsOf(c) {
				if err := Exact(l.t.Txn, w.field, word, &all); err != nil {
					return nil, err
				}
			}
		}
	}
	for _, h := range g.by {
		all.Union(h.docs)
	}
	return all, nil
}
