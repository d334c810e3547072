package warc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"odarchive/triplestore/compression"
)

// Packed has bytes in compressed form, which a Writer copies instead of compressing them again.
type Packed struct {
	Stream io.Reader // deflate blocks that end on a byte boundary; none is marked as final
	Size   int64     // number of bytes that Stream inflates to
	CRC    uint32    // CRC-32 (IEEE) of these bytes
}

// A gzip member can be assembled from these parts: MemberHead, stored blocks by AppendStored, other deflate blocks,
// MemberEnd, and the CRC-32 and the length of the content.
const (
	// MemberHead is a gzip header: deflate, no name, no time, unknown system (RFC 1952 §2.3).
	MemberHead = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
	// MemberEnd is the final deflate block, with the end of the record.
	MemberEnd = "\x01\x04\x00\xfb\xff" + recordEnd

	recordEnd = "\r\n\r\n"
)

// maxStored is the greatest length of a stored deflate block (RFC 1951 §3.2.4).
const maxStored = 65535

// StoredSize returns the length of AppendStored's output for n bytes.
func StoredSize(n int64) int64 { return n + 5*((n+maxStored-1)/maxStored) }

// AppendStored appends data to b as stored deflate blocks, none of which is final.
func AppendStored(b, data []byte) []byte {
	for len(data) > 0 {
		n := min(len(data), maxStored)
		b = append(b, 0)
		b = binary.LittleEndian.AppendUint16(b, uint16(n))
		b = binary.LittleEndian.AppendUint16(b, ^uint16(n))
		b = append(b, data[:n]...)
		data = data[n:]
	}
	return b
}

// AppendMemberEnd appends the end of the gzip member of a record. head is the record's header and the beginning of its
// block; n and crc are the length and the CRC-32 of the rest of the block.
func AppendMemberEnd(b, head []byte, crc uint32, n int64) []byte {
	crc = compression.CombineCRC(crc32.ChecksumIEEE(head), crc, n)
	crc = compression.CombineCRC(crc, crc32.ChecksumIEEE([]byte(recordEnd)), int64(len(recordEnd)))
	b = binary.LittleEndian.AppendUint32(append(b, MemberEnd...), crc)
	return binary.LittleEndian.AppendUint32(b, uint32(int64(len(head))+n+int64(len(recordEnd))))
}

// writePacked writes a record with Packed. w.buf has the header; want is the length of the block.
func (w *Writer) writePacked(rec *Record, want int64) error {
	header := int64(w.buf.Len())
	if rec.Block != nil {
		if _, err := w.buf.ReadFrom(rec.Block); err != nil {
			return err
		}
	}
	p := rec.Packed
	if n := int64(w.buf.Len()) - header + p.Size; n != want {
		return fmt.Errorf("the block has %d bytes, the header says %d", n, want)
	}
	w.scratch = AppendStored(append(w.scratch[:0], MemberHead...), w.buf.Bytes())
	out := counter{w}
	if _, err := out.Write(w.scratch); err != nil {
		return err
	}
	if _, err := io.Copy(out, p.Stream); err != nil {
		return err
	}
	w.scratch = AppendMemberEnd(w.scratch[:0], w.buf.Bytes(), p.CRC, p.Size)
	_, err := out.Write(w.scratch)
	return err
}

// errPacked is the error about a record with Packed that lacks digests. They cannot be computed without inflating.
var errPacked = errors.New("the digests are missing and the block is packed")
