package text

import (
	"context"

	"odarchive/triplestore/term"
)

// Searcher is a Dataset with an index of the words of its literals. Its methods may be called concurrently.
type Searcher interface {
	// SearchText returns at least those literals of the dataset that q finds and that are objects of one of the
	// TextPredicates, in no particular order. Others among them are no objects of any quad. It calls charge, if that is
	// not nil, before it takes memory, and ends with its error.
	SearchText(ctx context.Context, q *Query, charge func(bytes int) error) ([]Hit, error)
	// CountText estimates the number of hits without waiting for anything.
	CountText(q *Query) float64
	// TextPredicates returns the predicates whose objects are indexed.
	TextPredicates() []term.Key
}

// SearcherOf returns the Searcher that ds is, or that a dataset below it is. ok is false if there is none: then
// literals have to be read one by one.
func SearcherOf(ds any) (s Searcher, ok bool) {
	for ds != nil {
		if s, ok := ds.(Searcher); ok {
			return s, true
		}
		if o, ok := ds.(interface{ TextSearcher() (Searcher, bool) }); ok {
			return o.TextSearcher()
		}
		w, ok := ds.(interface{ Below() term.Dataset })
		if !ok {
			return nil, false
		}
		ds = w.Below()
	}
	return nil, false
}

// Parts returns the text and the language tag of a literal that can be searched: a string, with a language or without.
func Parts(k term.Key) (text, tag string, ok bool) {
	if k.Kind() != term.KindLiteral || k[0] == '^' {
		return "", "", false
	}
	return k.Value(), k.Lang(), true
}

// Lang returns the language range that the query is limited to, or "".
func (q *Query) Lang() string { return q.lang }

// InLanguage reports whether the query may find a literal with a language tag.
func (q *Query) InLanguage(tag string) bool { return inLanguage(tag, q.lang) }
