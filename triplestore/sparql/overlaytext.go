package sparql

import (
	"context"
	"slices"

	"odarchive/triplestore/term"
	"odarchive/triplestore/text"
)

// TextSearcher returns a searcher that also finds the literals that the changes add. ok is false if the dataset below
// has none.
func (o *overlay) TextSearcher() (text.Searcher, bool) {
	below, ok := text.SearcherOf(o.Dataset)
	return overlaySearcher{below, o}, ok
}

type overlaySearcher struct {
	text.Searcher
	o *overlay
}

func (s overlaySearcher) SearchText(ctx context.Context, q *text.Query, charge func(bytes int) error) ([]text.Hit, error) {
	hits, err := s.Searcher.SearchText(ctx, q, charge)
	if err != nil {
		return nil, err
	}
	known := make(map[term.ID]bool, len(hits))
	for _, h := range hits {
		known[h.ID] = true
	}
	var a text.Analyser
	for x := range s.o.added {
		if known[x.O] {
			continue
		}
		known[x.O] = true
		key := [1]term.Key{}
		if err := s.o.Keys([]term.ID{x.O}, key[:]); err != nil {
			return nil, err
		}
		if t, tag, ok := text.Parts(key[0]); ok && q.Match(&a, t, tag) {
			hits = append(hits, text.Hit{ID: x.O, Score: 1})
		}
	}
	return slices.Clip(hits), nil
}
