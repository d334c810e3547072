package wal

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
)

// Constants of the format. FORMAT.md describes it.
const (
	magic       = "ODLOG1\r\n"
	magicWithin = "ODLOG2\r\n" // see header.within
	magicFamily = "ODLOG"
	headerSize  = 40
	recordHead  = 16
	suffix      = ".log"
	digits      = 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// header is the header of a segment.
type header struct {
	first uint64   // number of the first record
	id    [16]byte // of the log
	chain uint32   // checksum of the record before the first; 0 if there is none

	within bool // the first record continues the checksum of the one before it instead of the header's
}

func (h header) encode() []byte {
	b := append(make([]byte, 0, headerSize), magic...)
	if h.within {
		copy(b, magicWithin)
	}
	b = binary.LittleEndian.AppendUint64(b, h.first)
	b = append(b, h.id[:]...)
	b = binary.LittleEndian.AppendUint32(b, h.chain)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// next returns the checksum that the first record continues. b is the encoded header.
func (h header) next(b []byte) uint32 {
	if h.within {
		return h.chain
	}
	return binary.LittleEndian.Uint32(b[headerSize-4:])
}

func decodeHeader(b []byte) (h header, err error) {
	switch {
	case len(b) < headerSize:
		return h, fmt.Errorf("%w: its header is truncated", ErrDamaged)
	case crc32.Checksum(b[:headerSize-4], castagnoli) != binary.LittleEndian.Uint32(b[headerSize-4:]):
		return h, fmt.Errorf("%w: its header differs from its checksum", ErrDamaged)
	case !bytes.HasPrefix(b, []byte(magicFamily)):
		return h, fmt.Errorf("%w: not a log", ErrDamaged)
	case string(b[:8]) == magicWithin:
		h.within = true
	case string(b[:8]) != magic:
		return h, ErrNewer
	}
	h.first = binary.LittleEndian.Uint64(b[8:])
	copy(h.id[:], b[16:])
	h.chain = binary.LittleEndian.Uint32(b[32:])
	return h, nil
}

// appendRecord appends a record that follows one with the checksum chain.
func appendRecord(b []byte, chain uint32, number uint64, body []byte) (_ []byte, sum uint32) {
	at := len(b)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(body)))
	b = append(b, 0, 0, 0, 0)
	b = binary.LittleEndian.AppendUint64(b, number)
	b = append(b, body...)
	sum = recordSum(chain, b[at:at+recordHead], body)
	binary.LittleEndian.PutUint32(b[at+4:], sum)
	return b, sum
}

// recordSum returns the CRC-32C of the previous checksum, the length, the number and the body.
func recordSum(chain uint32, head, body []byte) uint32 {
	var before [4]byte
	binary.LittleEndian.PutUint32(before[:], chain)
	sum := crc32.Checksum(before[:], castagnoli)
	sum = crc32.Update(sum, castagnoli, head[:4])
	sum = crc32.Update(sum, castagnoli, head[8:recordHead])
	return crc32.Update(sum, castagnoli, body)
}

func segmentName(first uint64) string { return fmt.Sprintf("%0*d", digits, first) + suffix }

func parseName(name string) (first uint64, ok bool) {
	base, ok := strings.CutSuffix(name, suffix)
	if !ok || len(base) != digits {
		return 0, false
	}
	first, err := strconv.ParseUint(base, 10, 64)
	return first, err == nil && first > 0
}
