package sparql

import (
	"context"
	"slices"

	"odarchive/triplestore/spatial"
	"odarchive/triplestore/term"
)

// SpatialSearcher returns a searcher that also finds the geometries that the changes add. ok is false if the dataset
// below has none.
func (o *overlay) SpatialSearcher() (spatial.Searcher, bool) {
	below, ok := spatial.SearcherOf(o.Dataset)
	return overlayPlaces{below, o}, ok
}

type overlayPlaces struct {
	spatial.Searcher
	o *overlay
}

func (s overlayPlaces) Places(ctx context.Context) (spatial.Finder, error) {
	var added []spatial.Entry
	key := [1]term.Key{}
	for x := range s.o.added {
		if x.O.Tag() != term.TagLiteral {
			continue
		}
		if err := s.o.Keys([]term.ID{x.O}, key[:]); err != nil {
			return nil, err
		}
		if e, ok := spatial.EntryOf(x.O, key[0]); ok {
			added = append(added, e)
		}
	}
	below, err := s.Searcher.Places(ctx)
	return overlayFinder{below, added}, err
}

type overlayFinder struct {
	spatial.Finder
	added []spatial.Entry
}

func (f overlayFinder) Search(r spatial.Region, out []term.ID) ([]term.ID, error) {
	from := len(out)
	out, err := f.Finder.Search(r, out)
	if err != nil {
		return nil, err
	}
	for _, e := range f.added {
		if r.Has(e) {
			out = append(out, e.ID)
		}
	}
	slices.Sort(out[from:])
	return out[:from+len(slices.Compact(out[from:]))], nil
}
