// Package fields decodes small binary records: consecutive varints, strings and bytes. A Reader never reads past its
// bytes and never allocates more than they can encode. After the first invalid value all further values are zero, so a
// decoder reads everything and checks for an error once, at the end.
//
// The package defines no format: the order of fields, versions and checksums belong to the packages that own the
// records.
package fields

import (
	"encoding/binary"
	"errors"
)

// ErrBad is returned by Reader.End for a malformed record.
var ErrBad = errors.New("fields: malformed record")

// Reader reads from the front of B, which it reslices but does not modify.
type Reader struct {
	B   []byte
	bad bool
}

// Bad reports whether an invalid value has been read.
func (r *Reader) Bad() bool { return r.bad }

// End returns ErrBad if an invalid value has been read or bytes are left.
func (r *Reader) End() error {
	if r.bad || len(r.B) != 0 {
		return ErrBad
	}
	return nil
}

// Fail marks the record as invalid. Callers use it for values that are out of range for them.
func (r *Reader) Fail() { r.bad, r.B = true, nil }

// Uvarint returns the next unsigned number.
func (r *Reader) Uvarint() uint64 {
	v, n := binary.Uvarint(r.B)
	if n <= 0 {
		r.Fail()
		return 0
	}
	r.B = r.B[n:]
	return v
}

// Varint returns the next zigzag-encoded number.
func (r *Reader) Varint() int64 {
	u := r.Uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// Max returns the next unsigned number, which must not exceed limit.
func (r *Reader) Max(limit int64) int64 {
	v := r.Uvarint()
	if v > uint64(limit) {
		r.Fail()
		return 0
	}
	return int64(v)
}

// Count returns a number of items that take at least size bytes each. It is invalid if the record has no room for them.
func (r *Reader) Count(size int) int {
	n := r.Uvarint()
	if n > uint64(len(r.B)/size) {
		r.Fail()
		return 0
	}
	return int(n)
}

// Bytes returns the next n bytes, which are part of the record, or nil if there are fewer.
func (r *Reader) Bytes(n int) []byte {
	if n < 0 || n > len(r.B) {
		r.Fail()
		return nil
	}
	b := r.B[:n:n]
	r.B = r.B[n:]
	return b
}

// Byte returns the next byte.
func (r *Reader) Byte() byte {
	if b := r.Bytes(1); b != nil {
		return b[0]
	}
	return 0
}

// Text returns a string preceded by its length, as AppendText writes it.
func (r *Reader) Text() string { return string(r.Bytes(r.Count(1))) }

// AppendText appends the length of s and s.
func AppendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// SharedPrefix returns the length of the longest common prefix of a and b.
func SharedPrefix[T string | []byte](a, b T) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
