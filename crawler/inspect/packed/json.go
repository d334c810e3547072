// Package packed is the form in which what is inside a version is kept, and in which it travels between processes:
// packed JSON with the sketches of its columns beside it, within bounds. What it reads may come from a process that
// cannot be trusted.
package packed

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// A value of the archive's keyspace is a JSON text, or a byte format and a zstd frame of one, without the frame's magic
// number. The frame was compressed with the dictionary, whose number it names: records are short, and most of each is
// in the others, too.
const format = 3 // JSON begins with a brace or bracket; 1 and 2 are formats of what is inside a version

// dictionary is part of the format: no byte of it may ever change. A better one needs another number, and this one
// stays for reading.
//
//go:embed dictionary.txt
var dictionary []byte

const dictionaryID = 1

// Bounds of packed JSON.
const (
	minPacked  = 64        // bytes; anything shorter is stored as it is
	packWindow = 256 << 10 // bytes; a compressor keeps buffers of twice as many, and records are shorter
	maxRecord  = 32 << 20  // bytes unpacked; longer than any record
)

var zstdMagic = binary.LittleEndian.AppendUint32(nil, 0xFD2FB528)

// packers are a compressor and a decompressor, both safe for concurrent use.
type packers struct {
	in  *zstd.Encoder
	out *zstd.Decoder
	err error
}

var loadPackers = sync.OnceValue(func() (p packers) {
	var errs [2]error
	p.in, errs[0] = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false),
		zstd.WithWindowSize(packWindow), zstd.WithEncoderDictRaw(dictionaryID, dictionary))
	p.out, errs[1] = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxRecord), zstd.WithDecoderDictRaw(dictionaryID, dictionary),
		zstd.WithDecoderConcurrency(0))
	p.err = errors.Join(errs[:]...)
	return p
})

// JSON returns the value that stands for a JSON text.
func JSON(text []byte) ([]byte, error) {
	if len(text) < minPacked {
		return text, nil
	}
	p := loadPackers()
	if p.err != nil {
		return nil, p.err
	}
	frame := p.in.EncodeAll(text, make([]byte, 0, len(text)/2))
	if len(frame) >= len(text) {
		return text, nil
	}
	value := frame[len(zstdMagic)-1:] // the last byte of the magic number becomes the first of the value
	value[0] = format
	return value, nil
}

// Plain returns the JSON text that a value of the archive's keyspace stands for. It returns a value that is not packed
// as it is. The result may be part of the value.
func Plain(value []byte) ([]byte, error) {
	if len(value) == 0 || value[0] != format {
		return value, nil
	}
	p := loadPackers()
	if p.err != nil {
		return nil, p.err
	}
	frame := append(bytes.Clone(zstdMagic), value[1:]...)
	text, err := p.out.DecodeAll(frame, make([]byte, 0, 4*len(frame)))
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	return text, nil
}
