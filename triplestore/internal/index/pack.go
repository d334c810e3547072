package index

import (
	"encoding/binary"
	"math/bits"
)

// Numbers are packed in groups of 64: a byte w, a byte e, the lowest w bits of each number, low bits first, padded to a
// full byte, and for each of e numbers that need more bits its position (one byte) and its remaining bits (uvarint). w
// is 0 to 56, or 64.
const packed = 64

func appendPacked(b []byte, values []uint64) []byte {
	for len(values) > 0 {
		n := min(len(values), packed)
		b = appendPack(b, values[:n])
		values = values[n:]
	}
	return b
}

func appendPack(b []byte, values []uint64) []byte {
	w, exceptions := packWidth(values)
	b = append(b, byte(w), byte(exceptions))
	mask := uint64(1)<<w - 1 // all ones for w 64
	var acc uint64
	have := 0 // number of bits in acc
	for _, v := range values {
		v &= mask
		acc |= v << have
		if have+w >= 64 {
			b = binary.LittleEndian.AppendUint64(b, acc)
			acc = v >> (64 - have) // 0 if have is 0
			have += w - 64
		} else {
			have += w
		}
	}
	for ; have > 0; have -= 8 {
		b = append(b, byte(acc))
		acc >>= 8
	}
	if exceptions > 0 {
		for i, v := range values {
			if rest := v >> w; rest != 0 {
				b = binary.AppendUvarint(append(b, byte(i)), rest)
			}
		}
	}
	return b
}

// packWidth returns the width that needs the fewest bytes.
func packWidth(values []uint64) (width, exceptions int) {
	var lengths [65]int // number of values by bit length
	longest := 0
	for _, v := range values {
		n := bits.Len64(v)
		lengths[n]++
		longest = max(longest, n)
	}
	best := 1 << 30
	var long [packed]int // bit lengths of the values that need more than w bits
	over := 0
	for w := longest; w >= 0; w-- {
		if w < longest {
			for range lengths[w+1] {
				long[over] = w + 1
				over++
			}
		}
		use := w
		if w > 56 {
			use = 64
		}
		cost := len(values)*use + 8*over
		for _, n := range long[:over] {
			cost += 8 * ((n - w + 6) / 7)
		}
		if cost < best {
			best, width, exceptions = cost, use, over
		}
		if over > len(values)/4 {
			break // smaller widths only cost more
		}
	}
	if width == 64 {
		exceptions = 0
	}
	return width, exceptions
}

// unpack decodes len(out) numbers from b[at:end]. It may read the eight bytes after end.
func unpack(b []byte, end, at int, out []uint64) (next int, ok bool) {
	for len(out) > 0 {
		n := min(len(out), packed)
		if at+2 > end {
			return 0, false
		}
		w, exceptions := int(b[at]), int(b[at+1])
		at += 2
		size := (n*w + 7) / 8
		if w > 56 && w != 64 || at+size > end {
			return 0, false
		}
		data := b[at : at+size+8]
		at += size
		group := out[:n]
		switch {
		case w == 0:
			clear(group)
		case w == 64:
			for i := range group {
				group[i] = binary.LittleEndian.Uint64(data[8*i:])
			}
		default:
			mask := uint64(1)<<w - 1
			bit := 0
			for i := range group {
				group[i] = binary.LittleEndian.Uint64(data[bit>>3:]) >> (bit & 7) & mask
				bit += w
			}
		}
		for range exceptions {
			if at >= end || int(b[at]) >= n || w == 64 {
				return 0, false
			}
			i := b[at]
			rest, k := binary.Uvarint(b[at+1 : end])
			if k <= 0 {
				return 0, false
			}
			group[i] |= rest << w
			at += 1 + k
		}
		out = out[n:]
	}
	return at, true
}
