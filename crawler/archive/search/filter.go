package search

import (
	"context"
	"fmt"

	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/triplestore/kv"
)

// Filter is the resources that a search finds, as a set.
type Filter struct{ docs Set }

// Filter returns the resources that match a search. Its Sort, After, Limit and Facets have no effect. It does not have
// what has only some of the words.
func (x *Index) Filter(ctx context.Context, s catalog.Search) (Filter, error) {
	if err := x.Load(ctx); err != nil {
		return Filter{}, fmt.Errorf("archive: search: %w", err)
	}
	q, err := x.question(ctx, s)
	if err != nil {
		return Filter{}, fmt.Errorf("archive: search: %w", err)
	}
	return Filter{x.facts.matching(q)}, ctx.Err()
}

// matching returns the documents that a question matches.
func (f *facts) matching(q question) Set {
	f.mu.RLock()
	defer f.mu.RUnlock()
	docs := Set{}
	if m, possible := f.matcher(q); possible && !q.none {
		m.each(func(doc uint32, _ *fact, _ *figures) { docs.Put(doc) })
	}
	return docs
}

// Has reports whether a resource, by its id, is in the set.
func (f Filter) Has(t records.Txn, resource string) (bool, error) {
	doc, known, err := documentOf(t, resource)
	return known && f.docs.Has(doc), err
}

// IDs returns the ids of the set's resources. few is false if there are more than max; then ids is nil.
func (f Filter) IDs(t records.Txn, max int) (ids []string, few bool, err error) {
	n := 0
	f.docs.Each(func(uint32) { n++ })
	if n > max {
		return nil, false, nil
	}
	f.docs.Each(func(doc uint32) {
		if err != nil {
			return
		}
		var raw []byte
		var ok bool
		if raw, ok, err = t.Get(kv.SpaceSearch, rowKey(doc)); err != nil || !ok {
			return
		}
		if row, sound := decodeRow(raw); sound {
			ids = append(ids, row.ID)
		}
	})
	return ids, err == nil, err
}
