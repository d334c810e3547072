package source

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
)

func TestReaderReturnsZerosAfterItsFirstError(t *testing.T) {
	r := NewCursor(bytes.NewReader([]byte{1, 2, 0, 3, 0, 0, 0, 'a', 'b', 9}), binary.LittleEndian)
	if a, b, c, d := r.U8(), r.U16(), r.U32(), string(r.Bytes(2)); a != 1 || b != 2 || c != 3 || d != "ab" || r.Err() != nil ||
		r.Pos() != 9 {
		t.Fatal(a, b, c, d, r.Err(), r.Pos())
	}
	if !r.More() || string(r.Peek(4)) != "\t" {
		t.Error("one byte is left")
	}
	if v := r.U64(); v != 0 || !errors.Is(r.Err(), io.ErrUnexpectedEOF) {
		t.Error(v, r.Err())
	}
	if b := r.Bytes(3); !bytes.Equal(b, make([]byte, 3)) || r.Block(1) != nil || r.More() || r.U16() != 0 {
		t.Error("values after an error")
	}
}

func TestBlockDoesNotTrustItsLength(t *testing.T) {
	for _, n := range []int64{-1, MaxBlock, MaxBlock + 1} {
		r := NewCursor(bytes.NewReader(make([]byte, 1000)), binary.LittleEndian)
		if b := r.Block(n); b != nil || r.Err() == nil || cap(r.buf) > 256<<10 {
			t.Error(n, len(b), cap(r.buf), r.Err())
		}
	}
	r := NewCursor(bytes.NewReader(make([]byte, 300<<10)), binary.BigEndian)
	if b := r.Block(300 << 10); len(b) != 300<<10 || r.Err() != nil {
		t.Error(len(b), r.Err())
	}
	r.Skip(-1)
	if r.Err() == nil {
		t.Error("a negative length was skipped")
	}
}
