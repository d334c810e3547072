package columnar

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/source"
)

// feather reads a file of Feather version 1 (feather.fbs): columns, and at the end a description of them.
func feather(ctx context.Context, in source.Input, o source.Options) ([]*csvprofile.Profile, error) {
	tail := make([]byte, 8)
	if _, err := in.Body.ReadAt(tail, max(0, in.Size-8)); err != nil && err != io.EOF || in.Size < 16 || string(tail[4:]) != "FEA1" {
		return nil, fmt.Errorf("%w: its end is missing", source.ErrFormat)
	}
	size := int64(binary.LittleEndian.Uint32(tail))
	if size > arrowMaxMeta || size > in.Size-12 {
		return nil, fmt.Errorf("%w: a description of %d bytes", source.ErrFormat, size)
	}
	if err := in.Within(arrowMaxBody); err != nil {
		return nil, err
	}
	meta := make([]byte, size)
	if _, err := in.Body.ReadAt(meta, in.Size-8-size); err != nil {
		return nil, fmt.Errorf("read the description: %w", err)
	}
	table := flatRoot(meta)
	rows := &arrowRows{ctx: ctx}
	var arrays []*arrowArray
	for _, c := range table.tables(2) {
		field := &arrowField{name: c.text(0)}
		a, err := featherArray(in, c.table(1), field)
		if err != nil {
			return nil, err
		}
		kind := c.table(3)
		switch c.byte(2) {
		case 1: // codes of categories
			levels, err := featherArray(in, kind.table(0), &arrowField{name: field.name})
			if err != nil {
				return nil, err
			}
			field.coded, a.dict = true, levels
		case 2:
			field.kind, field.unit, field.zone = arrowTimestamp, int(kind.byte(0)), kind.text(1) != ""
		case 3:
			field.kind, field.unit = arrowDate, 0
		case 4:
			field.kind, field.unit = arrowTime, int(kind.byte(0))
		}
		if field.kind == arrowTimestamp && field.bits != 64 || field.kind == arrowDate && field.bits != 32 {
			return nil, fmt.Errorf("%w: the column %q has dates of %d bits", source.ErrFormat, field.name, field.bits)
		}
		arrays = append(arrays, a)
		rows.name(field, "", 0)
	}
	n := table.long(1)
	for _, a := range arrays {
		if a.n < n {
			return nil, fmt.Errorf("%w: the column %q has %d of %d rows", source.ErrFormat, a.field.name, a.n, n)
		}
	}
	if len(arrays) == 0 {
		return nil, nil
	}
	given := false
	rows.batch = func() ([]*arrowArray, int64, error) {
		if given {
			return nil, 0, io.EOF
		}
		given = true
		return arrays, n, nil
	}
	return rows.read(o)
}

// featherArray reads the values of a column and sets its type.
func featherArray(in source.Input, t flat, field *arrowField) (*arrowArray, error) {
	a := &arrowArray{field: field, order: binary.LittleEndian, n: t.long(3)}
	at, total := t.long(2), t.long(5)
	if at < 0 || total < 0 || at > in.Size || total > in.Size-at {
		return nil, fmt.Errorf("%w: the column %q is outside of the file", source.ErrFormat, field.name)
	}
	b := make([]byte, total)
	if _, err := in.Body.ReadAt(b, at); err != nil && err != io.EOF {
		return nil, fmt.Errorf("read the column %q: %w", field.name, err)
	}
	switch code := t.byte(0); {
	case code == 0:
		field.kind = arrowBool
	case code >= 1 && code <= 8:
		field.kind, field.signed, field.bits = arrowInt, code <= 4, 8<<((code-1)%4)
	case code == 9 || code == 10:
		field.kind, field.bits = arrowFloat, 32*int(code-8)
	case code == 11:
		field.kind = arrowText
	case code == 12:
		field.kind = arrowBinary
	default:
		return nil, fmt.Errorf("the column %q has a type of Feather (%d) that is not read", field.name, code)
	}
	padded := func(n int64) int64 { return min((n+7)/8*8, int64(len(b))) }
	if a.n < 0 || a.n > int64(len(b))*8 {
		return nil, fmt.Errorf("%w: the column %q says that it has %d values", source.ErrFormat, field.name, a.n)
	}
	if t.long(4) > 0 {
		n := padded((a.n + 7) / 8)
		a.valid, b = b[:n], b[n:]
	}
	if field.kind == arrowText || field.kind == arrowBinary {
		n := padded(4 * (a.n + 1))
		a.offsets, b = b[:n], b[n:]
	}
	a.data = b
	return a, a.check(field.kind)
}
