package packed

import (
	"encoding/json"
	"iter"
	"slices"

	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
)

// The record of what is inside a version is an inspect.Inside without the sketches of its columns, as
// packed JSON. The sketches of the latest version are a record of their own (sketches.go).

// A record with a JSON text longer than insideWhole is stored in pieces. The value at the version's key is then: the
// format insidePieces (1 byte), the number of pieces, and their total length compressed and uncompressed (uvarint
// each). The keys after it, which end in the number of the piece (4 bytes, from 0), hold the zstd frame of the JSON
// text, insidePiece bytes each.
const (
	insidePieces = 2
	insideWhole  = 256 << 10
	insidePiece  = 512 << 10

	// maxInside bounds what is kept of one version, in bytes, since it is written in one transaction.
	maxInside    = 9 << 18  // compressed
	maxInsideRaw = 24 << 20 // uncompressed
)

// encodeInside returns the JSON text of in without sketches.
func encodeInside(in *inspect.Inside) ([]byte, error) {
	bare := *in
	bare.Tables = withoutSketches(in.Tables)
	bare.Members = slices.Clone(in.Members)
	for i := range bare.Members {
		bare.Members[i].Tables = withoutSketches(bare.Members[i].Tables)
	}
	return json.Marshal(bare)
}

// decodeInside reads a record that is not stored in pieces. Columns have no sketches.
func decodeInside(raw []byte) (in *inspect.Inside, err error) {
	text, err := Plain(raw)
	if err != nil {
		return nil, err
	}
	if in, ok := parseInside(text); ok {
		return in, nil
	}
	in = &inspect.Inside{}
	return in, json.Unmarshal(text, in)
}

// Columns yields the columns of all tables, the file's before its members'.
func Columns(in *inspect.Inside) iter.Seq[*csvprofile.Column] {
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
