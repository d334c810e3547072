package records

import (
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/packed"
	"odarchive/triplestore/kv"
)

// Sketches are those that are kept of a version's columns.
type Sketches struct{ key, record []byte }

// Sketches returns the sketches of a version's columns.
func (t Txn) Sketches(resource string, n int) (Sketches, error) {
	s := Sketches{key: VersionKey(tableSketches, resource, n)}
	var err error
	s.record, _, err = t.Get(kv.SpaceArchive, s.key)
	return s, err
}

// Len returns the number of bytes of the sketches as they are stored.
func (s Sketches) Len() int { return len(s.record) }

// Column returns the sketch of a column, by its number among all columns of the version; nil if none is kept.
func (s Sketches) Column(column int) (sketch csvprofile.Sketch, err error) {
	if s.record == nil {
		return nil, nil
	}
	err = packed.EachSketch(s.record, func(at int, record []byte) (_ bool, err error) {
		if at < column {
			return true, nil
		}
		if at == column {
			sketch, err = csvprofile.UnpackSketch(record)
		}
		return false, err
	})
	if err != nil {
		return nil, badRecord(s.key, err)
	}
	return sketch, nil
}

// addSketches sets the sketches of the columns that are kept.
func (t Txn) addSketches(resource string, n int, in *inspect.Inside) error {
	k := VersionKey(tableSketches, resource, n)
	_, err := t.Read(kv.SpaceArchive, k, func(raw []byte) error {
		kept := map[int][]byte{}
		err := packed.EachSketch(raw, func(at int, sketch []byte) (bool, error) { kept[at] = sketch; return true, nil })
		at := 0
		for c := range packed.Columns(in) {
			if sketch, ok := kept[at]; ok && err == nil {
				c.Sketch, err = csvprofile.UnpackSketch(sketch)
			}
			at++
		}
		if err != nil {
			return badRecord(k, err)
		}
		return nil
	})
	return err
}

// DropSketches removes the sketches of a version that left the index of columns.
func (t Txn) DropSketches(resource string, n int) error {
	return t.drop(VersionKey(tableSketches, resource, n))
}
