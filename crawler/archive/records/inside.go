package records

import (
	"odarchive/crawler/inspect/packed"
	"odarchive/triplestore/kv"
)

// The record of what is inside a version (tableInside) is that of package packed; its pieces have the keys after it,
// which end in the number of the piece (4 bytes, from 0). The sketches of the latest version are a record of their own
// (tableSketches).

// insidePiecesOf returns a function that reads the pieces of a version's record.
func (t Txn) insidePiecesOf(resource string, n int) func(i int) ([]byte, error) {
	return func(i int) ([]byte, error) {
		part, ok, err := t.Get(kv.SpaceArchive, key(tableInside, id(resource), n, i))
		if err == nil && !ok {
			err = packed.ErrPiece
		}
		return part, err
	}
}

func (t Txn) saveInside(resource string, n int, inside packed.Inside) error {
	if inside.Inside == nil {
		return nil
	}
	if err := t.Set(kv.SpaceArchive, VersionKey(tableInside, resource, n), inside.Record); err != nil {
		return err
	}
	for i, part := range inside.Pieces {
		if err := t.Set(kv.SpaceArchive, key(tableInside, id(resource), n, i), part); err != nil {
			return err
		}
	}
	if inside.Sketches == nil {
		return nil
	}
	return t.Set(kv.SpaceArchive, VersionKey(tableSketches, resource, n), inside.Sketches)
}
