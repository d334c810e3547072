package columnar

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"odarchive/crawler/inspect/budget"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/source"
)

// parquetFile profiles a Parquet file with its leaf columns. Repeated values are joined.
func parquetFile(ctx context.Context, in source.Input, o source.Options) ([]*csvprofile.Profile, error) {
	if err := checkFooter(in); err != nil {
		return nil, err
	}
	f, err := parquet.OpenFile(in.Body, in.Size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, fmt.Errorf("%w: %v", source.ErrFormat, err)
	}
	schema := f.Schema()
	columns := schema.Columns()
	if len(columns) > csvprofile.MaxCells/4 {
		return nil, fmt.Errorf("%w: %d columns", source.ErrFormat, len(columns))
	}
	names := make([]string, len(columns))
	show := make([]func(parquet.Value) string, len(columns))
	for i, path := range columns {
		names[i] = strings.Join(path, ".")
		show[i] = parquet.Value.String
		if leaf, ok := schema.Lookup(path...); ok {
			show[i] = shower(leaf.Node.Type())
		}
	}
	s := &parquetRows{in: in, sizes: f.Metadata().RowGroups, groups: f.RowGroups(), show: show, memory: budget.New("a row", budget.Row),
		buf: make([]parquet.Row, 64)}
	defer s.close()
	p, err := csvprofile.ReadRecords(ctx, "", names, s.next, o.Reading(0))
	if err != nil || !source.Declared(p) {
		return nil, err
	}
	return []*csvprofile.Profile{p}, nil
}

type parquetRows struct {
	in     source.Input
	sizes  []format.RowGroup
	memory *budget.Budget
	groups []parquet.RowGroup
	rows   parquet.Rows
	show   []func(parquet.Value) string
	buf    []parquet.Row
	at, n  int
	cells  []string
}

func (s *parquetRows) close() {
	if s.rows != nil {
		s.rows.Close()
		s.rows = nil
	}
}

func (s *parquetRows) next() (cells []string, err error) {
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("%w: the decoder failed: %v", source.ErrFormat, x)
		}
	}()
	for s.at >= s.n {
		if s.rows == nil {
			if len(s.groups) == 0 {
				return nil, io.EOF
			}
			if len(s.sizes) > 0 {
				if err := checkPages(s.in, &s.sizes[0]); err != nil {
					return nil, err
				}
				s.sizes = s.sizes[1:]
			}
			s.rows, s.groups = s.groups[0].Rows(), s.groups[1:]
		}
		n, err := s.rows.ReadRows(s.buf)
		s.at, s.n = 0, n
		if err != nil {
			s.close()
			if !errors.Is(err, io.EOF) {
				return nil, err
			}
		}
	}
	row := s.buf[s.at]
	s.at++
	if s.cells == nil {
		s.cells = make([]string, len(s.show))
	}
	clear(s.cells)
	s.memory.Reset() // values can be repeated, and refer to a dictionary
	for _, v := range row {
		i := v.Column()
		if v.IsNull() || i < 0 || i >= len(s.cells) {
			continue
		}
		text := s.show[i](v)
		if s.cells[i] != "" {
			text = s.cells[i] + "; " + text
		}
		if err := s.memory.Spend(1, uint64(len(text))); err != nil {
			return nil, err
		}
		s.cells[i] = text
	}
	return s.cells, nil
}

// shower returns a function that formats values of a type, dates and times in XSD's form.
func shower(t parquet.Type) func(parquet.Value) string {
	logical := t.LogicalType()
	if logical == nil {
		return parquet.Value.String
	}
	return showLogical(logical)
}

func showLogical(l *format.LogicalType) func(parquet.Value) string {
	switch t := l.Value.(type) {
	case *format.DateType:
		return func(v parquet.Value) string {
			return time.Unix(int64(v.Int32())*86400, 0).UTC().Format("2006-01-02")
		}
	case *format.TimestampType:
		unit := t.Unit.Value
		return func(v parquet.Value) string {
			at := time.Unix(0, v.Int64())
			switch unit.(type) {
			case *format.MilliSeconds:
				at = time.UnixMilli(v.Int64())
			case *format.MicroSeconds:
				at = time.UnixMicro(v.Int64())
			}
			return at.UTC().Format("2006-01-02T15:04:05.999999999Z")
		}
	case *format.DecimalType:
		return func(v parquet.Value) string {
			switch v.Kind() {
			case parquet.Int32, parquet.Int64:
				return decimal(fmt.Sprint(v.Int64()), int(t.Scale))
			}
			return v.String()
		}
	}
	return parquet.Value.String
}

// decimal inserts the decimal point into an unscaled number.
func decimal(digits string, scale int) string {
	neg := strings.HasPrefix(digits, "-")
	digits = strings.TrimPrefix(digits, "-")
	if scale > 0 && scale < 100 {
		for len(digits) <= scale {
			digits = "0" + digits
		}
		digits = digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
	}
	if neg {
		return "-" + digits
	}
	return digits
}
