package csvprofile

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// Sizes of a Sketch, in hashes.
const (
	SketchSize    = 1024 // the maximum
	WholeSketch   = 192  // a sketch with fewer has all values of its column
	sampledValues = 4    // a longer one has one of so many values, within these bounds
	minFinders    = 64   // hashes by which other columns find the column, at least
	findersShare  = 8    // or the hash of one of so many values, so that smaller columns are found in it
)

// Sketch is a sample of a column's distinct values: the smallest of their xxHashes, the upper 32 bits, ascending and
// distinct. Of a column with up to fineFrom values only 26 bits are kept, and the others are zero: more would cost
// space and tell no more values apart. Hashes behind those that find a column (Finders) have fewer bits if they are a
// sample, enough for comparing two columns (Rough). Two sketches show how far the values of two columns overlap
// (bottom-k MinHash; package joins). In JSON a Sketch is the base64 of the differences between the hashes as uvarints.
type Sketch []uint32

const (
	coarseBits = 6       // lowest bits of a hash that are zero in most sketches
	fineFrom   = 1 << 16 // values of a column from which on all bits are kept
	rareFrom   = 9       // binary logarithm of how many times as many values as a column has the hashes of its tail tell apart
)

// Values returns the number of values of the column, estimated if the sketch has not all of them.
func (s Sketch) Values() int {
	if len(s) < WholeSketch {
		return len(s)
	}
	return int(float64(len(s)) / (float64(s[len(s)-1]) + 1) * math.MaxUint32)
}

// Reduced returns a sketch of the defined size and precision. s has more hashes, or more bits of them: all values of
// its column if they are fewer than SketchSize. The result may share memory with s, which may change.
func (s Sketch) Reduced() Sketch {
	n := len(s)
	if n >= SketchSize {
		n = s.Values()
	}
	if n < fineFrom {
		s = s.Coarse()
	}
	size := min(len(s), max(n/sampledValues, WholeSketch), SketchSize)
	if size < WholeSketch || size == SketchSize {
		return s[:size]
	}
	return s.roughened(size)
}

// Finders returns how many of the hashes are those by which other columns find the column.
func (s Sketch) Finders() int { return min(len(s), max(minFinders, s.Values()/findersShare)) }

// roughened returns the first hashes of a sample of at most fineFrom values, so many, with fewer bits from the second
// behind the Finders on: one more keeps its bits, because the Finders are estimated from the last hash, which changes.
// Hashes that are the same then are replaced by the next ones; if there are no more, all hashes stay as they are.
func (s Sketch) roughened(size int) Sketch {
	low := uint32(1)<<(32-rareFrom-bits.Len(uint(s[:size].Values()))) - 1
	head := s[:size].Finders() + 1
	if head >= size {
		return s[:size]
	}
	rough := append(make(Sketch, 0, size), s[:head]...)
	for _, h := range s[head:] {
		if h &^= low; h > rough[len(rough)-1] {
			rough = append(rough, h)
		}
		if len(rough) == size {
			return rough
		}
	}
	return s[:size]
}

// Rough returns how many of the lowest bits some hashes lack. Without as many, two sketches can be compared.
func (s Sketch) Rough() int {
	if len(s) < WholeSketch { // zeros in a few hashes may be chance
		if s.IsCoarse() {
			return coarseBits
		}
		return 0
	}
	all := uint32(0)
	for _, h := range s[len(s)*3/4:] {
		all |= h
	}
	return bits.TrailingZeros32(all)
}

// Coarse drops the lowest bits of the hashes, in place, so that the sketch can be compared with those that lack them.
func (s Sketch) Coarse() Sketch {
	for i := range s {
		s[i] &^= 1<<coarseBits - 1
	}
	return slices.Compact(s)
}

// IsCoarse reports whether the lowest bits of all hashes are zero.
func (s Sketch) IsCoarse() bool {
	all := uint32(0)
	for _, h := range s {
		all |= h
	}
	return all&(1<<coarseBits-1) == 0
}

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
	return slices.Clone(Sketch(b.h).Reduced())
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
