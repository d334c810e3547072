package columnar

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/source"
)

// Limits of files in Arrow's formats.
const (
	arrowMaxMeta   = 16 << 20  // bytes of a message's description
	arrowMaxBody   = 256 << 20 // bytes of a batch, unpacked
	arrowMaxDepth  = 50
	arrowMaxFields = 100_000
)

// arrowFile is an Arrow file (Feather version 2 among them) or stream ("Arrow Columnar Format", 1.5). A file that ends
// too early is read as the stream that it contains.
type arrowFile struct {
	r       *source.Cursor
	in      source.Input
	blocks  []int64 // where messages are that are left; nil: they follow one another
	order   binary.ByteOrder
	version int
	fields  []*arrowField
	dicts   map[int64]*arrowArray
	byID    map[int64]*arrowField // of the values of dictionaries
	count   int
}

// arrowField is a column, or a part of one.
type arrowField struct {
	name     string
	kind     byte
	bits     int // of integers and decimals; bytes of binaries of fixed length
	signed   bool
	unit     int
	scale    int
	zone     bool
	mode     int // of unions: 1 dense
	ids      []int
	children []*arrowField
	dict     int64 // id of the dictionary
	coded    bool  // its values are in a dictionary; bits and signed are those of the index
}

// Kinds of types (Schema.fbs).
const (
	arrowNull = iota + 1
	arrowInt
	arrowFloat
	arrowBinary
	arrowText
	arrowBool
	arrowDecimal
	arrowDate
	arrowTime
	arrowTimestamp
	arrowInterval
	arrowList
	arrowStruct
	arrowUnion
	arrowFixedBinary
	arrowFixedList
	arrowMap
	arrowDuration
	arrowLargeBinary
	arrowLargeText
	arrowLargeList
	arrowRunEnds
	arrowBinaryView
	arrowTextView
	arrowListView
	arrowLargeListView
)

// errEnd ends a stream.
var errEnd = errors.New("the end of the stream")

// arrowTable reads an Arrow file or stream.
func arrowTable(ctx context.Context, in source.Input, o source.Options) ([]*csvprofile.Profile, error) {
	head := make([]byte, 8)
	if n, _ := in.Body.ReadAt(head, 0); n < 8 {
		return nil, fmt.Errorf("%w: it is too short", source.ErrFormat)
	}
	if bytes.HasPrefix(head, []byte("FEA1")) {
		return feather(ctx, in, o)
	}
	start := int64(0)
	f := &arrowFile{in: in, order: binary.LittleEndian, dicts: map[int64]*arrowArray{}, byID: map[int64]*arrowField{}}
	var schema flat
	if bytes.HasPrefix(head, []byte("ARROW1")) {
		start = 8
		schema = f.footer()
	}
	f.from(start)
	if schema.at == 0 {
		kind, header, _, err := f.message()
		if err != nil || kind != 1 {
			return nil, fmt.Errorf("%w: it has no schema", source.ErrFormat)
		}
		schema = header
	}
	if err := f.schema(schema); err != nil {
		return nil, err
	}
	rows := &arrowRows{ctx: ctx, batch: f.batch}
	for _, field := range f.fields {
		rows.name(field, "", 0)
	}
	return rows.read(o)
}

// from makes the messages at a place of the file those to read next.
func (f *arrowFile) from(at int64) {
	f.r = source.NewCursor(io.NewSectionReader(f.in.Body, at, f.in.Size-at), binary.LittleEndian)
}

// footer reads where the dictionaries and batches are, and returns the schema. If the file has no footer, it returns
// none.
func (f *arrowFile) footer() flat {
	tail := make([]byte, 10)
	if f.in.Size < 24 {
		return flat{}
	}
	if n, _ := f.in.Body.ReadAt(tail, f.in.Size-10); n < 10 || string(tail[4:]) != "ARROW1" {
		return flat{}
	}
	size := int64(word(tail, 0))
	if size > arrowMaxMeta || size > f.in.Size-18 {
		return flat{}
	}
	b := make([]byte, size)
	if n, _ := f.in.Body.ReadAt(b, f.in.Size-10-size); int64(n) < size {
		return flat{}
	}
	footer := flatRoot(b)
	blocks := []int64{}
	for _, list := range []int{2, 3} {
		at, n := footer.vector(list, 24)
		for i := range n {
			block := long(b, at+24*i)
			if block < 8 || block >= f.in.Size {
				return flat{}
			}
			blocks = append(blocks, block)
		}
	}
	f.blocks = blocks
	return footer.table(1)
}

// message reads the next message: its kind, its description, and the length of its body, which follows.
func (f *arrowFile) message() (kind byte, header flat, body int64, err error) {
	if !f.r.More() {
		return 0, flat{}, 0, errEnd
	}
	length := int64(f.r.U32())
	if length == 0xffffffff {
		length = int64(f.r.U32())
	}
	if f.r.Err() == nil && length == 0 {
		return 0, flat{}, 0, errEnd
	}
	if length > arrowMaxMeta {
		return 0, flat{}, 0, fmt.Errorf("%w: a message of %d bytes", source.ErrFormat, length)
	}
	b := bytes.Clone(f.r.Block(length))
	if err := f.r.Err(); err != nil {
		return 0, flat{}, 0, fmt.Errorf("%w: a message ends too early", source.ErrFormat)
	}
	m := flatRoot(b)
	f.version = m.short(0, 0)
	body = m.long(3)
	if body < 0 || body > f.in.Size {
		return 0, flat{}, 0, fmt.Errorf("%w: a body of %d bytes", source.ErrFormat, body)
	}
	return m.byte(1), m.table(2), body, nil
}

// schema reads the columns.
func (f *arrowFile) schema(s flat) error {
	if s.short(0, 0) == 1 {
		f.order = binary.BigEndian
	}
	for _, t := range s.tables(1) {
		field, err := f.field(t, 0)
		if err != nil {
			return err
		}
		f.fields = append(f.fields, field)
	}
	return nil
}

// field reads a column.
func (f *arrowFile) field(t flat, depth int) (*arrowField, error) {
	if f.count++; f.count > arrowMaxFields || depth > arrowMaxDepth {
		return nil, fmt.Errorf("%w: too many columns, or too deep ones", source.ErrFormat)
	}
	field := &arrowField{name: t.text(0), kind: t.byte(2)}
	switch kind := t.table(3); field.kind {
	case arrowInt:
		field.bits, field.signed = kind.word(0, 0), kind.byte(1) != 0
	case arrowFloat:
		field.bits = 16 << max(0, min(2, kind.short(0, 0)))
	case arrowDecimal:
		field.scale, field.bits = kind.word(1, 0), kind.word(2, 128)
	case arrowDate, arrowDuration:
		field.unit = kind.short(0, 1)
	case arrowTime:
		field.unit, field.bits = kind.short(0, 1), kind.word(1, 32)
	case arrowTimestamp:
		field.unit, field.zone = kind.short(0, 0), kind.text(1) != ""
	case arrowInterval:
		field.unit = kind.short(0, 0)
	case arrowFixedBinary, arrowFixedList:
		field.bits = kind.word(0, 0)
	case arrowUnion:
		field.mode = kind.short(0, 0)
		at, n := kind.vector(1, 4)
		for i := range n {
			field.ids = append(field.ids, int(int32(word(kind.b, at+4*i))))
		}
	case arrowNull, arrowBinary, arrowText, arrowBool, arrowList, arrowStruct, arrowMap, arrowLargeBinary, arrowLargeText, arrowLargeList,
		arrowBinaryView, arrowTextView, arrowRunEnds, arrowListView, arrowLargeListView:
	default: // of a later version of Arrow: how many buffers it has is not known, so nothing after it can be found either
		return nil, fmt.Errorf("the column %q has a type of Arrow (%d) that is not read", field.name, field.kind)
	}
	for _, c := range t.tables(5) {
		child, err := f.field(c, depth+1)
		if err != nil {
			return nil, err
		}
		field.children = append(field.children, child)
	}
	if d := t.table(4); d.at > 0 {
		values := *field
		field.coded, field.dict, field.bits, field.signed = true, d.long(0), 32, true
		if index := d.table(1); index.at > 0 {
			field.bits, field.signed = index.word(0, 0), index.byte(1) != 0
		}
		f.byID[field.dict] = &values
		field.children = nil
	}
	return field, nil
}

// batch reads the next batch of rows, io.EOF at the end. Dictionaries before it are kept.
func (f *arrowFile) batch() ([]*arrowArray, int64, error) {
	for {
		if f.blocks != nil {
			if len(f.blocks) == 0 {
				return nil, 0, io.EOF
			}
			f.from(f.blocks[0])
			f.blocks = f.blocks[1:]
		}
		kind, header, length, err := f.message()
		if errors.Is(err, errEnd) {
			return nil, 0, io.EOF
		}
		if err != nil {
			return nil, 0, err
		}
		switch kind {
		case 2:
			values := f.byID[header.long(0)]
			if values == nil {
				f.r.Skip(length)
				continue
			}
			arrays, _, err := f.arrays(header.table(1), []*arrowField{values}, length)
			if err != nil {
				return nil, 0, err
			}
			if old := f.dicts[header.long(0)]; header.byte(2) != 0 && old != nil {
				arrays[0].before = old
				arrays[0].level = old.level + 1
				if arrays[0].level > 1000 {
					return nil, 0, fmt.Errorf("%w: a dictionary in more than 1000 parts", source.ErrFormat)
				}
			}
			f.dicts[header.long(0)] = arrays[0]
		case 3:
			return f.arrays(header, f.fields, length)
		default:
			f.r.Skip(length)
		}
	}
}
