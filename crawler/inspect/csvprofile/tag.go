package csvprofile

import (
	"encoding/binary"
	"math/bits"

	"github.com/cespare/xxhash/v2"
)

// tag returns a hash of a trimmed value for the column's table, never 0. Up to 16 bytes cost one multiplication, whose
// halves are combined; longer values use xxHash.
func tag(b []byte) uint64 {
	if len(b) > 16 {
		return xxhash.Sum64(b) | live
	}
	if cap(b) < 16 {
		var room [16]byte
		copy(room[:], b)
		b = room[:len(b)]
	}
	return shortTag(b)
}

// live is set in every tag.
const live = 1 << 63

// shortTag returns the tag of at most 16 bytes with capacity for 16. It reads the bytes after the value and masks them:
// since no value ends in NUL, the zeros mark its length.
func shortTag(b []byte) uint64 {
	m, x := &masks[len(b)&31], b[:16]
	hi, lo := bits.Mul64(binary.LittleEndian.Uint64(x)&m[0]^0x9E3779B97F4A7C15, binary.LittleEndian.Uint64(x[8:])&m[1]^0xD6E8FEB86659FD93)
	return hi ^ lo | live
}

// masks keep the first n bytes of two words, n being the index.
var masks = func() (m [32][2]uint64) {
	for n := range m {
		for i := range min(n, 16) {
			m[n][i/8] |= 0xFF << (i % 8 * 8)
		}
	}
	return m
}()

// key returns the prefix of a value that has capacity for eight bytes.
func key(b []byte) uint64 {
	return bits.ReverseBytes64(binary.LittleEndian.Uint64(b[:8]) & masks[min(len(b), 8)][0])
}

// firstByte returns the number of bytes in a key before the first c, 8 if there is none.
func firstByte(key uint64, c byte) int { return bits.LeadingZeros64(eachZero(key^uint64(c)*ones)) >> 3 }
