package spatial

import (
	"context"

	"odarchive/triplestore/geometry"
	"odarchive/triplestore/term"
)

// Finder finds literals by region. It may be used concurrently, until Close.
type Finder interface {
	// Search appends the ids of at least those literals of the dataset that are in a region to out, and returns the new
	// ones sorted, each once. Others among them are no objects of any quad, or unknown to the dataset.
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

// SearcherOf returns the Searcher that ds is, or that a dataset below it is. ok is false if there is none: then
// literals have to be read one by one.
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

// RegionOf returns the region of the literals whose box may meet that of a literal. ok is false if that is no geometry
// that can be indexed.
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

// Has reports whether the region contains the box of an entry.
func (r Region) Has(e Entry) bool { return r.in(e.Layer) && r.meets(e.Box) }
