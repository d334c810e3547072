package packed

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/klauspost/compress/zstd"

	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/triplestore/fields"
)

// Inside is the encoded description of a version's contents. Its zero value is empty.
type Inside struct {
	Inside   *inspect.Inside // what the record holds; nil if there is none
	Record   []byte
	Pieces   [][]byte // of the record, if it is long
	Sketches []byte   // the record of the sketches; nil if there are none
}

// Size returns the number of bytes that the description takes.
func (p Inside) Size() int {
	n := len(p.Record) + len(p.Sketches)
	for _, piece := range p.Pieces {
		n += len(piece)
	}
	return n
}

// Pack encodes what is inside a version, and of the sketches of its columns what sample returns. What exceeds the
// bounds of a record is left out and counted as omitted: Inside of the result is what was kept. in may be nil and does
// not change.
func Pack(in *inspect.Inside, sample Sampler) (Inside, error) {
	if in == nil {
		return Inside{}, nil
	}
	sketches, omitted := encodeSketches(in, sample)
	if len(omitted) > 0 {
		in = withoutSome(in, omitted)
	}
	p, err := packBare(in)
	p.Sketches = sketches
	return p, err
}

// packBare encodes what is inside a version, without sketches.
func packBare(in *inspect.Inside) (Inside, error) {
	raw, err := encodeInside(in)
	if err != nil {
		return Inside{}, err
	}
	if len(raw) <= insideWhole {
		record, err := JSON(raw)
		return Inside{Inside: in, Record: record}, err
	}
	kept := fewer(in, countColumns(in), len(in.Members)) // copies the columns
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return Inside{}, err
	}
	defer w.Close()
	columns, members := countColumns(kept), len(kept.Members)
	for {
		if raw, err = encodeInside(kept); err != nil {
			return Inside{}, err
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
			return Inside{Inside: kept, Record: record, Pieces: slices.Collect(slices.Chunk(packed, insidePiece))}, nil
		}
		if columns == 0 && members == 0 {
			kept = bareInside(in)
			continue
		}
		columns, members = int(float64(columns)*share*0.9), int(float64(members)*share*0.9)
		kept = fewer(kept, columns, members)
	}
}

// Unpack decodes a record; piece returns its pieces by number, or ErrPiece. Columns have no sketches.
func Unpack(record []byte, piece func(i int) ([]byte, error)) (*inspect.Inside, error) {
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

// ErrPiece is in the chain of the error about a record that lacks a piece.
var ErrPiece = errors.New("a piece is missing")

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
	for range Columns(in) {
		n++
	}
	return n
}
