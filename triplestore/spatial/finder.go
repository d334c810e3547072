package spatial

import (
	"context"

	"odarchive/triplestore/geometry"
	"odarchive/triplestore/term"
)

// Finder finds literals by region. Its methods may be called concurrently until Close.
type Finder interface {
	// Search appends to out the ids of the dataset's literals in a region, sorted and without duplicates. It may append
	// further ids: of literals that no quad has, or that the dataset does not know.
	Search(r Region, out []term.ID) ([]term.ID, error)
	Close()
}

// Searcher is a Dataset with an index of its geometry literals. Its methods may be called concurrently.
type Searcher interface {
	// Places returns the index. The caller must Close it.
	Places(ctx context.Context) (Finder, error)
	// CountPlaces estimates how many literals are in a region without waiting for anything.
	CountPlaces(r Region) float64
}

// SearcherOf returns ds if it is a Searcher, or else the nearest dataset below ds that is one. ok is false if there is
// none; then the literals must be read one by one.
func SearcherOf(ds any) (s Searcher, ok bool) {
	for ds != nil {
		if s, ok := ds.(Searcher); ok {
			return s, true
		}
		if o, ok := ds.(interface{ SpatialSearcher() (Searcher, bool) }); ok {
			return o.SpatialSearcher()
		}
		w, ok := ds.(interface{ Below() term.Dataset })
		if !ok {
			return nil, false
		}
		ds = w.Below()
	}
	return nil, false
}

// RegionOf returns the region of the literals whose boxes may meet the box of the literal k. ok is false if k is not a
// geometry that is indexed.
func RegionOf(k term.Key) (r Region, ok bool) {
	if !Takes(k) {
		return r, false
	}
	g, err := geometry.Parse(k.Value(), k.Datatype())
	if err != nil {
		return r, false
	}
	r = Meeting(g)
	return r, !r.Empty()
}

// Has reports whether the box of an entry meets the region.
func (r Region) Has(e Entry) bool { return r.in(e.Layer) && r.meets(e.Box) }
