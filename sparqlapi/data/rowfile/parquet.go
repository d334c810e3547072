package rowfile

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
)

// parquetWriter writes a Parquet file whose row groups are small enough to be kept.
type parquetWriter struct {
	fields []Field
	out    *parquet.GenericWriter[any]
	row    parquet.Row
	rows   int // of the row group
	size   int
	total  int64
}

// Sizes of pages in bytes: the library keeps room for one of each column.
const (
	allPages  = 16 << 20 // of all columns together
	leastPage = 1 << 10
)

// orderedGroup is a group whose fields keep their order. That of the library sorts them by name.
type orderedGroup struct {
	parquet.Group
	order []parquet.Field
}

func (g orderedGroup) Fields() []parquet.Field { return g.order }

// namedNode is a field of an orderedGroup.
type namedNode struct {
	parquet.Field
}

func newParquet(w io.Writer, fields []Field) (Writer, error) {
	g := orderedGroup{Group: parquet.Group{}}
	for _, f := range fields {
		g.Group[f.Name] = parquet.Optional(nodeOf(f.Kind))
	}
	if len(g.Group) != len(fields) {
		return nil, fmt.Errorf("rowfile: two columns have the same name")
	}
	byName := map[string]parquet.Field{}
	for _, f := range g.Group.Fields() {
		byName[f.Name()] = f
	}
	for _, f := range fields {
		g.order = append(g.order, namedNode{byName[f.Name]})
	}
	schema := parquet.NewSchema("table", g)
	page := min(max(allPages/len(fields), leastPage), parquet.DefaultPageBufferSize)
	out := parquet.NewGenericWriter[any](w, schema, parquet.Compression(&parquet.Snappy), parquet.CreatedBy("odarchive", "", ""),
		parquet.WriteBufferSize(64<<10),
		parquet.PageBufferSize(page), parquet.ColumnPageBuffers(parquet.NewChunkBufferPool(page)))
	return &parquetWriter{fields: fields, out: out}, nil
}

func nodeOf(k Kind) parquet.Node {
	switch k {
	case Int:
		return parquet.Int(64)
	case Float:
		return parquet.Leaf(parquet.DoubleType)
	case Bool:
		return parquet.Leaf(parquet.BooleanType)
	case Date:
		return parquet.Date()
	case Time:
		return parquet.TimeAdjusted(parquet.Microsecond, false)
	case Moment:
		return parquet.TimestampAdjusted(parquet.Microsecond, false)
	case Instant:
		return parquet.Timestamp(parquet.Microsecond)
	}
	return parquet.String()
}

func (p *parquetWriter) Write(row []Value) error {
	p.row = p.row[:0]
	for i := range row {
		v, kind := &row[i], p.fields[i].Kind
		p.size += v.size()
		if v.Null {
			p.row = append(p.row, parquet.NullValue().Level(0, 0, i))
			continue
		}
		if v.Odd && kind != Text {
			return &OddError{i, p.total, v.Text}
		}
		p.row = append(p.row, valueOf(kind, v).Level(0, 1, i))
	}
	if _, err := p.out.WriteRows([]parquet.Row{p.row}); err != nil {
		return fmt.Errorf("rowfile: Parquet: %w", err)
	}
	p.rows++
	p.total++
	if p.rows >= groupRows*4 || p.size >= groupBytes*2 {
		p.rows, p.size = 0, 0
		if err := p.out.Flush(); err != nil {
			return fmt.Errorf("rowfile: Parquet: %w", err)
		}
	}
	return nil
}

func valueOf(k Kind, v *Value) parquet.Value {
	switch k {
	case Bool:
		return parquet.BooleanValue(v.Int != 0)
	case Float:
		return parquet.DoubleValue(v.Float)
	case Date:
		return parquet.Int32Value(int32(v.Int))
	case Text:
		return parquet.ByteArrayValue([]byte(v.Text))
	}
	return parquet.Int64Value(v.Int)
}

func (p *parquetWriter) Close() error {
	if err := p.out.Close(); err != nil {
		return fmt.Errorf("rowfile: Parquet: %w", err)
	}
	return nil
}
