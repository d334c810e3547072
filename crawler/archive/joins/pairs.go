package joins

import (
	"encoding/binary"
	"math"
	"math/bits"

	"odarchive/triplestore/fields"
)

// An array of pairs is stored as: their number (uvarint), the lowest set number without the bit removed (uvarint), the
// bytes of a number (1 byte), and for each pair the difference of its hash >> coarse to that of the one before
// (uvarint), and its set's number, less the lowest, as so many bytes, little-endian, shifted left by one; the lowest
// bit is the bit removed.
const coarse = 6 // low bits that are zero in all hashes that sets are filed under

// appendPairs appends sorted pairs.
func appendPairs(b []byte, pairs []pair) []byte {
	lowest, highest := number(math.MaxUint32), number(0)
	for _, p := range pairs {
		lowest, highest = min(lowest, p.set&^removed), max(highest, p.set&^removed)
	}
	width := (bits.Len32(uint32(highest-lowest)<<1|1) + 7) / 8
	b = binary.AppendUvarint(b, uint64(len(pairs)))
	b = append(binary.AppendUvarint(b, uint64(lowest)), byte(width))
	last := uint32(0)
	for _, p := range pairs {
		b = binary.AppendUvarint(b, uint64(p.hash>>coarse-last))
		last = p.hash >> coarse
		n := uint32(p.set&^removed-lowest)<<1 | uint32(p.set>>31)
		for range width {
			b, n = append(b, byte(n)), n>>8
		}
	}
	return b
}

// pairReader reads the pairs of an array. err is set once each has ended.
type pairReader struct {
	rest   []byte
	n      int
	lowest uint32
	width  int
	err    error
}

// readPairs returns a reader of an array and the number of its pairs.
func readPairs(v []byte) (*pairReader, int, error) {
	r := fields.Reader{B: v}
	n := r.Count(2)
	p := &pairReader{n: n, lowest: uint32(r.Max(int64(removed) - 1)), width: int(r.Byte())}
	if r.Bad() || p.width < 1 || p.width > 4 || n > len(r.B)/(1+p.width) {
		return nil, 0, errDamaged
	}
	p.rest = r.B
	return p, n, nil
}

// among yields the pairs of some hashes, which are in ascending order, and reads no pair behind those of the last one.
// It is each without most of the work, since an array has some hundred times as many pairs.
func (p *pairReader) among(hashes []uint32, yield func(pair)) {
	hash, b := uint64(0), p.rest
	for range p.n {
		var d uint64
		if len(b) > 0 && b[0] < 0x80 {
			d, b = uint64(b[0]), b[1:]
		} else {
			n := 0
			if d, n = binary.Uvarint(b); n <= 0 {
				p.err = errDamaged
				return
			}
			b = b[n:]
		}
		if hash += d; hash > math.MaxUint32>>coarse || d > math.MaxUint32 || len(b) < p.width {
			p.err = errDamaged
			return
		}
		if h := uint32(hash) << coarse; hashes[0] <= h {
			for hashes[0] < h {
				if hashes = hashes[1:]; len(hashes) == 0 {
					return
				}
			}
			if hashes[0] == h {
				yield(p.pair(h, b))
			}
		}
		b = b[p.width:]
	}
	if len(b) > 0 {
		p.err = errDamaged
	}
}

// pair returns the pair of a hash whose set's number begins b.
func (p *pairReader) pair(hash uint32, b []byte) pair {
	n := uint32(b[0])
	for i := 1; i < p.width; i++ {
		n |= uint32(b[i]) << (8 * i)
	}
	return pair{hash, number(p.lowest+n>>1)&^removed | number(n&1)<<31}
}

// each yields the pairs in order.
func (p *pairReader) each(yield func(pair) bool) {
	hash, b := uint64(0), p.rest
	for range p.n {
		var d uint64
		if len(b) > 0 && b[0] < 0x80 { // as most are
			d, b = uint64(b[0]), b[1:]
		} else {
			n := 0
			if d, n = binary.Uvarint(b); n <= 0 {
				p.err = errDamaged
				return
			}
			b = b[n:]
		}
		if hash += d; hash > math.MaxUint32>>coarse || d > math.MaxUint32 || len(b) < p.width {
			p.err = errDamaged
			return
		}
		if !yield(p.pair(uint32(hash)<<coarse, b)) {
			return
		}
		b = b[p.width:]
	}
	if len(b) > 0 {
		p.err = errDamaged
	}
}
