package csvprofile

import (
	"encoding/binary"
	"math"
	"math/bits"

	"odarchive/triplestore/fields"
)

// A packed sketch is: the number of hashes (uvarint), 0 for the low bits that are kept or coarseBits for those that are
// dropped (1 byte), the width w (1 byte), and a Rice code of the differences between the hashes, less one, the first
// from -1: the difference >> w in unary, as ones with a zero behind them, then its lowest w bits, the highest first.
// Bits fill bytes from the highest. Nothing codes random numbers in less space by more than a few hundredths.

// AppendPacked appends the packed sketch.
func (s Sketch) AppendPacked(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	if len(s) == 0 {
		return b
	}
	drop := 0
	if s.IsCoarse() {
		drop = coarseBits
	}
	w := max(0, bits.Len32(s[len(s)-1]>>drop/uint32(len(s))*7/10)-1)
	b = append(b, byte(drop), byte(w))
	var left uint64 // bits not appended yet, the lowest n
	n := 0
	put := func(v uint64, width int) {
		left, n = left<<width|v, n+width
		for ; n >= 8; n -= 8 {
			b = append(b, byte(left>>(n-8)))
		}
		left &= 1<<n - 1
	}
	last := int64(-1)
	for _, h := range s {
		d := uint64(int64(h>>drop)-last) - 1
		last = int64(h >> drop)
		q := d >> w
		for ; q >= 32; q -= 32 {
			put(math.MaxUint32, 32)
		}
		put(1<<(q+1)-2, int(q)+1)
		put(d&(1<<w-1), w)
	}
	if n > 0 {
		b = append(b, byte(left<<(8-n)))
	}
	return b
}

// UnpackSketch returns the sketch that AppendPacked appended to nothing. The error is fields.ErrBad.
func UnpackSketch(b []byte) (Sketch, error) {
	r := fields.Reader{B: b}
	count := r.Max(SketchSize)
	if count == 0 {
		return nil, r.End()
	}
	drop, w := int(r.Byte()), int(r.Byte())
	if r.Bad() || drop != 0 && drop != coarseBits || w > 32 || int(count)*(w+1) > 8*len(r.B) {
		return nil, fields.ErrBad
	}
	s := make(Sketch, count)
	in, at, end := r.B, 0, 8*len(r.B)
	last := int64(-1)
	for i := range s {
		d := int64(0)
		for ; at < end && in[at/8]>>(7-at%8)&1 == 1; at++ {
			d++
		}
		at++
		if at+w > end {
			return nil, fields.ErrBad
		}
		for k := 0; k < w; {
			take := min(8-at%8, w-k)
			d = d<<take | int64(in[at/8]>>(8-at%8-take))&(1<<take-1)
			at, k = at+take, k+take
		}
		if last += d + 1; last > math.MaxUint32>>drop {
			return nil, fields.ErrBad
		}
		s[i] = uint32(last) << drop
	}
	if (at+7)/8 != len(in) {
		return nil, fields.ErrBad
	}
	return s, nil
}
