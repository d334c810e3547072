package statistical

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/source"
	"odarchive/triplestore/compression"
)

// rTable is a data frame, a matrix or a vector.
type rTable struct {
	name    string
	columns []variable
	cells   []func(row int) string
	rows    int
}

// rdata reads the data frames, matrices and vectors of a file of R. In a list, those in it are read.
func rdata(ctx context.Context, in source.Input, o source.Options) ([]*csvprofile.Profile, error) {
	b, err := unpackR(in, o.MaxBytes)
	if err != nil {
		return nil, err
	}
	saved := bytes.HasPrefix(b, []byte("RD")) && len(b) > 5 && b[4] == '\n' // several values with names
	if saved {
		b = b[5:]
	}
	f := &rFile{data: b}
	if err := f.header(); err != nil {
		return nil, err
	}
	top := f.value(0)
	var all []rTable
	if saved && top.kind == rPairs {
		for i, v := range top.items {
			all = f.tables(all, v, top.tags[i], 0, o.MaxTables)
		}
	} else {
		all = f.tables(all, top, "", 0, o.MaxTables)
	}
	var found []*csvprofile.Profile
	for _, t := range all {
		row := 0
		cells := make([]string, len(t.cells))
		p, err := profiled(ctx, t.name, t.columns, func() ([]string, error) {
			if row >= t.rows {
				return nil, io.EOF
			}
			for i, cell := range t.cells {
				cells[i] = cell(row)
			}
			row++
			return cells, nil
		}, o.Reading(len(found)))
		if err != nil {
			return found, err
		}
		if p != nil {
			found = append(found, p)
		}
	}
	if f.err != nil {
		return found, malformed("after %d bytes: %v", f.at, f.err)
	}
	return found, nil
}

// unpackR returns the bytes of a file of R, at most most, without the compression that R puts around them. Those before
// the place where a compressed stream is damaged are returned: the values before it are read.
func unpackR(in source.Input, most int64) ([]byte, error) {
	if err := in.Within(most); err != nil {
		return nil, err
	}
	head := make([]byte, min(in.Size, 16))
	if n, err := in.Body.ReadAt(head, 0); n < len(head) {
		return nil, fmt.Errorf("read the file: %w", err)
	}
	file := io.NewSectionReader(in.Body, 0, in.Size)
	packed := compression.Sniff(head)
	if packed == "" {
		b := make([]byte, in.Size)
		if _, err := io.ReadFull(file, b); err != nil {
			return nil, fmt.Errorf("read the file: %w", err)
		}
		return b, nil
	}
	s, err := compression.Open(file, packed, compression.Options{MaxWindow: rMaxWindow})
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	defer s.Close()
	b, err := io.ReadAll(io.LimitReader(s, most+1))
	switch {
	case int64(len(b)) > most:
		return nil, source.Limit(fmt.Sprintf("it unpacks to more than %d bytes, which is the most that is read", most))
	case err != nil && len(b) == 0:
		return nil, fmt.Errorf("unpack: %w", err)
	}
	return b, nil
}

// tables appends the tables of a value.
func (f *rFile) tables(all []rTable, v *rValue, name string, depth, most int) []rTable {
	if len(all) >= most || depth > 4 {
		return all
	}
	t := rTable{name: name}
	dim := v.attrs["dim"]
	switch {
	case v.kind == rList && f.is(v, "data.frame"):
		f.frame(&t, v, "")
		if len(t.columns) == 0 {
			return all
		}
		if t.rows > 0 {
			f.rowNames(&t, v.attrs["row.names"])
		}
		return append(all, t)
	case v.kind == rList:
		names := f.strings(v.attrs["names"])
		for i, item := range v.items {
			part := strconv.Itoa(i + 1)
			if i < len(names) && names[i] != "" {
				part = names[i]
			}
			if name != "" {
				part = name + "$" + part
			}
			if item.kind == rList || item.attrs["dim"] != nil {
				all = f.tables(all, item, part, depth+1, most)
			}
		}
		return all
	case !atomic(v) || v.n == 0:
		return all
	case dim != nil && dim.n == 2:
		f.matrix(&t, v, dim)
	case dim == nil || dim.n == 1:
		if v.n < 2 {
			return all
		}
		cell, column := f.column(v)
		if column.name = name; name == "" {
			column.name = "value"
		}
		t.columns, t.cells, t.rows = append(t.columns, column), append(t.cells, cell), v.n
		f.rowNames(&t, v.attrs["names"])
	}
	if t.rows == 0 {
		return all
	}
	return append(all, t)
}

func atomic(v *rValue) bool {
	switch v.kind {
	case rLogical, rInteger, rReal, rComplex, rTexts:
		return true
	}
	return false
}

// is reports whether a value has a class.
func (f *rFile) is(v *rValue, class string) bool {
	return slices.Contains(f.strings(v.attrs["class"]), class)
}

// frame adds the columns of a data frame. Those of a data frame in it have its name before theirs.
func (f *rFile) frame(t *rTable, v *rValue, prefix string) {
	names := f.strings(v.attrs["names"])
	for i, item := range v.items {
		name := prefix
		if i < len(names) {
			name += names[i]
		}
		switch {
		case len(t.columns) > maxVariables:
			return
		case item.kind == rList && f.is(item, "data.frame") && strings.Count(prefix, "$") < 4:
			f.frame(t, item, name+"$")
			continue
		case !atomic(item) && item.kind != rList:
			continue
		}
		cell, column := f.column(item)
		column.name = name
		t.columns, t.cells = append(t.columns, column), append(t.cells, cell)
		t.rows = max(t.rows, item.n)
	}
}

// rowNames puts a column with the names of the rows before the others, if they are texts.
func (f *rFile) rowNames(t *rTable, names *rValue) {
	if names == nil || names.kind != rTexts || names.n == 0 {
		return
	}
	cell, column := f.column(names)
	column.name = "row.names"
	t.columns, t.cells = slices.Insert(t.columns, 0, column), slices.Insert(t.cells, 0, cell)
}

// matrix makes a table of a matrix.
func (f *rFile) matrix(t *rTable, v, dim *rValue) {
	rows, columns := f.real(dim, 0), f.real(dim, 1)
	if !(rows > 0 && columns > 0 && columns <= maxVariables && rows*columns <= float64(v.n)) {
		return
	}
	t.rows = int(rows)
	var names []string
	var rowNames *rValue
	if d := v.attrs["dimnames"]; d != nil && len(d.items) == 2 {
		rowNames, names = d.items[0], f.strings(d.items[1])
	}
	cell, _ := f.column(v)
	for j := range int(columns) {
		name := "V" + strconv.Itoa(j+1)
		if j < len(names) {
			name = names[j]
		}
		t.columns = append(t.columns, variable{name: name})
		t.cells = append(t.cells, func(row int) string { return cell(j*t.rows + row) })
	}
	f.rowNames(t, rowNames)
}

// column returns a function that formats the elements of a vector, and what its attributes say of it.
func (f *rFile) column(v *rValue) (func(int) string, variable) {
	var column variable
	if label := f.strings(v.attrs["label"]); len(label) == 1 {
		column.label = label[0]
	}
	if labels := v.attrs["labels"]; labels != nil && atomic(labels) {
		cell, names := f.formatter(labels), f.strings(labels.attrs["names"])
		for i, name := range names[:min(len(names), labels.n, maxLabels)] {
			column.values = append(column.values, labelled(cell(i), name))
		}
	}
	cell := f.formatter(v)
	return func(i int) string {
		if i >= v.n {
			return ""
		}
		return cell(i)
	}, column
}

// formatter returns a function that formats the elements of a vector by its class.
func (f *rFile) formatter(v *rValue) func(int) string {
	whole := func(i int) string { return number(f.real(v, i), 64) }
	dated := func(text func(float64) string) func(int) string {
		return func(i int) string {
			n := f.real(v, i)
			if math.IsNaN(n) {
				return ""
			}
			return shown(text(n), n)
		}
	}
	switch {
	case v.kind == rTexts:
		return func(i int) string { return f.text(int(v.texts[i])) }
	case v.kind == rInteger && f.is(v, "factor"):
		levels := v.attrs["levels"]
		return func(i int) string {
			n := f.real(v, i)
			if levels == nil || !(n >= 1 && n <= float64(len(levels.texts))) {
				return ""
			}
			return f.text(int(levels.texts[int(n)-1]))
		}
	case v.kind == rLogical:
		return func(i int) string {
			switch n := f.real(v, i); {
			case math.IsNaN(n):
				return ""
			case n == 0:
				return "false"
			}
			return "true"
		}
	case v.kind == rComplex:
		return func(i int) string {
			re := math.Float64frombits(f.order.Uint64(f.data[v.at+16*i:]))
			im := math.Float64frombits(f.order.Uint64(f.data[v.at+16*i+8:]))
			if math.IsNaN(re) || math.IsNaN(im) {
				return ""
			}
			return strconv.FormatComplex(complex(re, im), 'g', -1, 128)
		}
	case v.kind == rList:
		return func(i int) string { return f.joined(v.items[i]) }
	case f.is(v, "Date"):
		return dated(from1970.date)
	case f.is(v, "POSIXct"):
		return dated(func(n float64) string {
			if text := from1970.moment(n); text != "" {
				return text + "Z"
			}
			return ""
		})
	case f.is(v, "hms"):
		return dated(clock)
	case v.kind == rReal && f.is(v, "integer64") && !v.isSeq:
		return func(i int) string {
			n := int64(f.order.Uint64(f.data[v.at+8*i:]))
			if n == math.MinInt64 {
				return ""
			}
			return strconv.FormatInt(n, 10)
		}
	}
	return whole
}

// joined returns the elements of a vector in a list, at most 100.
func (f *rFile) joined(v *rValue) string {
	if !atomic(v) {
		return ""
	}
	cell := f.formatter(v)
	var out []string
	for i := range min(v.n, 100) {
		out = append(out, cell(i))
	}
	return strings.Join(out, "; ")
}
