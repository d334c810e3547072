package search

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Set is a set of document numbers, one bit each.
type Set []uint64

// Has reports whether a document is in the set.
func (s Set) Has(doc uint32) bool {
	i := int(doc >> 6)
	return i < len(s) && s[i]&(1<<(doc&63)) != 0
}

// Put adds a document.
func (s *Set) Put(doc uint32) {
	s.grow(int(doc>>6) + 1)
	(*s)[doc>>6] |= 1 << (doc & 63)
}

// Union adds the documents of another set.
func (s *Set) Union(o Set) {
	s.grow(len(o))
	for i, w := range o {
		(*s)[i] |= w
	}
}

// Intersect removes the documents that are not in another set.
func (s Set) Intersect(o Set) {
	for i := range s {
		if i < len(o) {
			s[i] &= o[i]
		} else {
			s[i] = 0
		}
	}
}

// Each calls f with every document in ascending order.
func (s Set) Each(f func(doc uint32)) {
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			f(uint32(i)<<6 | uint32(bits.TrailingZeros64(w)))
		}
	}
}

func (s *Set) grow(n int) {
	if n > len(*s) {
		*s = append(*s, make(Set, n-len(*s))...)
	}
}

// A chunk holds the documents of a word among chunkDocs consecutive ones: their offsets in ascending order, or a bitmap
// if that is shorter.
const (
	chunkBits = 12
	chunkDocs = 1 << chunkBits
	bitmapLen = chunkDocs / 8
)

// decode returns the offsets of a stored chunk. ok is false if it is malformed.
func decode(raw []byte) (offsets []uint16, ok bool) {
	if len(raw) == bitmapLen {
		for i, b := range raw {
			for ; b != 0; b &= b - 1 {
				offsets = append(offsets, uint16(i<<3|bits.TrailingZeros8(b)))
			}
		}
		return offsets, true
	}
	if len(raw) > bitmapLen || len(raw)%2 != 0 {
		return nil, false
	}
	for ; len(raw) > 0; raw = raw[2:] {
		offsets = append(offsets, binary.BigEndian.Uint16(raw)&(chunkDocs-1))
	}
	return offsets, true
}

// encode returns the stored chunk of offsets in ascending order.
func encode(offsets []uint16) []byte {
	if 2*len(offsets) >= bitmapLen {
		raw := make([]byte, bitmapLen)
		for _, o := range offsets {
			raw[o>>3] |= 1 << (o & 7)
		}
		return raw
	}
	raw := make([]byte, 0, 2*len(offsets))
	for _, o := range offsets {
		raw = binary.BigEndian.AppendUint16(raw, o)
	}
	return raw
}

// addChunk adds a stored chunk to a set. It returns false if the chunk is malformed.
func (s *Set) addChunk(chunk uint32, raw []byte) bool {
	base := int(chunk) * (chunkDocs / 64)
	if len(raw) == bitmapLen {
		s.grow(base + chunkDocs/64)
		for i := range chunkDocs / 64 {
			(*s)[base+i] |= binary.LittleEndian.Uint64(raw[8*i:])
		}
		return true
	}
	offsets, ok := decode(raw)
	for _, o := range offsets {
		s.Put(chunk<<chunkBits | uint32(o))
	}
	return ok
}

// applyChanges applies changes, in order, to a stored chunk, which it may overwrite. ok is false if the chunk is
// malformed.
func applyChanges(raw []byte, changes []change) (_ []byte, ok bool) {
	if len(raw) == bitmapLen { // a bitmap, which probably stays one
		for _, c := range changes {
			bit := byte(1) << (c.offset & 7)
			if raw[c.offset>>3] |= bit; c.removed {
				raw[c.offset>>3] ^= bit
			}
		}
		n := 0
		for i := 0; i < bitmapLen; i += 8 {
			n += bits.OnesCount64(binary.LittleEndian.Uint64(raw[i:]))
		}
		if 2*n >= bitmapLen {
			return raw, true
		}
		changes = nil
	}
	offsets, ok := decode(raw)
	return encode(applyToOffsets(offsets, changes)), ok
}

// applyToOffsets applies changes, in order, to offsets.
func applyToOffsets(offsets []uint16, changes []change) []uint16 {
	for _, c := range changes {
		i, there := slices.BinarySearch(offsets, c.offset)
		switch {
		case c.removed && there:
			offsets = slices.Delete(offsets, i, i+1)
		case !c.removed && !there:
			offsets = slices.Insert(offsets, i, c.offset)
		}
	}
	return offsets
}
