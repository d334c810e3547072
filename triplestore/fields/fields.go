// Package fields takes apart the small binary records that the archive's spaces hold: varints, texts, raw bytes, one behind
// the other. A Reader promises never to read past its bytes and never to allocate more than they can mean; the first wrong
// value makes everything after it zero, so that a decoder reads on and asks once, at the end, whether all was well.
//
// It knows no format: what stands where, versions and checksums are the business of the packages whose records these are.
package fields

import (
	"encoding/binary"
	"errors"
)

// ErrBad is what Reader.End says of a record that is cut off, too long or otherwise wrong.
var ErrBad = errors.New("fields: unreadable record")

// Reader reads from the front of B, which it shortens and never changes.
type Reader struct {
	B   []byte
	bad bool
}

// Bad tells whether something was wrong so far.
func (r *Reader) Bad() bool { return r.bad }

// End is ErrBad if something was wrong or bytes are left.
func (r *Reader) End() error {
	if r.bad || len(r.B) != 0 {
		return ErrBad
	}
	return nil
}

// Fail is for values that are wrong to who asked for them.
func (r *Reader) Fail() { r.bad, r.B = true, nil }

// Uvarint is the next number, unsigned.
func (r *Reader) Uvarint() uint64 {
	v, n := binary.Uvarint(r.B)
	if n <= 0 {
		r.Fail()
		return 0
	}
	r.B = r.B[n:]
	return v
}

// Varint is the next number, zigzag-encoded.
func (r *Reader) Varint() int64 {
	u := r.Uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// Max is the next number, which may not be above most.
func (r *Reader) Max(most int64) int64 {
	v := r.Uvarint()
	if v > uint64(most) {
		r.Fail()
		return 0
	}
	return int64(v)
}

// Count is a number of things that take at least size bytes each; no record has more of them than it has room for.
func (r *Reader) Count(size int) int {
	n := r.Uvarint()
	if n > uint64(len(r.B)/size) {
		r.Fail()
		return 0
	}
	return int(n)
}

// Bytes are the next n bytes, part of the record; nil if there are fewer.
func (r *Reader) Bytes(n int) []byte {
	if n < 0 || n > len(r.B) {
		r.Fail()
		return nil
	}
	b := r.B[:n:n]
	r.B = r.B[n:]
	return b
}

// Byte is the next byte.
func (r *Reader) Byte() byte {
	if b := r.Bytes(1); b != nil {
		return b[0]
	}
	return 0
}

// Text is a string with its length before it, as AppendText writes it.
func (r *Reader) Text() string { return string(r.Bytes(r.Count(1))) }

// AppendText appends s with its length before it.
func AppendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}
