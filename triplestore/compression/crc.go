package compression

import "hash/crc32"

// CombineCRC returns the CRC-32 (IEEE) of a concatenation from the checksums of its parts a and b, where b is n bytes
// long. It shifts a over n zero bytes: a multiplication by x^(8n) modulo the polynomial.
func CombineCRC(a, b uint32, n int64) uint32 {
	power, p := uint32(1<<31), uint32(1<<23) // x^0 and x^8, reflected: the highest bit is x^0
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			power = mulCRC(power, p)
		}
		p = mulCRC(p, p)
	}
	return mulCRC(a, power) ^ b
}

// mulCRC multiplies two reflected polynomials modulo the CRC-32 polynomial.
func mulCRC(a, b uint32) (product uint32) {
	for ; a != 0; a <<= 1 {
		if a&(1<<31) != 0 {
			product ^= b
		}
		carry := b & 1
		b >>= 1
		if carry != 0 {
			b ^= crc32.IEEE
		}
	}
	return product
}
