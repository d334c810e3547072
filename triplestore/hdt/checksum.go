package hdt

import (
	"hash/crc32"
)

// The format has three checksums: CRC-8 over the head of a structure, CRC-16 over a control block, CRC-32C over data.

// castagnoli returns the table of CRC-32C.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// crc8 returns the CRC-8 (polynomial 0x07, no reflection, initially 0) of b.
func crc8(b []byte) byte {
	var c byte
	for _, x := range b {
		c ^= x
		for range 8 {
			if c&0x80 != 0 {
				c = c<<1 ^ 0x07
			} else {
				c <<= 1
			}
		}
	}
	return c
}

// crc16 returns the CRC-16 (polynomial 0x8005, reflected, initially 0) of b.
func crc16(b []byte) uint16 {
	var c uint16
	for _, x := range b {
		c ^= uint16(x)
		for range 8 {
			if c&1 != 0 {
				c = c>>1 ^ 0xA001
			} else {
				c >>= 1
			}
		}
	}
	return c
}

// appendVByte appends n in the variable-length encoding of HDT: seven bits in each byte, the lowest first; the last
// byte has its highest bit set.
func appendVByte(b []byte, n uint64) []byte {
	for n > 127 {
		b = append(b, byte(n&127))
		n >>= 7
	}
	return append(b, byte(n)|0x80)
}

// vbyte decodes the number at the start of b and returns the length of its encoding. The length is 0 if the encoding is
// incomplete or the number exceeds 64 bits.
func vbyte(b []byte) (n uint64, length int) {
	for i, c := range b {
		if i == 9 && c&127 > 1 || i > 9 {
			return 0, 0
		}
		n |= uint64(c&127) << (7 * i)
		if c&0x80 != 0 {
			return n, i + 1
		}
	}
	return 0, 0
}
