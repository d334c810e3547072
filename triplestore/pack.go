package triplestore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"

	"odarchive/triplestore/fields"
)

// Bounds of records that are compressed, in bytes.
const (
	minPacked = 128
	maxPacked = largeRecord
)

// packers are a compressor and a decompressor, both safe for concurrent use.
type packers struct {
	in  *zstd.Encoder
	out *zstd.Decoder
	err error
}

var loadPackers = sync.OnceValue(func() (p packers) {
	var errs [2]error
	p.in, errs[0] = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false),
		zstd.WithWindowSize(maxPacked), zstd.WithLowerEncoderMem(true)) // a larger window would keep 8 MiB a processor
	p.out, errs[1] = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(16*maxPacked), zstd.WithDecoderConcurrency(0))
	p.err = errors.Join(errs[:]...)
	return p
})

// pack returns the record packed, as packedVersion, the length of the record and a Zstandard frame of it, or the record
// as it is if that is not longer.
func pack(record []byte) []byte {
	p := loadPackers()
	if p.err != nil || len(record) < minPacked || len(record) > maxPacked {
		return record
	}
	b := binary.AppendUvarint([]byte{packedVersion}, uint64(len(record)))
	if b = p.in.EncodeAll(record, b); len(b) >= len(record) {
		return record
	}
	return b
}

// unpack returns the record that pack packed.
func unpack(b []byte) ([]byte, error) {
	p := loadPackers()
	if p.err != nil {
		return nil, p.err
	}
	r := fields.Reader{B: b[1:]}
	n := r.Max(maxPacked)
	if r.Bad() || n < minPacked {
		return nil, errBadRecord
	}
	record, err := p.out.DecodeAll(r.B, make([]byte, 0, min(n, int64(32*len(b)))))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBadRecord, err)
	}
	if int64(len(record)) != n {
		return nil, errBadRecord
	}
	return record, nil
}
