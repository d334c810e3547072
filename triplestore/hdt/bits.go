package hdt

import (
	"bufio"
	"encoding/binary"
	"io"
)

// bitReader reads the numbers of a sequence in order.
type bitReader struct {
	in   *bufio.Reader
	bits uint   // of a number
	left uint64 // numbers that were not returned yet
	word uint64 // the next bits, the lowest first
	have uint   // number of bits in word
}

func newBitReader(ra io.ReaderAt, s sequence) *bitReader {
	n := int64(s.entries*uint64(s.bits)+7) / 8
	return &bitReader{in: bufio.NewReaderSize(io.NewSectionReader(ra, s.offset, n), int(min(n, readAhead))), bits: s.bits, left: s.entries}
}

// next returns the next number. ok is false after the last.
func (r *bitReader) next() (n uint64, ok bool, err error) {
	if r.left == 0 {
		return 0, false, nil
	}
	r.left--
	if r.have >= r.bits {
		n = r.word & mask(r.bits)
		r.word >>= r.bits
		r.have -= r.bits
		return n, true, nil
	}
	low, got := r.word, r.have
	if err := r.fill(); err != nil {
		return 0, false, err
	}
	need := r.bits - got
	if need > r.have {
		return 0, false, io.ErrUnexpectedEOF
	}
	n = low | r.word&mask(need)<<got
	if need == 64 {
		r.word = 0
	} else {
		r.word >>= need
	}
	r.have -= need
	return n, true, nil
}

// mask returns a number whose lowest bits are set.
func mask(bits uint) uint64 {
	if bits >= 64 {
		return ^uint64(0)
	}
	return 1<<bits - 1
}

// fill reads the next word. The last one of a sequence may be shorter than eight bytes.
func (r *bitReader) fill() error {
	b, err := r.in.Peek(8)
	if len(b) == 0 {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	var w [8]byte
	n := copy(w[:], b)
	r.in.Discard(n) // cannot fail: n bytes are buffered
	r.word, r.have = binary.LittleEndian.Uint64(w[:]), uint(n)*8
	return nil
}

// bitWriter writes numbers of a fixed number of bits, the lowest bit first.
type bitWriter struct {
	out  *spool
	bits uint   // of a number
	n    uint64 // numbers written
	word uint64 // bits that were not written to out yet
	have uint   // number of bits in word
	buf  [8]byte
}

// width returns the number of bits needed for numbers from 0 to highest, at least 1.
func width(highest uint64) uint {
	n := uint(1)
	for highest > mask(n) {
		n++
	}
	return n
}

// add appends a number, which must not have more than w.bits bits.
func (w *bitWriter) add(n uint64) {
	w.n++
	w.word |= n << w.have
	if w.have += w.bits; w.have < 64 {
		return
	}
	binary.LittleEndian.PutUint64(w.buf[:], w.word)
	w.out.Write(w.buf[:])
	w.have -= 64
	w.word = 0
	if w.have > 0 {
		w.word = n >> (w.bits - w.have)
	}
}

// end writes the last bits to out.
func (w *bitWriter) end() {
	binary.LittleEndian.PutUint64(w.buf[:], w.word)
	w.out.Write(w.buf[:(w.have+7)/8])
	w.word, w.have = 0, 0
}
