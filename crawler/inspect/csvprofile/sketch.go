package csvprofile

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// SketchSize is the maximum number of hashes in a Sketch.
const SketchSize = 1024

// Sketch is a sample of a column's distinct values: the upper 32 bits of the SketchSize smallest xxHashes, ascending
// and distinct. A column with fewer values has all of them in it. Two sketches show how far the values of two columns
// overlap (bottom-k MinHash; package joins). In JSON a Sketch is the base64 of the differences between the hashes as
// uvarints.
type Sketch []uint32

// MarshalText implements encoding.TextMarshaler.
func (s Sketch) MarshalText() ([]byte, error) {
	b := make([]byte, 0, 5*len(s))
	last := uint32(0)
	for _, h := range s {
		b = binary.AppendUvarint(b, uint64(h-last))
		last = h
	}
	return base64.RawStdEncoding.AppendEncode(nil, b), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Sketch) UnmarshalText(text []byte) error {
	b, err := base64.RawStdEncoding.AppendDecode(nil, text)
	if err != nil {
		return fmt.Errorf("csvprofile: sketch: %w", err)
	}
	*s = slices.Grow((*s)[:0], min(len(b)/3, SketchSize))
	last := uint64(0)
	for len(b) > 0 {
		d, w := binary.Uvarint(b)
		if last += d; w <= 0 || last > math.MaxUint32 || len(*s) >= SketchSize {
			return fmt.Errorf("csvprofile: sketch: %d hashes, then no number", len(*s))
		}
		*s = append(*s, uint32(last))
		b = b[w:]
	}
	return nil
}

// sketched reports whether values of a datatype are worth a sketch. Those of others coincide by chance.
func sketched(datatype string) bool {
	switch datatype {
	case "boolean", "decimal", "double", "time", "duration":
		return false
	}
	return true
}

// bottom keeps the smallest distinct hashes, in a buffer four times as large that is cut when full.
type bottom struct {
	h   []uint32
	cut uint32 // hashes at or above it are too large; 0 = no limit yet
}

// wants reports whether a hash is small enough.
func (b *bottom) wants(hash uint64) bool { return b.cut == 0 || uint32(hash>>32) < b.cut }

func (b *bottom) add(hash uint64) {
	if !b.wants(hash) {
		return
	}
	b.h = append(b.h, uint32(hash>>32))
	if len(b.h) >= 4*SketchSize {
		b.tidy()
	}
}

func (b *bottom) tidy() {
	sortHashes(b.h)
	b.h = slices.Compact(b.h)
	if len(b.h) >= SketchSize {
		b.h = b.h[:SketchSize]
		b.cut = b.h[SketchSize-1]
	}
}

func (b *bottom) sketch() Sketch {
	b.tidy()
	if len(b.h) == 0 {
		return nil // a reused b may have an empty slice
	}
	return Sketch(slices.Clone(b.h))
}

// sortHashes sorts by 11 bits at a time, or with slices.Sort if that is faster.
func sortHashes(h []uint32) {
	const digit = 1 << 11
	if len(h) < digit/8 || len(h) > 4*SketchSize {
		slices.Sort(h)
		return
	}
	var room [4 * SketchSize]uint32
	from, to := h, room[:len(h)]
	for shift := 0; shift < 33; shift += 11 {
		var at [digit]uint16
		for _, x := range from {
			at[x>>shift%digit]++
		}
		sum := uint16(0)
		for i, n := range at {
			at[i] = sum
			sum += n
		}
		for _, x := range from {
			d := x >> shift % digit
			to[at[d]] = x
			at[d]++
		}
		from, to = to, from
	}
	copy(h, room[:])
}
