package text

import (
	"encoding/binary"

	"odarchive/triplestore/fields"
)

// The postings of a term list, for each document that contains it in ascending order: the difference from the previous
// document shifted left by one, with the lowest bit set if the term occurs once; otherwise the number of occurrences;
// and the positions, each as the difference from the one before. All are unsigned varints.

// postingWriter appends postings.
type postingWriter struct {
	b    []byte
	last uint32
	docs int
}

func (w *postingWriter) add(doc uint32, positions []uint32) {
	delta := uint64(doc)
	if w.docs > 0 {
		delta = uint64(doc - w.last)
	}
	w.docs++
	w.last = doc
	if len(positions) == 1 {
		w.b = binary.AppendUvarint(w.b, delta<<1|1)
	} else {
		w.b = binary.AppendUvarint(w.b, delta<<1)
		w.b = binary.AppendUvarint(w.b, uint64(len(positions)))
	}
	last := uint32(0)
	for _, p := range positions {
		w.b = binary.AppendUvarint(w.b, uint64(p-last))
		last = p
	}
}

// readPostings calls f with each document and its positions, which are valid until the next call. It reports whether
// the postings are well-formed.
func readPostings(b []byte, docs uint32, f func(doc uint32, positions []uint32)) bool {
	r := fields.Reader{B: b}
	var positions []uint32
	doc, first := uint64(0), true
	for len(r.B) > 0 {
		head := r.Uvarint()
		doc += head >> 1
		n := uint64(1)
		if head&1 == 0 {
			n = r.Uvarint()
		}
		if r.Bad() || doc >= uint64(docs) || n == 0 || n > uint64(len(r.B)) || !first && head>>1 == 0 {
			return false
		}
		first = false
		positions = positions[:0]
		at := uint64(0)
		for range n {
			at += r.Uvarint()
			positions = append(positions, uint32(at))
		}
		if r.Bad() || at > maxWords {
			return false
		}
		f(uint32(doc), positions)
	}
	return true
}
