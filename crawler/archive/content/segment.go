package content

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"sync"

	"github.com/klauspost/compress/flate"
)

// Sizes of one segment.
const (
	maxRaw      = 65528      // raw bytes: with the five of a stored block, their number fits in 16 bits
	maxStored   = maxRaw + 5 // deflated bytes
	segmentHead = 20         // bytes of the head before them in the pack
	segmentMark = 'S'
	fileMark    = 'F' // a file record has the head of a segment, see packrecord.go
	cutMark     = 'C'
)

func isMark(b byte) bool { return b == segmentMark || b == fileMark || b == cutMark }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// codec turns raw bytes into segments. It belongs to one goroutine.
type codec struct {
	w       *flate.Writer
	huffman *flate.Writer // Huffman coding only, without matches
	level   int
	buf     bytes.Buffer
}

// codecs pools codecs, since a deflate writer takes about a megabyte.
type codecs struct {
	level int
	pool  sync.Pool
}

func (c *codec) deflate(raw []byte) ([]byte, error) {
	if looksRandom(raw) {
		return stored(raw), nil
	}
	if err := c.write(&c.w, c.level, raw); err != nil {
		return nil, err
	}
	if c.buf.Len() > len(raw) { // the library stores data without matches, such as digests in hex, which Huffman coding shortens
		if err := c.write(&c.huffman, flate.HuffmanOnly, raw); err != nil {
			return nil, err
		}
	}
	if c.buf.Len() > len(raw)+5 {
		return stored(raw), nil
	}
	return c.buf.Bytes(), nil
}

// write deflates raw into buf with one of the writers. The result ends on a byte boundary, with an empty stored block.
func (c *codec) write(w **flate.Writer, level int, raw []byte) (err error) {
	c.buf.Reset()
	if *w == nil {
		*w, err = flate.NewWriter(&c.buf, level)
	} else {
		(*w).Reset(&c.buf)
	}
	if err == nil {
		_, err = (*w).Write(raw)
	}
	if err != nil {
		return err
	}
	return (*w).Flush()
}

// stored returns raw as one stored block that is not the last (RFC 1951 §3.2.4).
func stored(raw []byte) []byte {
	b := make([]byte, 5, len(raw)+5)
	binary.LittleEndian.PutUint16(b[1:], uint16(len(raw)))
	binary.LittleEndian.PutUint16(b[3:], ^uint16(len(raw)))
	return append(b, raw...)
}

// looksRandom reports whether deflating is pointless: the bytes have the entropy of compressed data.
func looksRandom(raw []byte) bool {
	if len(raw) < 4096 {
		return false
	}
	var count [256]int
	for _, b := range raw {
		count[b]++
	}
	// The expected entropy of n uniformly random bytes is about 8 - 255/(2n ln 2) bits (Miller-Madow).
	bits, n := 0.0, float64(len(raw))
	for _, c := range count {
		if c > 0 {
			bits -= float64(c) / n * math.Log2(float64(c)/n)
		}
	}
	return bits > 8-255/(2*n*math.Ln2)-0.012
}

// head precedes a segment, or another record, in its pack.
type head struct {
	mark          byte   // 0 means segmentMark
	extent        uint64 // 48 bits
	index         int    // in the extent
	raw, deflated int    // raw is 0 in other records
	crc           uint32 // IEEE, of the raw bytes
}

// appendSegment appends head and body to b. The head's last four bytes are the CRC-32C of the rest of the head and the
// body.
func appendSegment(b []byte, h head, body []byte) []byte {
	at := len(b)
	if h.mark == 0 {
		h.mark = segmentMark
	}
	b = append(b, h.mark, byte(h.index))
	b = binary.BigEndian.AppendUint16(b, uint16(h.raw))
	b = binary.BigEndian.AppendUint16(b, uint16(h.deflated))
	b = binary.BigEndian.AppendUint16(b, uint16(h.extent>>32))
	b = binary.BigEndian.AppendUint32(b, uint32(h.extent))
	b = binary.BigEndian.AppendUint32(b, h.crc)
	sum := crc32.Update(crc32.Checksum(b[at:], castagnoli), castagnoli, body)
	b = binary.BigEndian.AppendUint32(b, sum)
	return append(b, body...)
}

// parseHead reads a head without comparing the checksum.
func parseHead(b []byte) (h head, ok bool) {
	if len(b) < segmentHead || !isMark(b[0]) {
		return head{}, false
	}
	h = head{
		mark:  b[0],
		index: int(b[1]), raw: int(binary.BigEndian.Uint16(b[2:])), deflated: int(binary.BigEndian.Uint16(b[4:])),
		extent: uint64(binary.BigEndian.Uint16(b[6:]))<<32 | uint64(binary.BigEndian.Uint32(b[8:])),
		crc:    binary.BigEndian.Uint32(b[12:]),
	}
	return h, (h.raw > 0) == (h.mark == segmentMark) && h.raw <= maxRaw && h.deflated > 0 && h.deflated <= maxStored && h.index < maxExtent
}

// checkSegment compares a whole segment with its checksum. wrong describes what is wrong, "" if nothing is.
func checkSegment(b []byte) (h head, body []byte, wrong string) {
	h, ok := parseHead(b)
	switch {
	case !ok:
		return h, nil, "no record begins there"
	case len(b) != segmentHead+h.deflated:
		return h, nil, "its length is wrong"
	}
	body = b[segmentHead:]
	sum := crc32.Update(crc32.Checksum(b[:segmentHead-4], castagnoli), castagnoli, body)
	if sum != binary.BigEndian.Uint32(b[segmentHead-4:]) {
		return h, nil, "it differs from its checksum"
	}
	return h, body, ""
}

var inflaters = sync.Pool{New: func() any { return flate.NewReader(nil) }}

// inflate fills dst, which has the length of the raw bytes, with the raw bytes of a segment. The body matches its
// checksum, so an error means that it was written wrong.
func inflate(dst, body []byte) error {
	if len(body) == len(dst)+5 && body[0] == 0 && int(binary.LittleEndian.Uint16(body[1:])) == len(dst) {
		copy(dst, body[5:])
		return nil
	}
	r := inflaters.Get().(io.ReadCloser)
	defer inflaters.Put(r)
	if err := r.(flate.Resetter).Reset(bytes.NewReader(body), nil); err != nil {
		return err
	}
	if _, err := io.ReadFull(r, dst); err != nil {
		return fmt.Errorf("inflate: %w", err)
	}
	return nil
}

func newCodecs(level int) *codecs {
	c := &codecs{level: level}
	c.pool.New = func() any { return &codec{level: level} }
	return c
}

func (c *codecs) get() *codec  { return c.pool.Get().(*codec) }
func (c *codecs) put(k *codec) { c.pool.Put(k) }
