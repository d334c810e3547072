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
// Bits fill bytes from the highest. If the last hashes lack more bits, the byte of the dropped bits has tailBit set,
// and behind w are the number of hashes that do not (uvarint), and how many bits the others lack beyond those that all
// lack (1 byte); these are coded without them, and with w less by as many, at least 0. Nothing codes random numbers in
// less space by more than a few hundredths.

const tailBit = 0x80

// tail returns the number of hashes before those that lack more bits than the dropped ones, and how many more. It is
// len(s) if that is not worth telling.
func (s Sketch) tail(drop int) (head, more int) {
	if len(s) < WholeSketch {
		return len(s), 0
	}
	if more = s.Rough() - drop; more <= 0 {
		return len(s), 0
	}
	for head = len(s); head > 0 && s[head-1]&(1<<(drop+more)-1) == 0; head-- {
	}
	if (len(s)-head)*more < 64 {
		return len(s), 0
	}
	return head, more
}

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
	head, more := s.tail(drop)
	if head < len(s) {
		b = append(b, byte(drop)|tailBit, byte(w))
		b = append(binary.AppendUvarint(b, uint64(head)), byte(more))
	} else {
		b = append(b, byte(drop), byte(w))
	}
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
	for i, h := range s {
		if i == head {
			last, drop, w = last>>more, drop+more, max(0, w-more)
		}
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
	head, more := count, 0
	if drop&tailBit != 0 {
		drop &^= tailBit
		head, more = r.Max(count), int(r.Byte())
	}
	least := int(head)*(w+1) + int(count-head)*(max(0, w-more)+1) // bits
	if r.Bad() || drop != 0 && drop != coarseBits || w > 32 || drop+more > 31 || least > 8*len(r.B) {
		return nil, fields.ErrBad
	}
	s := make(Sketch, count)
	in, at, end := r.B, 0, 8*len(r.B)
	last := int64(-1)
	for i := range s {
		if i == int(head) {
			last, drop, w = last>>more, drop+more, max(0, w-more)
		}
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
