package text

import (
	"cmp"
	"context"
	"math"
	"slices"

	"odarchive/triplestore/internal/segments"
	"odarchive/triplestore/term"
)

// Hit is a literal that a query finds. A higher score is a better hit.
type Hit struct {
	ID    term.ID
	Score float32
}

// hit is a document of a segment, with the occurrences of a leaf in it or, later, its score.
type hit struct {
	doc   uint32
	value float32
}

// searcher answers one query over all segments.
type searcher struct {
	ctx     context.Context
	q       *Query
	sources []source
	langs   []string
	read    segments.Reader
	a       Analyser
	leaves  []leaf
	hits    [][][]hit // by leaf and segment
	charge  func(bytes int) error
}

// Sizes in bytes of what a search keeps in memory.
const (
	hitBytes        = 8
	occurrenceBytes = 8
	resultBytes     = 16
)

// find returns the documents of all segments, ascending by id within each.
func (s *searcher) find() ([]Hit, error) {
	s.collect(s.q.root)
	docs, words := 0, uint64(0)
	for _, src := range s.sources {
		docs += len(src.documents().ids)
		words += src.documents().total
	}
	if docs == 0 {
		return nil, nil
	}
	average := max(1, float64(words)/float64(docs))
	for _, l := range s.leaves {
		bySource := make([][]hit, len(s.sources))
		found := 0
		for i, src := range s.sources {
			if err := s.ctx.Err(); err != nil {
				return nil, context.Cause(s.ctx)
			}
			h, err := s.leafHits(src, l)
			if err != nil {
				return nil, err
			}
			bySource[i] = h
			found += len(h)
		}
		idf := math.Log(1 + (float64(docs-found)+0.5)/(float64(found)+0.5))
		for i, src := range s.sources {
			score(bySource[i], src.documents(), idf, average)
		}
		s.hits = append(s.hits, bySource)
	}
	var out []Hit
	for i, src := range s.sources {
		next, longest := 0, 0
		for _, h := range s.hits {
			longest = max(longest, len(h[i]))
		}
		if err := s.charge(2 * hitBytes * longest * len(s.hits)); err != nil { // at most this much is combined at a time
			return nil, err
		}
		hits := s.eval(s.q.root, i, &next)
		if err := s.charge(resultBytes * len(hits)); err != nil {
			return nil, err
		}
		out = slices.Grow(out, len(hits))
		for _, h := range hits {
			out = append(out, Hit{src.documents().ids[h.doc], h.value})
		}
	}
	return out, nil
}

// score replaces numbers of occurrences by BM25 scores, with the usual k1 = 1.2 and b = 0.75.
func score(hits []hit, d *docs, idf, average float64) {
	for i, h := range hits {
		tf := float64(h.value)
		hits[i].value = float32(idf * tf * 2.2 / (tf + 1.2*(0.25+0.75*float64(d.sizes[h.doc])/average)))
	}
}

// collect lists the leaves in the order in which eval meets them.
func (s *searcher) collect(n node) {
	switch n := n.(type) {
	case leaf:
		s.leaves = append(s.leaves, n)
	case all:
		for _, list := range [3][]node{n.must, n.some, n.not} {
			for _, m := range list {
				s.collect(m)
			}
		}
	}
}

// eval returns the hits of a node in a segment. next is the number of the next leaf.
func (s *searcher) eval(n node, source int, next *int) []hit {
	switch n := n.(type) {
	case leaf:
		h := s.hits[*next][source]
		*next++
		return h
	case all:
		var out []hit
		for i, m := range n.must {
			h := s.eval(m, source, next)
			if i == 0 {
				out = h
			} else {
				out = combine(out, h, true)
			}
		}
		var some []hit
		for _, m := range n.some {
			some = combine(some, s.eval(m, source, next), false)
		}
		if len(n.must) == 0 {
			out = some
		} else if len(some) > 0 {
			out = raise(out, some)
		}
		for _, m := range n.not {
			out = without(out, s.eval(m, source, next))
		}
		return out
	}
	return nil
}

// combine adds the scores of the documents of both lists, or with both set, of the documents that both have.
func combine(a, b []hit, both bool) []hit {
	out := make([]hit, 0, max(len(a), len(b)))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].doc == b[0].doc:
			out = append(out, hit{a[0].doc, a[0].value + b[0].value})
			a, b = a[1:], b[1:]
		case a[0].doc < b[0].doc:
			if !both {
				out = append(out, a[0])
			}
			a = a[1:]
		default:
			if !both {
				out = append(out, b[0])
			}
			b = b[1:]
		}
	}
	if !both {
		out = append(append(out, a...), b...)
	}
	return out
}

// raise adds the scores of some to those documents of out that some has.
func raise(out, some []hit) []hit {
	out = slices.Clone(out)
	for i := range out {
		if j, ok := slices.BinarySearchFunc(some, out[i].doc, func(h hit, doc uint32) int { return cmp.Compare(h.doc, doc) }); ok {
			out[i].value += some[j].value
		}
	}
	return out
}

func without(a, b []hit) []hit {
	out := make([]hit, 0, len(a))
	for _, h := range a {
		for len(b) > 0 && b[0].doc < h.doc {
			b = b[1:]
		}
		if len(b) == 0 || b[0].doc != h.doc {
			out = append(out, h)
		}
	}
	return out
}

// leafHits returns the documents of a segment that contain a leaf, with the number of occurrences.
func (s *searcher) leafHits(src source, l leaf) ([]hit, error) {
	if len(l.words) > 1 {
		return s.phraseHits(src, l)
	}
	lists, err := s.lists(src, l.words[0], l.prefix)
	if err != nil {
		return nil, err
	}
	var out []hit
	for _, list := range lists {
		if err := s.charge(2 * hitBytes * list.docs); err != nil { // twice, for the list that it is merged into
			return nil, err
		}
		hits := make([]hit, 0, list.docs)
		if !readPostings(list.b, uint32(len(src.documents().ids)), func(doc uint32, positions []uint32) {
			hits = append(hits, hit{doc, float32(len(positions))})
		}) {
			return nil, errPostings
		}
		switch {
		case out == nil:
			out = hits
		case len(lists) <= 4:
			out = larger(out, hits)
		default:
			out = append(out, hits...)
		}
	}
	if len(lists) > 4 {
		out = distinct(out, l.prefix)
	}
	return out, nil
}

// larger returns the documents of both lists, with the larger value: a word and its stem are the same occurrence.
func larger(a, b []hit) []hit {
	out := make([]hit, 0, max(len(a), len(b)))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].doc == b[0].doc:
			out = append(out, hit{a[0].doc, max(a[0].value, b[0].value)})
			a, b = a[1:], b[1:]
		case a[0].doc < b[0].doc:
			out, a = append(out, a[0]), a[1:]
		default:
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// distinct sorts hits by document and merges those of one document. Occurrences of several words with one beginning
// add up; those of a word and its stems do not.
func distinct(hits []hit, add bool) []hit {
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Compare(a.doc, b.doc) })
	out := hits[:0]
	for _, h := range hits {
		if n := len(out); n == 0 || out[n-1].doc != h.doc {
			out = append(out, h)
		} else if add {
			out[n-1].value += h.value
		} else {
			out[n-1].value = max(out[n-1].value, h.value)
		}
	}
	return out
}

// lists returns the postings of a word and its stems, or of the words that begin with it.
func (s *searcher) lists(src source, w queryWord, prefix bool) ([]postingList, error) {
	var out []postingList
	if prefix {
		for e, err := range src.each(s.read, w.word) {
			if err == nil {
				err = s.ctx.Err()
			}
			if err != nil {
				return nil, err
			}
			if err := s.charge(len(e.list.b)); err != nil {
				return nil, err
			}
			out = append(out, e.list)
		}
		return out, nil
	}
	terms := []string{w.word}
	for _, lang := range s.langs {
		terms = append(terms, s.a.stem(lang, w.full).term)
	}
	for _, t := range terms {
		list, err := src.postings(s.read, t)
		if err != nil {
			return nil, err
		}
		if err := s.charge(len(list.b)); err != nil {
			return nil, err
		}
		if list.docs > 0 {
			out = append(out, list)
		}
	}
	return out, nil
}

// occurrence is a place in a document where a phrase may continue.
type occurrence struct{ doc, at uint32 }

func (a occurrence) compare(b occurrence) int {
	return cmp.Or(cmp.Compare(a.doc, b.doc), cmp.Compare(a.at, b.at))
}

// phraseHits returns the documents that contain the words of a leaf one after the other. The forms of a word may mix
// only as far as they are of the document's own language, and every stem in a document is.
func (s *searcher) phraseHits(src source, l leaf) ([]hit, error) {
	var at []occurrence // where the phrase so far may continue, ascending
	for i, w := range l.words {
		lists, err := s.lists(src, w, l.prefix && i == len(l.words)-1)
		if err != nil {
			return nil, err
		}
		var next []occurrence
		for _, list := range lists {
			most := max(0, len(list.b)-list.docs) // each document and each position takes a byte or more
			if i > 0 {
				most = min(most, len(at))
			}
			if err := s.charge(2 * occurrenceBytes * most); err != nil { // twice, for the room that append makes
				return nil, err
			}
			before := at
			if !readPostings(list.b, uint32(len(src.documents().ids)), func(doc uint32, positions []uint32) {
				for _, p := range positions {
					if i > 0 {
						for len(before) > 0 && before[0].compare(occurrence{doc, p}) < 0 {
							before = before[1:]
						}
						if len(before) == 0 || before[0] != (occurrence{doc, p}) {
							continue
						}
					}
					next = append(next, occurrence{doc, p + 1})
				}
			}) {
				return nil, errPostings
			}
		}
		if len(lists) > 1 {
			slices.SortFunc(next, occurrence.compare)
			next = slices.Compact(next)
		}
		if at = next; len(at) == 0 {
			return nil, nil
		}
	}
	var out []hit
	for _, o := range at {
		if n := len(out); n > 0 && out[n-1].doc == o.doc {
			out[n-1].value++
		} else {
			out = append(out, hit{o.doc, 1})
		}
	}
	return out, nil
}
