// Reads numbers, strings and blocks of binary formats from bytes that may say anything.
//
// A Cursor keeps its first error and returns zeros after it, so that a reader of a format checks for errors once per
// record and not once per field. Nothing is allocated because a length says so: blocks grow with what has been read.

package source

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// MaxBlock is the maximum length of one block in bytes.
const MaxBlock = 64 << 20

// Cursor reads a stream. It is not safe for concurrent use.
type Cursor struct {
	Order binary.ByteOrder

	src *bufio.Reader
	pos int64
	err error
	buf []byte
	few [8]byte
}

// NewCursor returns a reader of r.
func NewCursor(r io.Reader, order binary.ByteOrder) *Cursor {
	return &Cursor{Order: order, src: bufio.NewReaderSize(r, 32<<10)}
}

// Err returns the first error. The end of the stream in the middle of a value is io.ErrUnexpectedEOF.
func (r *Cursor) Err() error { return r.err }

// Pos returns the number of bytes that have been read or skipped.
func (r *Cursor) Pos() int64 { return r.pos }

// Fail sets the error if there is none yet.
func (r *Cursor) Fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// More reports whether there is another byte.
func (r *Cursor) More() bool {
	if r.err != nil {
		return false
	}
	_, err := r.src.Peek(1)
	return err == nil
}

// Peek returns the next n bytes, n at most 4096, without reading them; fewer at the end.
func (r *Cursor) Peek(n int) []byte {
	if r.err != nil {
		return nil
	}
	b, _ := r.src.Peek(n)
	return b
}

// fixed reads n bytes, n at most 8; zeros after an error.
func (r *Cursor) fixed(n int) []byte {
	b := r.few[:n]
	if r.err == nil {
		m, err := io.ReadFull(r.src, b)
		r.pos += int64(m)
		r.set(err)
	}
	if r.err != nil {
		clear(b)
	}
	return b
}

func (r *Cursor) set(err error) {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if r.err == nil {
		r.err = err
	}
}

// U8 reads a byte.
func (r *Cursor) U8() uint8 { return r.fixed(1)[0] }

// U16 reads an unsigned integer of two bytes.
func (r *Cursor) U16() uint16 { return r.Order.Uint16(r.fixed(2)) }

// U32 reads an unsigned integer of four bytes.
func (r *Cursor) U32() uint32 { return r.Order.Uint32(r.fixed(4)) }

// U64 reads an unsigned integer of eight bytes.
func (r *Cursor) U64() uint64 { return r.Order.Uint64(r.fixed(8)) }

// I32 reads an integer of four bytes.
func (r *Cursor) I32() int { return int(int32(r.U32())) }

// F64 reads a floating-point number of eight bytes.
func (r *Cursor) F64() float64 { return math.Float64frombits(r.U64()) }

// Block reads n bytes, which are valid until the next call. It returns nil after an error: a negative length, more than
// MaxBlock, or an earlier end.
func (r *Cursor) Block(n int64) []byte {
	if r.err != nil {
		return nil
	}
	if n < 0 || n > MaxBlock {
		r.Fail("a block of %d bytes at byte %d", n, r.pos)
		return nil
	}
	r.buf = r.buf[:0]
	for int64(len(r.buf)) < n {
		at := len(r.buf)
		step := int(min(n-int64(at), int64(max(64<<10, at))))
		if cap(r.buf) < at+step {
			r.buf = append(make([]byte, 0, at+step), r.buf...)
		}
		r.buf = r.buf[:at+step]
		m, err := io.ReadFull(r.src, r.buf[at:])
		r.pos += int64(m)
		if err != nil {
			r.set(err)
			return nil
		}
	}
	return r.buf
}

// Bytes reads n bytes, n at most 4096, which are valid until the next call; zeros after an error.
func (r *Cursor) Bytes(n int) []byte {
	n = max(0, min(n, 4096))
	if b := r.Block(int64(n)); b != nil || n == 0 {
		return b
	}
	return make([]byte, n)
}

// Skip passes over n bytes.
func (r *Cursor) Skip(n int64) {
	if n < 0 {
		r.Fail("a length of %d at byte %d", n, r.pos)
	}
	for n > 0 && r.err == nil {
		m, err := r.src.Discard(int(min(n, 1<<20)))
		n -= int64(m)
		r.pos += int64(m)
		r.set(err)
	}
}
