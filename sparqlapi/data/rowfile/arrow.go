package rowfile

import (
	"encoding/binary"
	"io"
	"math"

	flatbuffers "github.com/google/flatbuffers/go"
)

// arrowWriter writes an Arrow file ("Arrow Columnar Format", 1.5; Feather version 2). Such a file contains a stream, so
// that it can be written from beginning to end.
type arrowWriter struct {
	w       io.Writer
	at      int64 // bytes written
	fields  []Field
	columns []arrowColumn
	rows    int // in columns
	size    int // approximate bytes of them
	total   int64
	blocks  []arrowBlock
}

// arrowColumn has the values of a column until they are written.
type arrowColumn struct {
	valid   []byte // a bit for each row
	nulls   int
	data    []byte
	offsets []int32 // of texts in data, one more than rows
}

// arrowBlock is the place of a message in the file.
type arrowBlock struct {
	at   int64
	meta int32
	body int64
}

// Numbers of Arrow's Schema.fbs and Message.fbs.
const (
	arrowV5       = 4
	arrowSchemaIs = 1
	arrowBatchIs  = 3

	arrowTypeInt, arrowTypeFloat, arrowTypeText, arrowTypeBool  = 2, 3, 5, 6
	arrowTypeDate, arrowTypeTime, arrowTypeStamp                = 8, 9, 10
	arrowDays, arrowMicroseconds, arrowDouble, arrowDateDefault = 0, 2, 2, 1
)

var arrowMagic = []byte("ARROW1")

func newArrow(w io.Writer, fields []Field) (Writer, error) {
	a := &arrowWriter{w: w, fields: fields, columns: make([]arrowColumn, len(fields))}
	if err := a.write(append(arrowMagic[:6:6], 0, 0)); err != nil {
		return nil, err
	}
	b := flatbuffers.NewBuilder(1024)
	_, err := a.message(b, arrowSchemaIs, a.schema(b), 0)
	return a, err
}

func (a *arrowWriter) write(p []byte) error {
	n, err := a.w.Write(p)
	a.at += int64(n)
	return err
}

// message writes a message without its body, and returns the length of what it wrote.
func (a *arrowWriter) message(b *flatbuffers.Builder, kind byte, header flatbuffers.UOffsetT, body int64) (int32, error) {
	b.StartObject(5)
	b.PrependInt64Slot(3, body, 0)
	b.PrependUOffsetTSlot(2, header, 0)
	b.PrependByteSlot(1, kind, 0)
	b.PrependInt16Slot(0, arrowV5, 0)
	b.Finish(b.EndObject())
	meta := b.FinishedBytes()
	padded := (len(meta) + 7) &^ 7
	head := binary.LittleEndian.AppendUint32([]byte{0xff, 0xff, 0xff, 0xff}, uint32(padded))
	head = append(append(head, meta...), make([]byte, padded-len(meta))...)
	return int32(len(head)), a.write(head)
}

// schema describes the fields.
func (a *arrowWriter) schema(b *flatbuffers.Builder) flatbuffers.UOffsetT {
	list := make([]flatbuffers.UOffsetT, len(a.fields))
	for i, f := range a.fields {
		name := b.CreateString(f.Name)
		kind, typ := arrowType(b, f.Kind)
		b.StartVector(4, 0, 4)
		children := b.EndVector(0)
		b.StartObject(7)
		b.PrependUOffsetTSlot(5, children, 0)
		b.PrependUOffsetTSlot(3, typ, 0)
		b.PrependByteSlot(2, kind, 0)
		b.PrependBoolSlot(1, true, false)
		b.PrependUOffsetTSlot(0, name, 0)
		list[i] = b.EndObject()
	}
	fields := vectorOf(b, list)
	b.StartObject(4)
	b.PrependUOffsetTSlot(1, fields, 0)
	return b.EndObject()
}

func vectorOf(b *flatbuffers.Builder, list []flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	b.StartVector(4, len(list), 4)
	for i := len(list) - 1; i >= 0; i-- {
		b.PrependUOffsetT(list[i])
	}
	return b.EndVector(len(list))
}

func arrowType(b *flatbuffers.Builder, k Kind) (kind byte, typ flatbuffers.UOffsetT) {
	var zone flatbuffers.UOffsetT
	if k == Instant {
		zone = b.CreateString("UTC")
	}
	b.StartObject(2)
	switch k {
	case Int:
		kind = arrowTypeInt
		b.PrependInt32Slot(0, 64, 0)
		b.PrependBoolSlot(1, true, false)
	case Float:
		kind = arrowTypeFloat
		b.PrependInt16Slot(0, arrowDouble, 0)
	case Bool:
		kind = arrowTypeBool
	case Date:
		kind = arrowTypeDate
		b.PrependInt16Slot(0, arrowDays, arrowDateDefault)
	case Time:
		kind = arrowTypeTime
		b.PrependInt16Slot(0, arrowMicroseconds, 1)
		b.PrependInt32Slot(1, 64, 32)
	case Moment, Instant:
		kind = arrowTypeStamp
		b.PrependInt16Slot(0, arrowMicroseconds, 0)
		b.PrependUOffsetTSlot(1, zone, 0)
	default:
		kind = arrowTypeText
	}
	return kind, b.EndObject()
}

func (a *arrowWriter) Write(row []Value) error {
	for i := range row {
		v, c, kind := &row[i], &a.columns[i], a.fields[i].Kind
		if v.Odd && !v.Null && kind != Text {
			return &OddError{i, a.total, v.Text}
		}
		a.size += v.size()
		if a.rows&7 == 0 {
			c.valid = append(c.valid, 0)
		}
		if v.Null {
			c.nulls++
		} else {
			c.valid[a.rows>>3] |= 1 << (a.rows & 7)
		}
		c.add(kind, v, a.rows)
	}
	a.rows++
	a.total++
	if a.rows >= groupRows || a.size >= groupBytes {
		return a.flush()
	}
	return nil
}

// add appends a value. That of a missing one is 0, or "".
func (c *arrowColumn) add(kind Kind, v *Value, row int) {
	switch kind {
	case Bool:
		if row&7 == 0 {
			c.data = append(c.data, 0)
		}
		if !v.Null && v.Int != 0 {
			c.data[row>>3] |= 1 << (row & 7)
		}
	case Date:
		c.data = binary.LittleEndian.AppendUint32(c.data, uint32(int32(v.Int)))
	case Float:
		c.data = binary.LittleEndian.AppendUint64(c.data, math.Float64bits(v.Float))
	case Text:
		if len(c.offsets) == 0 {
			c.offsets = append(c.offsets, 0)
		}
		if !v.Null {
			c.data = append(c.data, v.Text...)
		}
		c.offsets = append(c.offsets, int32(len(c.data)))
	default:
		c.data = binary.LittleEndian.AppendUint64(c.data, uint64(v.Int))
	}
}

// flush writes the rows that the columns have, as a batch.
func (a *arrowWriter) flush() error {
	if a.rows == 0 {
		return nil
	}
	var buffers [][]byte
	for i := range a.columns {
		c := &a.columns[i]
		if c.nulls == 0 {
			buffers = append(buffers, nil)
		} else {
			buffers = append(buffers, c.valid)
		}
		if a.fields[i].Kind == Text {
			offsets := make([]byte, 0, 4*len(c.offsets))
			for _, o := range c.offsets {
				offsets = binary.LittleEndian.AppendUint32(offsets, uint32(o))
			}
			buffers = append(buffers, offsets)
		}
		buffers = append(buffers, c.data)
	}
	b := flatbuffers.NewBuilder(64 * len(buffers))
	header, body := a.batch(b, buffers)
	at := a.at
	meta, err := a.message(b, arrowBatchIs, header, body)
	if err != nil {
		return err
	}
	a.blocks = append(a.blocks, arrowBlock{at, meta, body})
	var zeros [8]byte
	for _, p := range buffers {
		if err := a.write(p); err != nil {
			return err
		}
		if err := a.write(zeros[:-len(p)&7]); err != nil {
			return err
		}
	}
	for i := range a.columns {
		c := &a.columns[i]
		c.valid, c.data, c.offsets, c.nulls = c.valid[:0], c.data[:0], c.offsets[:0], 0
	}
	a.rows, a.size = 0, 0
	return nil
}

// batch describes the rows of the columns, and returns the length of their buffers.
func (a *arrowWriter) batch(b *flatbuffers.Builder, buffers [][]byte) (header flatbuffers.UOffsetT, body int64) {
	starts := make([]int64, len(buffers))
	for i, p := range buffers {
		starts[i] = body
		body += int64(len(p)+7) &^ 7
	}
	b.StartVector(16, len(buffers), 8)
	for i := len(buffers) - 1; i >= 0; i-- {
		b.Prep(8, 16)
		b.PrependInt64(int64(len(buffers[i])))
		b.PrependInt64(starts[i])
	}
	places := b.EndVector(len(buffers))
	b.StartVector(16, len(a.columns), 8)
	for i := len(a.columns) - 1; i >= 0; i-- {
		b.Prep(8, 16)
		b.PrependInt64(int64(a.columns[i].nulls))
		b.PrependInt64(int64(a.rows))
	}
	nodes := b.EndVector(len(a.columns))
	b.StartObject(5)
	b.PrependUOffsetTSlot(2, places, 0)
	b.PrependUOffsetTSlot(1, nodes, 0)
	b.PrependInt64Slot(0, int64(a.rows), 0)
	return b.EndObject(), body
}

// Close writes the last batch, and the footer, which names the places of all.
func (a *arrowWriter) Close() error {
	if err := a.flush(); err != nil {
		return err
	}
	if err := a.write([]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}); err != nil {
		return err
	}
	b := flatbuffers.NewBuilder(1024)
	schema := a.schema(b)
	b.StartVector(24, len(a.blocks), 8)
	for i := len(a.blocks) - 1; i >= 0; i-- {
		b.Prep(8, 24)
		b.PrependInt64(a.blocks[i].body)
		b.Pad(4)
		b.PrependInt32(a.blocks[i].meta)
		b.PrependInt64(a.blocks[i].at)
	}
	batches := b.EndVector(len(a.blocks))
	b.StartVector(24, 0, 8)
	dictionaries := b.EndVector(0)
	b.StartObject(5)
	b.PrependUOffsetTSlot(3, batches, 0)
	b.PrependUOffsetTSlot(2, dictionaries, 0)
	b.PrependUOffsetTSlot(1, schema, 0)
	b.PrependInt16Slot(0, arrowV5, 0)
	b.Finish(b.EndObject())
	footer := b.FinishedBytes()
	end := append([]byte{}, footer...)
	end = binary.LittleEndian.AppendUint32(end, uint32(len(footer)))
	return a.write(append(end, arrowMagic...))
}
