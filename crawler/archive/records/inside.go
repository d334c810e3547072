package records

import (
	"encoding/json"
	"iter"
	"math"
	"slices"

	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/triplestore/fields"
)

// The record of what is inside a version (tableInside) is an inspect.Inside without the sketches of its columns, as
// packed JSON. The sketches of the latest version are a record of their own (sketches.go). Older programs kept those of
// all versions in this record, in JSON, which begins with a brace, or in the format insideSketched: that byte; the
// length of a JSON text and the text; then, for each column of all tables in order, the file's before its members', the
// number of hashes in its sketch and the difference of each hash to the one before, all as uvarints.
const insideSketched = 1

// A record with a JSON text longer than insideWhole is stored in pieces. The value at the version's key is then: the
// format insidePieces (1 byte), the number of pieces, and their total length compressed and uncompressed (uvarint each).
// The keys after it, which end in the number of the piece (4 bytes, from 0), hold the zstd frame of the record, as it
// would be unpacked or as older programs wrote it, insidePiece bytes each.
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

// decodeInside reads a record that is not stored in pieces. Columns have sketches only if an older program wrote it.
func decodeInside(raw []byte) (*inspect.Inside, error) {
	in := &inspect.Inside{}
	if len(raw) == 0 || raw[0] != insideSketched {
		text, err := Plain(raw)
		if err != nil {
			return in, err
		}
		if quick, ok := parseInside(text); ok {
			in = quick
		} else {
			err = json.Unmarshal(text, in)
		}
		reduceSketches(in)
		return in, err
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
	reduceSketches(in)
	return in, r.End()
}

// reduceSketches reduces sketches that an older program made, which had more hashes and more bits of them.
func reduceSketches(in *inspect.Inside) {
	for c := range sketched(in) {
		c.Sketch = c.Sketch.Reduced()
	}
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
