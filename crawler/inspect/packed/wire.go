package packed

import (
	"encoding/binary"
	"fmt"

	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/triplestore/fields"
)

// AppendTo appends the encoded description for a process that does not have the archive: the record, the record of the
// sketches and the pieces, each as its length and bytes. Read reads it.
func (p Inside) AppendTo(b []byte) []byte {
	for _, part := range append([][]byte{p.Record, p.Sketches}, p.Pieces...) {
		b = append(binary.AppendUvarint(b, uint64(len(part))), part...)
	}
	return b
}

// Read reads what AppendTo has written, perhaps by a process that cannot be trusted: the error is not nil if a record
// of it could not be read.
func Read(b []byte) (p Inside, err error) {
	r := fields.Reader{B: b}
	p.Record, p.Sketches = r.Bytes(r.Count(1)), r.Bytes(r.Count(1))
	for len(r.B) > 0 && !r.Bad() {
		p.Pieces = append(p.Pieces, r.Bytes(r.Count(1)))
	}
	if err := r.End(); err != nil {
		return Inside{}, err
	}
	if len(p.Sketches) == 0 {
		p.Sketches = nil
	}
	if len(p.Record) > 2*insideWhole || len(p.Record) == 0 {
		return Inside{}, fmt.Errorf("what is inside: a record of %d bytes", len(p.Record))
	}
	if (p.Record[0] == insidePieces) != (len(p.Pieces) > 0) {
		return Inside{}, fields.ErrBad
	}
	used := 0
	p.Inside, err = Unpack(p.Record, func(i int) ([]byte, error) {
		if i >= len(p.Pieces) || len(p.Pieces[i]) > insidePiece {
			return nil, ErrPiece
		}
		used++
		return p.Pieces[i], nil
	})
	if err == nil && used != len(p.Pieces) {
		err = fields.ErrBad
	}
	if err == nil && p.Sketches != nil {
		err = attachSketches(p.Inside, p.Sketches)
	}
	if err != nil {
		return Inside{}, fmt.Errorf("what is inside: %w", err)
	}
	return p, nil
}

// attachSketches gives the columns the sketches of a record.
func attachSketches(in *inspect.Inside, record []byte) error {
	kept, hashes := map[int]csvprofile.Sketch{}, 0
	err := EachSketch(record, func(at int, packed []byte) (bool, error) {
		s, err := csvprofile.UnpackSketch(packed)
		if hashes += len(s); hashes > maxSketched {
			return false, fields.ErrBad
		}
		kept[at] = s
		return true, err
	})
	at := 0
	for c := range Columns(in) {
		c.Sketch = kept[at]
		at++
	}
	return err
}
