package columnar

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"google.golang.org/protobuf/encoding/protowire"

	"odarchive/crawler/inspect/tables/source"
)

// open opens the columns of a stripe.
func (f *orcFile) open(s orcStripe) error {
	if s.offset < 0 || s.index < 0 || s.data < 0 || s.footer < 0 || s.offset > f.in.Size || s.index+s.data+s.footer < 0 ||
		s.index+s.data+s.footer > f.in.Size-s.offset || s.footer > orcMaxFooter {
		return fmt.Errorf("%w: a stripe outside of the file", source.ErrFormat)
	}
	b, err := io.ReadAll(io.LimitReader(f.stream(s.offset+s.index+s.data, s.footer), orcMaxFooter))
	if err != nil {
		return fmt.Errorf("%w: the footer of a stripe: %v", source.ErrFormat, err)
	}
	st := &orcStreams{file: f, zone: time.UTC, places: map[[2]int][2]int64{}, end: s.offset + s.index + s.data}
	at := s.offset
	var bad error
	err = message(b, func(field protowire.Number, _ uint64, b []byte) {
		var kind, column, length uint64
		switch field {
		case 1:
			bad = errors.Join(bad, message(b, func(field protowire.Number, v uint64, _ []byte) {
				switch field {
				case 1:
					kind = v
				case 2:
					column = v
				case 3:
					length = v
				}
			}))
			if length > uint64(st.end-at) {
				bad = errOrc
				return
			}
			st.places[[2]int{int(min(column, 1<<30)), int(min(kind, 1<<30))}] = [2]int64{at, int64(length)}
			at += int64(length)
		case 2:
			var e orcEncoding
			bad = errors.Join(bad, message(b, func(field protowire.Number, v uint64, _ []byte) {
				switch field {
				case 1:
					e.kind = int(v)
				case 2:
					e.size = int64(min(v, 1<<40))
				}
			}))
			st.encodings = append(st.encodings, e)
		case 3:
			if zone, err := time.LoadLocation(string(b)); err == nil {
				st.zone = zone
			}
		}
	})
	if err := errors.Join(err, bad); err != nil {
		return err
	}
	f.tree, err = st.column(0, 0)
	return err
}

// stream returns a reader of a part of the file, unpacked.
func (f *orcFile) stream(at, n int64) io.Reader {
	section := io.NewSectionReader(f.in.Body, at, n)
	if f.codec == 0 {
		return section
	}
	return &orcBlocks{src: section, codec: f.codec, block: int(f.block)}
}

// orcBlocks unpacks compressed blocks that follow one another, each after its length.
type orcBlocks struct {
	src   io.Reader
	codec int
	block int
	out   []byte
	buf   []byte
}

func (b *orcBlocks) Read(p []byte) (int, error) {
	for len(b.out) == 0 {
		var head [3]byte
		if _, err := io.ReadFull(b.src, head[:]); err != nil {
			return 0, err
		}
		n := int(head[0])>>1 | int(head[1])<<7 | int(head[2])<<15
		if n > b.block && head[0]&1 != 0 || n > 2*b.block+1024 {
			return 0, fmt.Errorf("a block of %d bytes", n)
		}
		b.buf = slices.Grow(b.buf[:0], n)[:n]
		if _, err := io.ReadFull(b.src, b.buf); err != nil {
			return 0, io.ErrUnexpectedEOF
		}
		if b.out = b.buf; head[0]&1 == 0 {
			var err error
			if b.out, err = unpackOrc(b.codec, b.buf, b.block); err != nil {
				return 0, fmt.Errorf("a block does not unpack: %w", err)
			}
		}
	}
	n := copy(p, b.out)
	b.out = b.out[n:]
	return n, nil
}

// unpackOrc unpacks a block of at most most bytes.
func unpackOrc(codec int, packed []byte, most int) ([]byte, error) {
	switch codec {
	case 1:
		b, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), int64(most)+1))
		if len(b) > most {
			return nil, errors.New("it is too long")
		}
		return b, err
	case 2:
		if n, err := snappy.DecodedLen(packed); err != nil || n > most {
			return nil, errors.New("it is too long")
		}
		return snappy.Decode(nil, packed)
	case 4:
		out := make([]byte, most)
		n, err := lz4.UncompressBlock(packed, out)
		return out[:max(0, n)], err
	}
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(orcMaxBlock))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	b, err := z.DecodeAll(packed, nil)
	if len(b) > most {
		return nil, errors.New("it is too long")
	}
	return b, err
}
