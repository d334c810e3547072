package records

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

// PackedInside is the encoded description of a version's contents. Its zero value is empty.
type PackedInside struct {
	Inside   *inspect.Inside // what the record holds; nil if there is none
	record   []byte
	pieces   [][]byte // of the record, if it is long
	sketches []byte   // the record of the sketches; nil if there are none
}

// Size returns the number of bytes that the description takes.
func (p PackedInside) Size() int {
	n := len(p.record) + len(p.sketches)
	for _, piece := range p.pieces {
		n += len(piece)
	}
	return n
}

// PackInside encodes what is inside a version, and of the sketches of its columns what sample returns. What exceeds the
// bounds of a record is left out and counted as omitted: Inside of the result is what was kept. in may be nil and does
// not change.
func PackInside(in *inspect.Inside, sample Sample) (PackedInside, error) {
	if in == nil {
		return PackedInside{}, nil
	}
	sketches, omitted := encodeSketches(in, sample)
	if len(omitted) > 0 {
		in = withoutSome(in, omitted)
	}
	p, err := packBare(in)
	p.sketches = sketches
	return p, err
}

// packBare encodes what is inside a version, without sketches.
func packBare(in *inspect.Inside) (PackedInside, error) {
	raw, err := encodeInside(in)
	if err != nil {
		return PackedInside{}, err
	}
	if len(raw) <= insideWhole {
		record, err := pack(raw)
		return PackedInside{Inside: in, record: record}, err
	}
	kept := fewer(in, countColumns(in), len(in.Members)) // copies the columns
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return PackedInside{}, err
	}
	defer w.Close()
	columns, members := countColumns(kept), len(kept.Members)
	for {
		if raw, err = encodeInside(kept); err != nil {
			return PackedInside{}, err
		}
		packed := []byte{}
		share := float64(maxInsideRaw) / float64(len(raw))
		if share >= 1 {
			packed = w.EncodeAll(raw, nil)
			share = float64(maxInside) / float64(len(packed))
		}
		if share >= 1 {
			record := binary.AppendUvarint([]byte{insidePieces}, uint64((len(packed)+insidePiece-1)/insidePiece))
			record = binary.AppendUvarint(binary.AppendUvarint(record, uint64(len(packed))), uint64(len(raw)))
			return PackedInside{Inside: kept, record: record, pieces: slices.Collect(slices.Chunk(packed, insidePiece))}, nil
		}
		if columns == 0 && members == 0 {
			kept = bareInside(in)
			continue
		}
		columns, members = int(float64(columns)*share*0.9), int(float64(members)*share*0.9)
		kept = fewer(kept, columns, members)
	}
}

// unpackInside decodes a record; piece returns its pieces by number.
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

// errPiece is in the chain of the error about a record that lacks a piece.
var errPiece = errors.New("a piece is missing")

// insidePiecesOf returns a function that reads the pieces of a version's record.
func (t Txn) insidePiecesOf(resource string, n int) func(i int) ([]byte, error) {
	return func(i int) ([]byte, error) {
		part, ok, err := t.Get(kv.SpaceArchive, key(tableInside, id(resource), n, i))
		if err == nil && !ok {
			err = errPiece
		}
		return part, err
	}
}

func (t Txn) saveInside(resource string, n int, inside PackedInside) error {
	if inside.Inside == nil {
		return nil
	}
	if err := t.Set(kv.SpaceArchive, VersionKey(tableInside, resource, n), inside.record); err != nil {
		return err
	}
	for i, part := range inside.pieces {
		if err := t.Set(kv.SpaceArchive, key(tableInside, id(resource), n, i), part); err != nil {
			return err
		}
	}
	if inside.sketches == nil {
		return nil
	}
	return t.Set(kv.SpaceArchive, VersionKey(tableSketches, resource, n), inside.sketches)
}

// fewer returns a copy with the first columns and members only. It counts what it leaves out and shares no columns with
// in.
func fewer(in *inspect.Inside, columns, members int) *inspect.Inside {
	kept := *in
	firstColumns := func(tables []*csvprofile.Profile) []*csvprofile.Profile {
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
	kept.Tables = firstColumns(in.Tables)
	kept.Members = slices.Clone(in.Members[:min(members, len(in.Members))])
	for i := range kept.Members {
		kept.Members[i].Tables = firstColumns(kept.Members[i].Tables)
	}
	if over := len(in.Members) - len(kept.Members); over > 0 {
		kept.MembersOmitted += over
		kept.More = true
	}
	return &kept
}

// bareInside returns an Inside that only reports that there was too much to keep.
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
