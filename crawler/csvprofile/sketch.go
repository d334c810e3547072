package csvprofile

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
)

// SketchSize is how many hashes of a column's distinct values are kept.
const SketchSize = 256

// Sketch is a sample of a column's distinct values: the SketchSize smallest 64-bit xxHashes of them, ascending. Two
// sketches tell how far the values of two columns overlap (bottom-k MinHash). In JSON it is base64 of the hashes,
// eight bytes each, big-endian.
type Sketch []uint64

func (s Sketch) MarshalJSON() ([]byte, error) {
	b := make([]byte, 0, 8*len(s))
	for _, h := range s {
		b = binary.BigEndian.AppendUint64(b, h)
	}
	return json.Marshal(base64.StdEncoding.EncodeToString(b))
}

func (s *Sketch) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("csvprofile: sketch: %w", err)
	}
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(b)%8 != 0 {
		return fmt.Errorf("csvprofile: sketch of %d bytes: %w", len(b), err)
	}
	*s = (*s)[:0]
	for ; len(b) > 0; b = b[8:] {
		*s = append(*s, binary.BigEndian.Uint64(b))
	}
	return nil
}

// bottom keeps the smallest distinct hashes: a buffer of up to twice as many that is cut when full.
type bottom struct {
	h   []uint64
	cut uint64 // hashes at or above it are too great; 0 = no limit yet
}

func (b *bottom) add(h uint64) {
	if b.cut != 0 && h >= b.cut {
		return
	}
	b.h = append(b.h, h)
	if len(b.h) >= 4*SketchSize {
		b.tidy()
	}
}

func (b *bottom) tidy() {
	slices.Sort(b.h)
	b.h = slices.Compact(b.h)
	if len(b.h) >= SketchSize {
		b.h = b.h[:SketchSize]
		b.cut = b.h[SketchSize-1]
	}
}

func (b *bottom) sketch() Sketch {
	b.tidy()
	return Sketch(slices.Clone(b.h))
}
