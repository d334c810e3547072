package records

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"slices"

	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/triplestore/fields"
)

// The record of what is inside a version (tableInside) is: the format (1 byte); the length of a JSON text and the text,
// an inspect.Inside without the sketches of its columns; then, for each column of all tables in order, the file's
// before its members', the number of hashes in its sketch and the difference of each hash to the one before. All
// numbers are uvarints. Sketches are kept out of the JSON because they are most of the record and no compression
// shortens them. Older programs wrote JSON alone, which begins with a brace.
const insideFormat = 1

// A record longer than insideWhole is stored in pieces. The value at the version's key is then: the format insidePieces
// (1 byte), the number of pieces, and their total length compressed and uncompressed (uvarint each). The keys after it,
// which end in the number of the piece (4 bytes, from 0), hold the zstd frame of the record, insidePiece bytes each.
const (
	insidePieces = 2
	insideWhole  = 256 << 10
	insidePiece  = 512 << 10

	// maxInside bounds what is kept of one version, in bytes, since it is written in one transaction.
	maxInside    = 9 << 18  // compressed
	maxInsideRaw = 24 << 20 // uncompressed
	maxSketches  = 1 << 20  // the part of it that is sketches, which no compression shortens
)

// encodeInside returns the record of in, in one piece however long.
func encodeInside(in *inspect.Inside) ([]byte, error) {
	bare := *in
	bare.Tables = withoutSketches(in.Tables)
	bare.Members = slices.Clone(in.Members)
	for i := range bare.Members {
		bare.Members[i].Tables = withoutSketches(bare.Members[i].Tables)
	}
	text, err := json.Marshal(bare)
	if err != nil {
		return nil, err
	}
	hashes := 0
	for c := range sketched(in) {
		hashes += len(c.Sketch) + 1
	}
	b := make([]byte, 1, 1+binary.MaxVarintLen64+len(text)+4*hashes)
	b[0] = insideFormat
	b = append(binary.AppendUvarint(b, uint64(len(text))), text...)
	for c := range sketched(in) {
		b = binary.AppendUvarint(b, uint64(len(c.Sketch)))
		last := uint32(0)
		for _, h := range c.Sketch {
			b = binary.AppendUvarint(b, uint64(h-last))
			last = h
		}
	}
	return b, nil
}

// decodeInside reads a record that is not stored in pieces.
func decodeInside(raw []byte) (*inspect.Inside, error) {
	in := &inspect.Inside{}
	if len(raw) > 0 && raw[0] == '{' {
		return in, json.Unmarshal(raw, in)
	}
	if len(raw) == 0 || raw[0] != insideFormat {
		return nil, fmt.Errorf("the format of what is inside a version is unknown")
	}
	r := fields.Reader{B: raw[1:]}
	if err := json.Unmarshal(r.Bytes(r.Count(1)), in); err != nil {
		return nil, err
	}
	for c := range sketched(in) {
		n := r.Count(1)
		if n == 0 {
			continue
		}
		if n > csvprofile.SketchSize {
			return nil, fields.ErrBad
		}
		c.Sketch = make(csvprofile.Sketch, n)
		last := uint64(0)
		for i := range c.Sketch {
			if last += uint64(r.Max(math.MaxUint32)); last > math.MaxUint32 {
				return nil, fields.ErrBad
			}
			c.Sketch[i] = uint32(last)
		}
	}
	return in, r.End()
}

// sketched yields the columns of all tables, the file's before its members'.
func sketched(in *inspect.Inside) iter.Seq[*csvprofile.Column] {
	return func(yield func(*csvprofile.Column) bool) {
		each := func(tables []*csvprofile.Profile) bool {
			for _, t := range tables {
				if t == nil {
					continue
				}
				for i := range t.Columns {
					if !yield(&t.Columns[i]) {
						return false
					}
				}
			}
			return true
		}
		if !each(in.Tables) {
			return
		}
		for _, m := range in.Members {
			if !each(m.Tables) {
				return
			}
		}
	}
}

// withoutSketches returns copies of the profiles whose columns have no sketches.
func withoutSketches(tables []*csvprofile.Profile) []*csvprofile.Profile {
	bare := slices.Clone(tables)
	for i, t := range bare {
		if t == nil {
			continue
		}
		p := *t
		p.Columns = slices.Clone(p.Columns)
		for j := range p.Columns {
			p.Columns[j].Sketch = nil
		}
		bare[i] = &p
	}
	return bare
}
