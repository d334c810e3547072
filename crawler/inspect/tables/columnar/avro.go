package columnar

import (
	"bytes"
	"compress/bzip2"
	"compress/flate"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/source"
)

// Limits of a container file.
const (
	avroMaxBlock  = 64 << 20 // bytes of a block, packed or not
	avroMaxSchema = 4 << 20  // bytes of a value in the header
)

// avroFile is an object container file of Avro (Apache Avro 1.11 specification).
type avroFile struct {
	r      *source.Cursor
	codec  string
	sync   [16]byte
	schema *avroType
	block  *avroBlock
	rows   int64 // of the block that are left
	total  int64
	cells  []string
	names  []string
}

// avroTable reads a container file.
func avroTable(ctx context.Context, in source.Input, o source.Options) ([]*csvprofile.Profile, error) {
	f := &avroFile{r: source.NewCursor(io.NewSectionReader(in.Body, 0, in.Size), binary.LittleEndian)}
	if err := f.header(); err != nil {
		return nil, err
	}
	f.columns(f.schema, "", 0)
	if len(f.names) > csvprofile.MaxCells {
		return nil, fmt.Errorf("%w: more than %d columns", source.ErrFormat, csvprofile.MaxCells)
	}
	p, err := source.ReadRows(ctx, "", f.names, func() ([]string, error) { return f.next(ctx) }, o.Reading(0))
	if p == nil {
		return nil, err
	}
	return []*csvprofile.Profile{p}, nil
}

// long reads a number in variable length.
func (f *avroFile) long() int64 {
	var v uint64
	for shift := uint(0); shift < 64; shift += 7 {
		c := f.r.U8()
		v |= uint64(c&0x7f) << shift
		if c&0x80 == 0 {
			break
		}
	}
	return int64(v>>1) ^ -int64(v&1)
}

// header reads the schema and the codec.
func (f *avroFile) header() error {
	f.r.Skip(4)
	meta := map[string][]byte{}
	for n := f.long(); n != 0 && f.r.Err() == nil; n = f.long() {
		if n < 0 {
			n = -n
			f.long()
		}
		for ; n > 0 && f.r.Err() == nil; n-- {
			key := string(f.r.Block(min(f.long(), avroMaxSchema)))
			value := bytes.Clone(f.r.Block(min(f.long(), avroMaxSchema)))
			if len(meta) < 100 {
				meta[key] = value
			}
		}
	}
	copy(f.sync[:], f.r.Bytes(16))
	if err := f.r.Err(); err != nil {
		return fmt.Errorf("%w: its header ends too early: %v", source.ErrFormat, err)
	}
	f.codec = string(meta["avro.codec"])
	dec := json.NewDecoder(bytes.NewReader(meta["avro.schema"]))
	var raw any
	if err := dec.Decode(&raw); err != nil {
		return fmt.Errorf("%w: its schema: %v", source.ErrFormat, err)
	}
	p := avroParser{named: map[string]*avroType{}}
	schema, err := p.parse(raw, "", 0)
	if err != nil {
		return fmt.Errorf("%w: its schema: %v", source.ErrFormat, err)
	}
	f.schema = schema
	return nil
}

// columns names the columns: the fields of records, and those of records in them.
func (f *avroFile) columns(t *avroType, name string, depth int) {
	if r := t.record(); r != nil && depth < 8 && len(f.names) <= csvprofile.MaxCells && len(r.fields) > 0 {
		for _, field := range r.fields {
			n := field.name
			if name != "" {
				n = name + "." + n
			}
			f.columns(field.of, n, depth+1)
		}
		return
	}
	if name == "" {
		name = "value"
	}
	f.names = append(f.names, name)
}

// record returns the record that a type is, or that it is if it is not missing; nil for others.
func (t *avroType) record() *avroType {
	switch {
	case t.kind == "record":
		return t
	case t.kind == "union" && len(t.options) == 2 && t.options[0].kind == "null":
		return t.options[1].record()
	case t.kind == "union" && len(t.options) == 2 && t.options[1].kind == "null":
		return t.options[0].record()
	}
	return nil
}

// next returns the next row.
func (f *avroFile) next(ctx context.Context) ([]string, error) {
	for f.rows == 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !f.r.More() {
			return nil, io.EOF
		}
		if err := f.readBlock(); err != nil {
			return nil, err
		}
	}
	if f.rows&0xfff == 0 && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	f.rows--
	f.cells = f.cells[:0]
	before := f.block.at
	f.put(f.schema, 0)
	if f.block.err == nil && f.block.at == before && f.rows > 1_000_000 {
		f.block.err = errors.New("a million of rows without contents")
	}
	if err := f.block.err; err != nil {
		return nil, fmt.Errorf("%w: row %d: %v", source.ErrFormat, f.total+1, err)
	}
	f.total++
	return f.cells, nil
}

// readBlock reads and unpacks the next block.
func (f *avroFile) readBlock() error {
	n, size := f.long(), f.long()
	if f.r.Err() != nil || n < 0 || size < 0 || size > avroMaxBlock {
		return fmt.Errorf("%w: a block of %d rows in %d bytes", source.ErrFormat, n, size)
	}
	packed := f.r.Block(size)
	if packed == nil && size > 0 {
		return fmt.Errorf("%w: the file ends within a block, after row %d", source.ErrFormat, f.total)
	}
	b, err := unpackAvro(f.codec, packed)
	if err != nil {
		return fmt.Errorf("%w: a block does not unpack: %v", source.ErrFormat, err)
	}
	f.block, f.rows = &avroBlock{b: b}, n
	if mark := f.r.Bytes(16); f.r.Err() != nil || !bytes.Equal(mark, f.sync[:]) {
		return fmt.Errorf("%w: the mark behind a block is missing, after row %d", source.ErrFormat, f.total)
	}
	return nil
}

// unpackAvro unpacks a block. What it returns does not share memory with packed.
func unpackAvro(codec string, packed []byte) ([]byte, error) {
	var r io.Reader
	switch codec {
	case "", "null":
		return bytes.Clone(packed), nil
	case "deflate":
		r = flate.NewReader(bytes.NewReader(packed))
	case "bzip2":
		r = bzip2.NewReader(bytes.NewReader(packed))
	case "xz":
		x, err := xz.ReaderConfig{DictCap: 64 << 20, SingleStream: true}.NewReader(bytes.NewReader(packed))
		if err != nil {
			return nil, err
		}
		r = x
	case "zstandard":
		z, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(avroMaxBlock))
		if err != nil {
			return nil, err
		}
		defer z.Close()
		r = z
	case "snappy":
		if len(packed) < 4 {
			return nil, io.ErrUnexpectedEOF
		}
		sum := binary.BigEndian.Uint32(packed[len(packed)-4:])
		packed = packed[:len(packed)-4]
		if n, err := snappy.DecodedLen(packed); err != nil || n > avroMaxBlock || n > 1000+len(packed)*256 {
			return nil, fmt.Errorf("to %d bytes: %v", n, err)
		}
		b, err := snappy.Decode(nil, packed)
		if err == nil && crc32.ChecksumIEEE(b) != sum {
			err = errors.New("the checksum is wrong")
		}
		return b, err
	default:
		return nil, fmt.Errorf("the codec %q is not known", codec)
	}
	b, err := io.ReadAll(io.LimitReader(r, avroMaxBlock+1))
	if err == nil && len(b) > avroMaxBlock {
		err = fmt.Errorf("to more than %d bytes", avroMaxBlock)
	}
	return b, err
}

// put reads a value as one or more cells.
func (f *avroFile) put(t *avroType, depth int) {
	r := t.record()
	if r == nil || depth >= 8 || len(r.fields) == 0 {
		f.cells = append(f.cells, f.block.value(t, 0))
		return
	}
	if t.kind == "union" && t.options[f.block.index(2)].kind == "null" {
		f.blank(r, depth)
		return
	}
	for _, field := range r.fields {
		f.put(field.of, depth+1)
	}
}

// blank adds the cells of a record that is missing.
func (f *avroFile) blank(r *avroType, depth int) {
	for _, field := range r.fields {
		if inner := field.of.record(); inner != nil && depth+1 < 8 && len(inner.fields) > 0 {
			f.blank(inner, depth+1)
			continue
		}
		f.cells = append(f.cells, "")
	}
}
