package wordindex

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Set is a set of document numbers, one bit each.
type Set []uint64

// Has tells whether a document is in the set.
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

// Intersect removes the documents that another set has not.
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

// A chunk is the documents of a word among chunkDocs neighbours: their offsets in ascending order while they are few, a
// bitmap when that is shorter.
const (
	chunkBits = 12
	chunkDocs = 1 << chunkBits
	bitmapLen = chunkDocs / 8
)

// chunk of a stored value. ok is false where it is none.
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

// encode takes offsets in ascending order.
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

// addChunk adds a stored chunk to a set.
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

// amend applies an ordered list of changes to a stored chunk, which it may overwrite.
func amend(raw []byte, changes []change) (_ []byte, ok bool) {
	if len(raw) == bitmapLen { // a bitmap that stays one
		for _, c := range changes {
			bit := byte(1) << (c.offset & 7)
			if raw[c.offset>>3] |= bit; c.gone {
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
	return encode(changed(offsets, changes)), ok
}

// changed applies an ordered list of changes to offsets.
func changed(offsets []uint16, changes []change) []uint16 {
	for _, c := range changes {
		i, there := slices.BinarySearch(offsets, c.offset)
		switch {
		case c.gone && there:
			offsets = slices.Delete(offsets, i, i+1)
		case !c.gone && !there:
			offsets = slices.Insert(offsets, i, c.offset)
		}
	}
	return offsets
}
