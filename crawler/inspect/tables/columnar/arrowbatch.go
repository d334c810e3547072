package columnar

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"odarchive/crawler/inspect/tables/source"
)

// arrowArray is a part of a column.
type arrowArray struct {
	field    *arrowField
	order    binary.ByteOrder
	n        int64
	valid    []byte   // bits of rows that have a value; nil: all have
	offsets  []byte   // or the kinds of a union's values
	data     []byte   // or the offsets of a dense union
	views    [][]byte // what views point into
	children []*arrowArray
	dict     *arrowArray // values of a coded column
	before   *arrowArray // earlier values of a dictionary
	level    int         // number of arrays before it
}

// arrowBody takes nodes and buffers from the description of a batch.
type arrowBody struct {
	file    *arrowFile
	b       []byte
	meta    flat
	nodes   int // of those that are left
	nodeAt  int
	buffers int
	bufAt   int
	views   int // numbers of buffers of views that are left
	viewAt  int
	codec   int // -1: none
	left    int64
}

// arrays reads the columns of a batch.
func (f *arrowFile) arrays(batch flat, fields []*arrowField, length int64) ([]*arrowArray, int64, error) {
	if length > arrowMaxBody {
		return nil, 0, fmt.Errorf("a batch of %d bytes, at most %d are read", length, arrowMaxBody)
	}
	body := &arrowBody{file: f, meta: batch, codec: -1, left: arrowMaxBody}
	for int64(len(body.b)) < length {
		part := f.r.Block(min(length-int64(len(body.b)), 32<<20))
		if part == nil {
			return nil, 0, fmt.Errorf("%w: the file ends within a batch", source.ErrFormat)
		}
		body.b = append(body.b, part...)
	}
	body.nodeAt, body.nodes = batch.vector(1, 16)
	body.bufAt, body.buffers = batch.vector(2, 16)
	body.viewAt, body.views = batch.vector(4, 8)
	if c := batch.table(3); c.at > 0 {
		body.codec = int(c.byte(0))
	}
	rows := batch.long(0)
	var out []*arrowArray
	for _, field := range fields {
		a, err := body.array(field)
		if err != nil {
			return nil, 0, err
		}
		if a.n < rows {
			return nil, 0, fmt.Errorf("%w: the column %q has %d of %d rows", source.ErrFormat, field.name, a.n, rows)
		}
		out = append(out, a)
	}
	return out, rows, nil
}

// array takes the next array.
func (b *arrowBody) array(field *arrowField) (*arrowArray, error) {
	if b.nodes == 0 {
		return nil, fmt.Errorf("%w: a batch without the column %q", source.ErrFormat, field.name)
	}
	a := &arrowArray{field: field, order: b.file.order, n: long(b.meta.b, b.nodeAt)}
	nulls := long(b.meta.b, b.nodeAt+8)
	b.nodes, b.nodeAt = b.nodes-1, b.nodeAt+16
	kind := field.kind
	if field.coded {
		kind = arrowInt
		a.dict = b.file.dicts[field.dict]
	}
	var err error
	take := func(to *[]byte) {
		if err == nil {
			*to, err = b.buffer()
		}
	}
	if kind != arrowNull && kind != arrowRunEnds && (kind != arrowUnion || b.file.version < 4) {
		take(&a.valid)
		if nulls == 0 {
			a.valid = nil
		}
	}
	switch kind {
	case arrowNull, arrowStruct, arrowFixedList, arrowRunEnds:
	case arrowBinary, arrowText, arrowLargeBinary, arrowLargeText:
		take(&a.offsets)
		take(&a.data)
	case arrowList, arrowMap, arrowLargeList:
		take(&a.offsets)
	case arrowListView, arrowLargeListView:
		take(&a.offsets)
		take(&a.data) // the lengths
	case arrowUnion:
		take(&a.offsets)
		if field.mode == 1 {
			take(&a.data)
		}
	case arrowBinaryView, arrowTextView:
		take(&a.data)
		more := int64(0)
		if b.views > 0 {
			more = long(b.meta.b, b.viewAt)
			b.views, b.viewAt = b.views-1, b.viewAt+8
		}
		for ; more > 0 && err == nil; more-- {
			var part []byte
			take(&part)
			a.views = append(a.views, part)
		}
	default:
		take(&a.data)
	}
	if err != nil {
		return nil, err
	}
	if err := a.check(kind); err != nil {
		return nil, err
	}
	for _, child := range field.children {
		c, err := b.array(child)
		if err != nil {
			return nil, err
		}
		a.children = append(a.children, c)
	}
	return a, nil
}

// check compares the number of values with what the buffers hold.
func (a *arrowArray) check(kind byte) error {
	most := int64(1) << 31
	switch width := a.width(kind); {
	case kind == arrowBool:
		most = int64(len(a.data)) * 8
	case width > 0:
		most = int64(len(a.data)) / width
	case kind == arrowUnion:
		most = int64(len(a.offsets))
	case kind == arrowListView || kind == arrowLargeListView:
		most = int64(min(len(a.offsets), len(a.data))) / a.offsetSize()
	case a.offsets != nil || kind == arrowText || kind == arrowBinary || kind == arrowList || kind == arrowMap:
		most = max(0, int64(len(a.offsets))/a.offsetSize()-1)
	}
	if a.n < 0 || a.n > most {
		return fmt.Errorf("%w: the column %q says that it has %d values", source.ErrFormat, a.field.name, a.n)
	}
	if a.valid != nil && int64(len(a.valid)) < (a.n+7)/8 {
		return fmt.Errorf("%w: the column %q has too few marks of missing values", source.ErrFormat, a.field.name)
	}
	return nil
}

// width returns the number of bytes of a value, 0 if it has no fixed one.
func (a *arrowArray) width(kind byte) int64 {
	f := a.field
	switch kind {
	case arrowInt, arrowFloat, arrowDecimal, arrowTime:
		return int64(max(f.bits, 8)) / 8
	case arrowDate:
		return int64(4 + 4*min(max(f.unit, 0), 1))
	case arrowTimestamp, arrowDuration:
		return 8
	case arrowInterval:
		return []int64{4, 8, 16}[min(max(f.unit, 0), 2)]
	case arrowFixedBinary:
		return int64(max(f.bits, 1))
	case arrowBinaryView, arrowTextView:
		return 16
	}
	return 0
}

func (a *arrowArray) offsetSize() int64 {
	switch a.field.kind {
	case arrowLargeBinary, arrowLargeText, arrowLargeList, arrowLargeListView:
		return 8
	}
	return 4
}

// buffer takes the next buffer, unpacked.
func (b *arrowBody) buffer() ([]byte, error) {
	if b.buffers == 0 {
		return nil, fmt.Errorf("%w: a batch with too few buffers", source.ErrFormat)
	}
	at, n := long(b.meta.b, b.bufAt), long(b.meta.b, b.bufAt+8)
	b.buffers, b.bufAt = b.buffers-1, b.bufAt+16
	if at < 0 || n < 0 || at > int64(len(b.b)) || n > int64(len(b.b))-at {
		return nil, fmt.Errorf("%w: a buffer outside of its batch", source.ErrFormat)
	}
	raw := b.b[at : at+n]
	if b.codec < 0 || n == 0 {
		return raw, nil
	}
	size := long(raw, 0)
	if n < 8 || size < -1 || size > b.left {
		return nil, fmt.Errorf("%w: a buffer that unpacks to %d bytes", source.ErrFormat, size)
	}
	if size == -1 {
		return raw[8:], nil
	}
	b.left -= size
	var r io.Reader
	switch b.codec {
	case 0:
		r = lz4.NewReader(bytes.NewReader(raw[8:]))
	case 1:
		z, err := zstd.NewReader(bytes.NewReader(raw[8:]), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(arrowMaxBody))
		if err != nil {
			return nil, err
		}
		defer z.Close()
		r = z
	default:
		return nil, fmt.Errorf("a compression of Arrow (%d) that is not known", b.codec)
	}
	var out bytes.Buffer
	if m, err := io.Copy(&out, io.LimitReader(r, size)); err != nil || m < size {
		return nil, fmt.Errorf("%w: a buffer unpacks to %d of %d bytes: %v", source.ErrFormat, m, size, err)
	}
	return out.Bytes(), nil
}
