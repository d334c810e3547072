package hdt

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
)

// input reads a file once from start to end to find its parts and verify their checksums.
type input struct {
	ctx  context.Context
	ra   io.ReaderAt
	br   *bufio.Reader
	at   int64 // offset of the next byte
	size int64 // of the file
	buf  [16]byte
	copy []byte
}

const readAhead = 64 << 10

func newInput(ctx context.Context, ra io.ReaderAt, size int64) *input {
	return &input{ctx: ctx, ra: ra, size: size, br: bufio.NewReaderSize(io.NewSectionReader(ra, 0, size), int(min(size, readAhead)))}
}

// cut replaces an error that means the end of the file by one that says where the file ends.
func (in *input) cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return damaged("it ends at byte %d, within a structure", in.at)
	}
	return err
}

func (in *input) byte() (byte, error) {
	c, err := in.br.ReadByte()
	if err != nil {
		return 0, in.cut(err)
	}
	in.at++
	return c, nil
}

// bytes reads n bytes, at most 16. They are valid until the next call.
func (in *input) bytes(n int) ([]byte, error) {
	m, err := io.ReadFull(in.br, in.buf[:n])
	in.at += int64(m)
	if err != nil {
		return nil, in.cut(err)
	}
	return in.buf[:n], nil
}

// head reads the head of a structure: its type, a number of bits if width is set, further numbers, and a CRC-8 of all
// that.
func (in *input) head(what string, width bool, numbers ...*uint64) (kind, bits byte, err error) {
	var head []byte
	next := func() (byte, error) {
		c, err := in.byte()
		head = append(head, c)
		return c, err
	}
	if kind, err = next(); err != nil {
		return 0, 0, err
	}
	if width {
		if bits, err = next(); err != nil {
			return 0, 0, err
		}
	}
	for _, n := range numbers {
		from := len(head)
		for {
			c, err := next()
			if err != nil {
				return 0, 0, err
			}
			if c&0x80 != 0 || len(head)-from > 10 {
				break
			}
		}
		v, length := vbyte(head[from:])
		if length == 0 {
			return 0, 0, damaged("a number in the head of the %s is too large", what)
		}
		*n = v
	}
	sum, err := in.byte()
	if err != nil {
		return 0, 0, err
	}
	if sum != crc8(head) {
		return 0, 0, damaged("wrong checksum in the head of the %s", what)
	}
	return kind, bits, nil
}

// data skips n bytes of data, verifies the CRC-32C after them, and returns their offset.
func (in *input) data(what string, n uint64) (offset int64, err error) {
	if n > uint64(in.size-in.at) {
		return 0, damaged("the %s has %d bytes and the file only %d", what, n, in.size-in.at)
	}
	offset = in.at
	table, sum := castagnoli(), uint32(0)
	if in.copy == nil {
		in.copy = make([]byte, min(in.size, readAhead))
	}
	for left := int64(n); left > 0; {
		if in.ctx.Err() != nil {
			return 0, context.Cause(in.ctx)
		}
		b := in.copy[:min(left, int64(len(in.copy)))]
		if _, err := io.ReadFull(in.br, b); err != nil {
			return 0, in.cut(err)
		}
		in.at += int64(len(b))
		left -= int64(len(b))
		sum = crc32.Update(sum, table, b)
	}
	want, err := in.bytes(4)
	if err != nil {
		return 0, err
	}
	if binary.LittleEndian.Uint32(want) != sum {
		return 0, damaged("wrong checksum of the %s, bytes %d to %d", what, offset, in.at-5)
	}
	return offset, nil
}

// sequence is an array of numbers, each of the same number of bits.
type sequence struct {
	offset  int64
	bits    uint
	entries uint64
}

const (
	typeSequence = 1
	typeBitmap   = 1
)

// maxEntries bounds the length of a sequence, so that its number of bits does not overflow.
const maxEntries = 1 << 48

// sequence reads the head of a sequence.
func (in *input) sequence(what string) (s sequence, err error) {
	kind, bits, err := in.head(what, true, &s.entries)
	if err != nil {
		return s, err
	}
	if kind != typeSequence {
		return s, unsupported("the %s is a sequence of type %d, not %d", what, kind, typeSequence)
	}
	if bits > 64 || s.entries > maxEntries {
		return s, damaged("the %s has %d numbers of %d bits", what, s.entries, bits)
	}
	s.bits = uint(bits)
	s.offset, err = in.data(what, (s.entries*uint64(bits)+7)/8)
	return s, err
}

// bitmap reads a bitmap as a sequence of numbers of one bit.
func (in *input) bitmap(what string) (s sequence, err error) {
	kind, _, err := in.head(what, false, &s.entries)
	if err != nil {
		return s, err
	}
	if kind != typeBitmap {
		return s, unsupported("the %s is a bitmap of type %d, not %d", what, kind, typeBitmap)
	}
	if s.entries > maxEntries {
		return s, damaged("the %s has %d bits", what, s.entries)
	}
	s.bits = 1
	n := (s.entries + 7) / 8
	if n == 0 && in.emptyHasByte() {
		n = 1
	}
	s.offset, err = in.data(what, n)
	return s, err
}

// emptyHasByte reports whether an empty bitmap has one byte of data, as hdt-cpp writes it, or no data, as hdt-java
// does. Without data, the checksum is zero.
func (in *input) emptyHasByte() bool {
	b, err := in.br.Peek(4)
	return err == nil && binary.LittleEndian.Uint32(b) != 0
}
