package triplestore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"odarchive/triplestore/spatial"
	"odarchive/triplestore/term"
)

// places is the index of geometry literals by the boxes around them.
type places struct {
	follower
	boxes *spatial.Index
}

func newPlaces(s *Store) *places {
	l := &places{boxes: spatial.NewIndex(s.db, !s.db.ReadOnly())}
	l.follower.init(s, "the index of geometries", boxIndex{l.boxes, s})
	return l
}

// boxIndex is the index as a follower sees it.
type boxIndex struct {
	*spatial.Index
	s *Store
}

func (x boxIndex) storedMark() ([]byte, bool, error) { return spatial.Mark(x.s.db) }

func (x boxIndex) takes(id term.ID) bool { return id.Tag() == term.TagLiteral }

func (x boxIndex) add(ids []term.ID, keys []term.Key) (added int, full bool) {
	var list []spatial.Entry
	for i, k := range keys {
		if e, ok := spatial.EntryOf(ids[i], k); ok {
			list = append(list, e)
		}
	}
	return len(list), x.Add(list)
}

// check searches the box of each literal for it.
func (x boxIndex) check(ids []term.ID, keys []term.Key) error {
	v := x.View()
	defer v.Close()
	var found []term.ID
	for i, k := range keys {
		r, ok := spatial.RegionOf(k)
		if !ok {
			continue
		}
		var err error
		if found, err = v.Search(r, found[:0]); err != nil {
			return err
		}
		if _, ok := slices.BinarySearch(found, ids[i]); !ok {
			return fmt.Errorf("%w: the index of geometries lacks literal %#x", ErrDamaged, uint64(ids[i]))
		}
	}
	return nil
}

// Places returns the index of the geometries of everything that was committed up to the snapshot. The caller must Close
// it.
func (sn *Snapshot) Places(ctx context.Context) (v spatial.Finder, err error) {
	var opened *spatial.View
	err = sn.store.places.search(ctx, sn.Position(), func() error {
		if opened != nil {
			opened.Close()
		}
		opened = sn.store.places.boxes.View()
		return nil
	})
	if err != nil {
		if opened != nil {
			opened.Close()
		}
		return nil, err
	}
	return opened, nil
}

// CountPlaces estimates how many geometries are in a region, as far as they are indexed.
func (sn *Snapshot) CountPlaces(r spatial.Region) float64 { return sn.store.places.boxes.Count(r) }

// IndexLiterals brings the indexes of words and of geometries up to date and stores them. Searches do so too when they
// need it; after a large change it is better done at once.
func (s *Store) IndexLiterals(ctx context.Context) error {
	if s.closed.Load() {
		return ErrClosed
	}
	position := s.current.Load().position
	return errors.Join(s.literals.wait(ctx, position, true), s.places.wait(ctx, position, true))
}
