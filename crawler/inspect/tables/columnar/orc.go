package columnar

import (
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/source"
)

// Limits of an ORC file.
const (
	orcMaxFooter  = 64 << 20
	orcMaxBlock   = 16 << 20 // bytes of a compressed block, unpacked
	orcMaxColumns = csvprofile.MaxCells / 4
	orcMaxDict    = 64 << 20 // bytes of a dictionary
	orcMaxDepth   = 50
)

// orcFile is an ORC file ("ORC Specification v1").
type orcFile struct {
	in      source.Input
	codec   int
	block   int64
	stripes []orcStripe
	types   []orcType
	rows    int64

	names []string
	tree  *orcColumn
	left  int64 // rows of the stripe
	given int64
	cells []string
}

// orcStripe is a part of the rows.
type orcStripe struct{ offset, index, data, footer, rows int64 }

// orcType is a column or a part of one.
type orcType struct {
	kind  int
	parts []int
	names []string
	scale int
}

// Kinds of types (orc_proto.proto).
const (
	orcBoolean = iota
	orcByte
	orcShort
	orcInt
	orcLong
	orcFloat
	orcDouble
	orcString
	orcBinary
	orcTimestamp
	orcList
	orcMap
	orcStruct
	orcUnion
	orcDecimal
	orcDate
	orcVarchar
	orcChar
	orcInstant
)

// errOrc is about an ORC file whose description is damaged.
var errOrc = fmt.Errorf("%w: its description is damaged", source.ErrFormat)

// orcTable reads an ORC file.
func orcTable(ctx context.Context, in source.Input, o source.Options) ([]*csvprofile.Profile, error) {
	f := &orcFile{in: in}
	if err := f.tail(); err != nil {
		return nil, err
	}
	if len(f.types) == 0 || len(f.types) > 100_000 {
		return nil, errOrc
	}
	if err := f.name(0, "", 0); err != nil {
		return nil, err
	}
	if len(f.names) == 0 {
		return nil, nil
	}
	p, err := source.ReadRows(ctx, "", f.names, func() ([]string, error) { return f.next(ctx) }, o.Reading(0))
	if p == nil {
		return nil, err
	}
	return []*csvprofile.Profile{p}, nil
}

// message calls each with the fields of a message: the number, an integer, or bytes.
func message(b []byte, each func(field protowire.Number, n uint64, bytes []byte)) error {
	for len(b) > 0 {
		field, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return errOrc
		}
		b = b[n:]
		switch kind {
		case protowire.VarintType:
			v, n := protowire.ConsumeVarint(b)
			if n < 0 {
				return errOrc
			}
			b = b[n:]
			each(field, v, nil)
		case protowire.BytesType:
			v, n := protowire.ConsumeBytes(b)
			if n < 0 {
				return errOrc
			}
			b = b[n:]
			each(field, 0, v)
		default:
			n := protowire.ConsumeFieldValue(field, kind, b)
			if n < 0 {
				return errOrc
			}
			b = b[n:]
		}
	}
	return nil
}

// tail reads the end of the file, which describes it.
func (f *orcFile) tail() error {
	size := f.in.Size
	end := make([]byte, min(size, 256))
	if n, _ := f.in.Body.ReadAt(end, size-int64(len(end))); n < len(end) || n < 16 {
		return fmt.Errorf("%w: it is too short", source.ErrFormat)
	}
	n := int(end[len(end)-1])
	if n+1 > len(end) {
		return errOrc
	}
	var footer, meta, version int64
	magic := ""
	err := message(end[len(end)-1-n:len(end)-1], func(field protowire.Number, v uint64, b []byte) {
		switch field {
		case 1:
			footer = int64(v)
		case 2:
			f.codec = int(v)
		case 3:
			f.block = int64(v)
		case 5:
			meta = int64(v)
		case 6:
			version = int64(v)
		case 8000:
			magic = string(b)
		}
	})
	if err != nil || magic != "ORC" && version == 0 && footer == 0 {
		return fmt.Errorf("%w: its end is missing", source.ErrFormat)
	}
	if f.block == 0 {
		f.block = 256 << 10
	}
	if f.codec == 3 || f.codec > 5 || f.codec < 0 {
		return fmt.Errorf("a compression of ORC (%d) that is not read", f.codec)
	}
	if f.block < 0 || f.block > orcMaxBlock || footer <= 0 || footer > orcMaxFooter || meta < 0 || footer > size-int64(n)-1 {
		return errOrc
	}
	b, err := io.ReadAll(io.LimitReader(f.stream(size-1-int64(n)-footer, footer), orcMaxFooter))
	if err != nil {
		return fmt.Errorf("%w: its footer: %v", source.ErrFormat, err)
	}
	var bad error
	err = message(b, func(field protowire.Number, v uint64, b []byte) {
		switch field {
		case 3:
			var s orcStripe
			parts := []*int64{nil, &s.offset, &s.index, &s.data, &s.footer, &s.rows}
			bad = errors.Join(bad, message(b, func(field protowire.Number, v uint64, _ []byte) {
				if int(field) < len(parts) {
					*parts[field] = int64(v)
				}
			}))
			f.stripes = append(f.stripes, s)
		case 4:
			bad = errors.Join(bad, f.addType(b))
		case 6:
			f.rows = int64(v)
		case 10:
			bad = fmt.Errorf("some of its columns are encrypted")
		}
	})
	return errors.Join(err, bad)
}

// addType reads a type.
func (f *orcFile) addType(b []byte) error {
	var t orcType
	err := message(b, func(field protowire.Number, v uint64, b []byte) {
		switch field {
		case 1:
			t.kind = int(v)
		case 2:
			if b == nil {
				t.parts = append(t.parts, int(min(v, 1<<30)))
			}
			for len(b) > 0 {
				part, n := protowire.ConsumeVarint(b)
				if n < 0 {
					break
				}
				t.parts, b = append(t.parts, int(min(part, 1<<30))), b[n:]
			}
		case 3:
			t.names = append(t.names, string(b))
		case 6:
			t.scale = int(min(v, 1000))
		}
	})
	for _, p := range t.parts { // parts come behind what they are a part of
		if p <= len(f.types) {
			return errOrc
		}
	}
	f.types = append(f.types, t)
	return err
}

// name names the columns: the parts of structures.
func (f *orcFile) name(i int, name string, depth int) error {
	if i >= len(f.types) || depth > orcMaxDepth {
		return errOrc
	}
	t := f.types[i]
	if t.kind != orcStruct {
		if name == "" {
			name = "value"
		}
		if f.names = append(f.names, name); len(f.names) > orcMaxColumns {
			return fmt.Errorf("%w: more than %d columns", source.ErrFormat, orcMaxColumns)
		}
		return nil
	}
	for j, part := range t.parts {
		n := fmt.Sprint(j)
		if j < len(t.names) {
			n = t.names[j]
		}
		if name != "" {
			n = name + "." + n
		}
		if err := f.name(part, n, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// next returns the next row.
func (f *orcFile) next(ctx context.Context) ([]string, error) {
	for f.left == 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(f.stripes) == 0 {
			return nil, io.EOF
		}
		s := f.stripes[0]
		f.stripes = f.stripes[1:]
		if err := f.open(s); err != nil {
			return nil, fmt.Errorf("after row %d: %w", f.given, err)
		}
		f.left = max(0, s.rows)
	}
	if f.given&0xfff == 0 && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	f.left--
	f.cells = f.cells[:0]
	if err := f.tree.put(f, false); err != nil {
		return nil, fmt.Errorf("%w: row %d: %v", source.ErrFormat, f.given+1, err)
	}
	f.given++
	return f.cells, nil
}
