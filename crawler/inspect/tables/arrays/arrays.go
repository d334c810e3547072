// Package arrays reads scientific arrays: NetCDF classic (CDF-1, CDF-2, CDF-5), and HDF5 with NetCDF-4, which is kept
// in it.
//
// Open returns what a file describes: attributes, dimensions and variables. The tables of a file are those of its
// variables of one dimension, one table for each dimension, and data sets of records (compound datatypes). Arrays of
// more dimensions are described, not read.
package arrays

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/source"
)

// Readers returns the readers of the family.
func Readers() source.Readers {
	return source.Readers{
		"application/x-netcdf": tables,
		"application/x-hdf5":   tables,
	}
}

// Limits of a file.
const (
	maxObjects    = 5000     // variables and groups
	maxDims       = 5000     // dimensions
	maxAttributes = 50_000   // of all objects
	maxName       = 1000     // bytes of a name
	maxValue      = 64 << 10 // bytes of an attribute that are read
	maxColumns    = 1000     // of a table
	maxHeld       = 128 << 20
)

// File is what a file describes.
type File struct {
	Attributes []Attribute
	Dims       []Dim
	Vars       []*Var
	Faults     []string // what could not be read of it

	body io.ReaderAt
	size int64
}

// Attribute is a named value, as text. Several values are separated by commas.
type Attribute struct{ Name, Value string }

// Dim is a dimension.
type Dim struct {
	Name string
	Size int64
}

// Var is a variable.
type Var struct {
	Name       string // with the names of its groups, separated by slashes
	Type       string // XSD local name, "" for records and others
	Dims       []string
	Shape      []int64
	Attributes []Attribute

	fields []string                     // names of the members of a record
	held   int64                        // bytes that reading keeps in memory
	open   func() (func() error, error) // begins to read; the function returned reads the next element into cells
	cells  []string                     // of the present element: one, or one for each member of a record
}

// Attr returns an attribute's text, "" if there is none.
func (v *Var) Attr(name string) string { return attrOf(v.Attributes, name) }

func attrOf(all []Attribute, name string) string {
	for _, a := range all {
		if a.Name == name {
			return a.Value
		}
	}
	return ""
}

// Open reads what a file describes, and none of its arrays.
func Open(ctx context.Context, in source.Input) (*File, error) {
	head := make([]byte, 4)
	if _, err := in.Body.ReadAt(head, 0); err != nil {
		return nil, fmt.Errorf("%w: it is too short", source.ErrFormat)
	}
	if bytes.HasPrefix(head, []byte("CDF")) {
		return openClassic(in)
	}
	return openHDF5(ctx, in)
}

// tables profiles the variables of a file that are columns.
func tables(ctx context.Context, in source.Input, o source.Options) (found []*csvprofile.Profile, err error) {
	f, err := Open(ctx, in)
	if err != nil {
		return nil, err
	}
	for _, t := range f.tables() {
		if len(found) >= o.MaxTables {
			break
		}
		p, err := t.profile(ctx, o.Reading(len(found)))
		switch {
		case ctx.Err() != nil:
			return found, ctx.Err()
		case err != nil && o.Each != nil && !errors.Is(err, source.ErrFormat):
			return found, err
		case err != nil:
			return found, err
		case source.Worthwhile(p):
			found = append(found, p)
		}
	}
	if len(f.Faults) > 0 {
		return found, fmt.Errorf("%w: %s", source.ErrFormat, f.Faults[0])
	}
	return found, nil
}

// table is a number of variables over the same dimension, or one with records.
type table struct {
	name    string
	rows    int64
	columns []*Var
	over    int // variables that do not fit into memory together
}

// tables returns the tables of a file in the order of their first variables.
func (f *File) tables() (all []*table) {
	byDim := map[string]*table{}
	for _, v := range f.Vars {
		if v.open == nil || len(v.Shape) != 1 || v.Shape[0] == 0 {
			continue
		}
		if v.fields != nil {
			all = append(all, &table{name: v.Name, rows: v.Shape[0], columns: []*Var{v}})
			continue
		}
		key := fmt.Sprintf("%s %d", v.Dims[0], v.Shape[0])
		t := byDim[key]
		if t == nil {
			t = &table{name: v.Dims[0], rows: v.Shape[0]}
			byDim[key] = t
			all = append(all, t)
		}
		held := v.held
		for _, c := range t.columns {
			held += c.held
		}
		if held > maxHeld || len(t.columns) >= maxColumns {
			t.over++
			continue
		}
		t.columns = append(t.columns, v)
	}
	return all
}

// profile profiles a table.
func (t *table) profile(ctx context.Context, o csvprofile.Options) (*csvprofile.Profile, error) {
	var header []string
	var titles [][]string
	var next []func() error
	for _, v := range t.columns {
		read, err := v.open()
		if err != nil {
			return nil, err
		}
		next = append(next, read)
		if v.fields != nil {
			header = append(header, v.fields...)
			continue
		}
		header = append(header, v.Name)
		titles = append(titles, titlesOf(v))
	}
	row := make([]string, 0, len(header))
	at := int64(0)
	p, err := csvprofile.ReadRows(ctx, t.name, header, func() ([]string, error) {
		if at >= t.rows {
			return nil, io.EOF
		}
		at++
		row = row[:0]
		for i, v := range t.columns {
			if err := next[i](); err != nil {
				if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
					err = fmt.Errorf("%w: %s ends after %d of %d values", source.ErrFormat, v.Name, at-1, t.rows)
				}
				return nil, err
			}
			row = append(row, v.cells...)
		}
		return row, nil
	}, o)
	if p != nil {
		for i, list := range titles {
			if i < len(p.Columns) {
				p.Columns[i].Titles = append(p.Columns[i].Titles, list...)
			}
		}
		if t.over > 0 {
			p.Note("%d more variables of this dimension are not read: they do not fit into memory together", t.over)
		}
	}
	return p, err
}

// titlesOf returns what a variable is called in its attributes (CF conventions 3.2), and its unit.
func titlesOf(v *Var) (all []string) {
	for _, name := range []string{"long_name", "standard_name"} {
		if s := strings.TrimSpace(v.Attr(name)); s != "" && s != v.Name {
			all = append(all, s)
			break
		}
	}
	return all
}

// cut returns at most n bytes of a name or value as valid UTF-8, up to the first NUL.
func cut(b []byte, n int) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return strings.ToValidUTF8(string(b[:min(len(b), n)]), "\uFFFD")
}
