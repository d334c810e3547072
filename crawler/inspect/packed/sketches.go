package packed

import (
	"encoding/binary"
	"math"

	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/triplestore/fields"
)

// The record of the sketches of a version's columns is: the format (1 byte), and for each sketch that is
// kept the difference of the column's number to the one before (the first: to -1), the length of the packed sketch
// (uvarints), and the packed sketch. The columns of all tables are numbered from 0, the file's before its members'.
// Only versions that the index of columns has, or waits for, have such a record.
const sketchesFormat = 1

// maxSketched bounds the hashes that are kept of one version.
const maxSketched = 1 << 17

// A Sampler returns the part of a column's sketch that is worth keeping, nil if nothing is.
type Sampler func(csvprofile.Column) csvprofile.Sketch

// encodeSketches returns the record of the sketches of in, nil if there are none, and the numbers of the columns whose
// sketches exceed maxSketched.
func encodeSketches(in *inspect.Inside, sample Sampler) (record []byte, omitted map[int]bool) {
	b := []byte{sketchesFormat}
	last, left, at := -1, maxSketched, -1
	omitted = map[int]bool{}
	for c := range Columns(in) {
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
	for c := range Columns(kept) {
		if omitted[at] {
			c.Sketch = nil
			kept.SketchesOmitted++
		}
		at++
	}
	return kept
}

// EachSketch calls f with the columns' numbers and packed sketches in a record, in ascending order, until it returns
// false.
func EachSketch(record []byte, f func(at int, packed []byte) (more bool, err error)) error {
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
