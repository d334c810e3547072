package records

import (
	"encoding/binary"
	"math"

	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/triplestore/fields"
	"odarchive/triplestore/kv"
)

// The record of the sketches of a version's columns (tableSketches) is: the format (1 byte), and for each sketch that is
// kept the difference of the column's number to the one before (the first: to -1), the length of the packed sketch
// (uvarints), and the packed sketch. The columns of all tables are numbered from 0, the file's before its members'.
// Only versions that the index of columns has, or waits for, have such a record.
const sketchesFormat = 1

// maxSketched bounds the hashes that are kept of one version.
const maxSketched = 1 << 17

// Sample returns the part of a column's sketch that is worth keeping, nil if nothing is.
type Sample func(csvprofile.Column) csvprofile.Sketch

// encodeSketches returns the record of the sketches of in, nil if there are none, and the numbers of the columns whose
// sketches exceed maxSketched.
func encodeSketches(in *inspect.Inside, sample Sample) (record []byte, omitted map[int]bool) {
	b := []byte{sketchesFormat}
	last, left, at := -1, maxSketched, -1
	omitted = map[int]bool{}
	for c := range sketched(in) {
		at++
		s := sample(*c)
		if len(s) == 0 {
			continue
		}
		if len(s) > left {
			omitted[at] = true
			continue
		}
		left -= len(s)
		packed := s.AppendPacked(nil)
		b = binary.AppendUvarint(b, uint64(at-last))
		b = append(binary.AppendUvarint(b, uint64(len(packed))), packed...)
		last = at
	}
	if last < 0 {
		return nil, omitted
	}
	return b, omitted
}

// withoutSome returns a copy of in without the sketches of some columns, which counts as omitted what it leaves out.
func withoutSome(in *inspect.Inside, omitted map[int]bool) *inspect.Inside {
	kept := fewer(in, countColumns(in), len(in.Members)) // copies the columns
	at := 0
	for c := range sketched(kept) {
		if omitted[at] {
			c.Sketch = nil
			kept.SketchesOmitted++
		}
		at++
	}
	return kept
}

// eachSketch calls f with the columns' numbers and packed sketches in a record, in ascending order, until it returns
// false.
func eachSketch(record []byte, f func(at int, packed []byte) (more bool, err error)) error {
	r := fields.Reader{B: record}
	if r.Byte() != sketchesFormat {
		return fields.ErrBad
	}
	for at := -1; len(r.B) > 0; {
		d := r.Max(math.MaxInt32)
		packed := r.Bytes(r.Count(1))
		if at += int(d); r.Bad() || d == 0 {
			return fields.ErrBad
		}
		if more, err := f(at, packed); err != nil || !more {
			return err
		}
	}
	return nil
}

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
	err = eachSketch(s.record, func(at int, packed []byte) (_ bool, err error) {
		if at < column {
			return true, nil
		}
		if at == column {
			sketch, err = csvprofile.UnpackSketch(packed)
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
		err := eachSketch(raw, func(at int, packed []byte) (bool, error) { kept[at] = packed; return true, nil })
		at := 0
		for c := range sketched(in) {
			if packed, ok := kept[at]; ok && err == nil {
				c.Sketch, err = csvprofile.UnpackSketch(packed)
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
