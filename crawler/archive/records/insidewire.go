package records

import (
	"encoding/binary"
	"fmt"

	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/triplestore/fields"
)

// AppendTo appends the encoded description for a process that does not have the archive: the record, the record of the
// sketches and the pieces, each as its length and bytes. ReadPacked reads it.
func (p PackedInside) AppendTo(b []byte) []byte {
	for _, part := range append([][]byte{p.record, p.sketches}, p.pieces...) {
		b = append(binary.AppendUvarint(b, uint64(len(part))), part...)
	}
	return b
}

// ReadPacked reads what AppendTo has written, perhaps by a process that cannot be trusted: the error is not nil if a record
// of it could not be read.
func ReadPacked(b []byte) (p PackedInside, err error) {
	r := fields.Reader{B: b}
	p.record, p.sketches = r.Bytes(r.Count(1)), r.Bytes(r.Count(1))
	for len(r.B) > 0 && !r.Bad() {
		p.pieces = append(p.pieces, r.Bytes(r.Count(1)))
	}
	if err := r.End(); err != nil {
		return PackedInside{}, err
	}
	if len(p.sketches) == 0 {
		p.sketches = nil
	}
	if len(p.record) > 2*insideWhole || len(p.record) == 0 {
		return PackedInside{}, fmt.Errorf("what is inside: a record of %d bytes", len(p.record))
	}
	if (p.record[0] == insidePieces) != (len(p.pieces) > 0) {
		return PackedInside{}, fields.ErrBad
	}
	used := 0
	p.Inside, err = unpackInside(p.record, func(i int) ([]byte, error) {
		if i >= len(p.pieces) || len(p.pieces[i]) > insidePiece {
			return nil, errPiece
		}
		used++
		return p.pieces[i], nil
	})
	if err == nil && used != len(p.pieces) {
		err = fields.ErrBad
	}
	if err == nil && p.sketches != nil {
		err = attachSketches(p.Inside, p.sketches)
	}
	if err != nil {
		return PackedInside{}, fmt.Errorf("what is inside: %w", err)
	}
	return p, nil
}

// attachSketches gives the columns the sketches of a record.
func attachSketches(in *inspect.Inside, record []byte) error {
	kept, hashes := map[int]csvprofile.Sketch{}, 0
	err := eachSketch(record, func(at int, packed []byte) (bool, error) {
		s, err := csvprofile.UnpackSketch(packed)
		if hashes += len(s); hashes > maxSketched {
			return false, fields.ErrBad
		}
		kept[at] = s
		return true, err
	})
	at := 0
	for c := range sketched(in) {
		c.Sketch = kept[at]
		at++
	}
	return err
}
