package archive

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/klauspost/compress/zstd"

	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/triplestore/fields"
	"odarchive/triplestore/kv"
)

// packInside makes the record of what is inside a version, and the pieces of it where it is long. What is too much for the
// bounds of a record is left out: kept says what is in it.
func packInside(in *inspect.Inside) (kept *inspect.Inside, record []byte, pieces [][]byte, err error) {
	raw, err := encodeInside(in)
	if err != nil || len(raw) <= insideWhole {
		return in, raw, nil, err
	}
	kept = fewerSketches(in)
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, nil, nil, err
	}
	defer w.Close()
	columns, members := countColumns(kept), len(kept.Members)
	for {
		if raw, err = encodeInside(kept); err != nil {
			return nil, nil, nil, err
		}
		packed := []byte{}
		share := float64(maxInsideRaw) / float64(len(raw))
		if share >= 1 {
			packed = w.EncodeAll(raw, nil)
			share = float64(maxInside) / float64(len(packed))
		}
		if share >= 1 {
			record = binary.AppendUvarint([]byte{insidePieces}, uint64((len(packed)+insidePiece-1)/insidePiece))
			record = binary.AppendUvarint(binary.AppendUvarint(record, uint64(len(packed))), uint64(len(raw)))
			return kept, record, slices.Collect(slices.Chunk(packed, insidePiece)), nil
		}
		if columns == 0 && members == 0 {
			kept = bareInside(in)
			continue
		}
		columns, members = int(float64(columns)*share*0.9), int(float64(members)*share*0.9)
		kept = fewer(kept, columns, members)
	}
}

// unpackInside reads a record; piece gives the pieces.
func unpackInside(record []byte, piece func(i int) ([]byte, error)) (*inspect.Inside, error) {
	if len(record) == 0 || record[0] != insidePieces {
		return decodeInside(record)
	}
	r := fields.Reader{B: record[1:]}
	n, size, whole := r.Uvarint(), r.Uvarint(), r.Uvarint()
	if r.End() != nil || size > maxInside || whole > maxInsideRaw || n != (size+insidePiece-1)/insidePiece {
		return nil, fields.ErrBad
	}
	packed := make([]byte, 0, size)
	for i := range int(n) {
		part, err := piece(i)
		if err != nil {
			return nil, fmt.Errorf("piece %d: %w", i, err)
		}
		packed = append(packed, part...)
	}
	if uint64(len(packed)) != size {
		return nil, fmt.Errorf("the pieces have %d bytes, not %d", len(packed), size)
	}
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxInsideRaw))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	raw, err := z.DecodeAll(packed, make([]byte, 0, whole))
	if err != nil {
		return nil, err
	}
	return decodeInside(raw)
}

// errPiece is in the chain of an error about a record that lacks one of its pieces.
var errPiece = errors.New("a piece is missing")

// insidePiecesOf gives the pieces of a record by their numbers.
func (t tables) insidePiecesOf(resource string, n int) func(i int) ([]byte, error) {
	return func(i int) ([]byte, error) {
		part, ok, err := t.txn.Get(kv.SpaceArchive, key(tableInside, rid(resource), n, i))
		if err == nil && !ok {
			err = errPiece
		}
		return part, err
	}
}

func (t tables) saveInside(id string, n int, record []byte, pieces [][]byte) error {
	if err := t.txn.Set(kv.SpaceArchive, key(tableInside, rid(id), n), record); err != nil {
		return err
	}
	for i, part := range pieces {
		if err := t.txn.Set(kv.SpaceArchive, key(tableInside, rid(id), n, i), part); err != nil {
			return err
		}
	}
	return nil
}

// fewerSketches is a copy without the sketches for which there is no room; those of the first columns stay.
func fewerSketches(in *inspect.Inside) *inspect.Inside {
	kept := fewer(in, countColumns(in), len(in.Members)) // has columns of its own
	left := maxSketches
	for c := range sketched(kept) {
		size := 4 * len(c.Sketch)
		if size == 0 {
			continue
		}
		if size > left {
			c.Sketch = nil
			kept.SketchesOmitted++
			continue
		}
		left -= size
	}
	return kept
}

// fewer is a copy of the first columns and members; it counts what it leaves out, and shares no columns with in.
func fewer(in *inspect.Inside, columns, members int) *inspect.Inside {
	kept := *in
	some := func(tables []*csvprofile.Profile) []*csvprofile.Profile {
		tables = slices.Clone(tables)
		for i, t := range tables {
			if t == nil {
				continue
			}
			p := *t
			n := min(len(p.Columns), columns)
			columns -= n
			over := len(p.Columns) - n
			p.Columns = append([]csvprofile.Column{}, p.Columns[:n]...)
			p.Omitted += over
			kept.ColumnsOmitted += over
			kept.More = kept.More || over > 0
			tables[i] = &p
		}
		return tables
	}
	kept.Tables = some(in.Tables)
	kept.Members = slices.Clone(in.Members[:min(members, len(in.Members))])
	for i := range kept.Members {
		kept.Members[i].Tables = some(kept.Members[i].Tables)
	}
	if over := len(in.Members) - len(kept.Members); over > 0 {
		kept.MembersOmitted += over
		kept.More = true
	}
	return &kept
}

// bareInside says only that there was too much to keep.
func bareInside(in *inspect.Inside) *inspect.Inside {
	return &inspect.Inside{
		More: true, Faults: []string{"what is inside is too much to be kept"}, MembersOmitted: len(in.Members) + in.MembersOmitted,
		ColumnsOmitted: countColumns(in) + in.ColumnsOmitted,
	}
}

func countColumns(in *inspect.Inside) (n int) {
	for range sketched(in) {
		n++
	}
	return n
}
