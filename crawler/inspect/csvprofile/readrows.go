package csvprofile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"odarchive/crawler/inspect/budget"
)

// ReadRows profiles a table whose rows do not come from delimited text, such as a sheet or records. next returns one
// row after another and io.EOF at the end; ReadRows does not keep the rows. header names the columns. If it is nil, the
// header is among the rows or missing, and ReadRows looks for it. Rows without values are not counted, and what reads
// like a note below the rows is none of them: people write such tables for people.
func ReadRows(ctx context.Context, name string, header []string, next func() ([]string, error), o Options) (*Profile, error) {
	return readRows(ctx, name, header, next, false, o)
}

// ReadRecords is ReadRows for a table of a database or of a data set whose format declares the columns. All that next
// returns are rows: those without values, too, and a last one that reads like a note.
func ReadRecords(ctx context.Context, name string, header []string, next func() ([]string, error), o Options) (*Profile, error) {
	return readRows(ctx, name, header, next, header != nil, o)
}

// readRows is ReadRows, or ReadRecords if all rows are records.
func readRows(ctx context.Context, name string, header []string, next func() ([]string, error), records bool, o Options) (*Profile, error) {
	p := &Profile{Version: Version, Name: name, Columns: []Column{}}
	var ahead [][]string
	if header == nil {
		for len(ahead) < sniffRows {
			row, err := next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, fmt.Errorf("csvprofile: %s: %w", name, err)
			}
			ahead = append(ahead, slices.Clone(row))
		}
		header, ahead = p.layRows(ahead)
	} else {
		p.Dialect.Header, p.Dialect.HeaderRows = true, 1
	}
	t := newTable(header)
	t.each, t.begin, t.name, t.records = o.Each, o.Begin, name, records
	var cells [][]byte
	memory := budget.New("a row", budget.Row)
	add := func(row []string) error {
		if !records && blank(row) {
			if p.Blank++; p.Blank&4095 == 0 { // a small file may say that it has any number of them
				return ctx.Err()
			}
			return nil
		}
		cells = cells[:0]
		memory.Reset() // one text may be in any number of cells
		for _, c := range row {
			if err := memory.Spend(1, uint64(len(c))); err != nil {
				return err
			}
			cells = append(cells, []byte(c))
		}
		t.addRow(cells)
		if len(p.Sample) < o.Sample {
			p.Sample = append(p.Sample, slices.Clone(row))
		}
		if t.rows&255 == 0 && t.err == nil {
			return ctx.Err()
		}
		return t.err
	}
	for _, row := range ahead {
		if o.MaxRows > 0 && t.rows >= o.MaxRows {
			break
		}
		if err := add(row); err != nil {
			return nil, fmt.Errorf("csvprofile: %w", err)
		}
	}
	for o.MaxRows == 0 || t.rows < o.MaxRows && p.Blank < o.MaxRows {
		row, err := next()
		if errors.Is(err, io.EOF) {
			t.finish(p)
			return p, nil
		}
		if err == nil {
			err = add(row)
		}
		if err != nil {
			if t.err != nil {
				return nil, t.err
			}
			if ctx.Err() != nil {
				return nil, fmt.Errorf("csvprofile: %w", ctx.Err())
			}
			p.because("reading stopped after %d rows: %v", t.rows, err)
			p.Truncated = true
			t.finish(p)
			return p, nil
		}
	}
	p.Truncated = true
	t.finish(p)
	return p, nil
}

// layRows finds title and header rows among the first rows and returns the column names and the data rows.
func (p *Profile) layRows(rows [][]string) ([]string, [][]string) {
	for i, r := range rows { // sheets pad or cut their rows
		for len(r) > 0 && r[len(r)-1] == "" {
			r = r[:len(r)-1]
		}
		rows[i] = r
	}
	full := 0
	for _, r := range rows {
		full = max(full, len(r))
	}
	for i, r := range rows {
		for len(r) < full {
			r = append(r, "")
		}
		rows[i] = r
	}
	if full == 0 {
		return nil, nil
	}
	c := candidate{rows: rows, width: full}
	l := findLayout(&c)
	p.Dialect.Preamble, p.Dialect.HeaderRows, p.Dialect.Header = l.first, l.header, l.header > 0
	p.because("header %v: %s", p.Dialect.Header, l.because)
	rest := rows[min(l.first, len(rows)):]
	for _, row := range rows[:len(rows)-len(rest)] {
		p.note(row)
	}
	var names [][]string
	for len(names) < l.header && len(rest) > 0 {
		if !blank(rest[0]) {
			names = append(names, rest[0])
		}
		rest = rest[1:]
	}
	if len(names) == 0 {
		return nil, rest
	}
	return joinHeader(names), rest
}

// Records collects a table of records whose keys are not known in advance: every new key is a new column.
type Records struct {
	table *table
	index map[string]int
	cells [][]byte

	Sample int // number of rows to keep in the profile
	sample [][]string

	// Each is Options.Each. It must be set before the first Add. A row has a cell for each column known by then.
	Each func(cells [][]byte) error
	// Begin is Options.Begin. It gets the columns of the first record.
	Begin Begin
}

// NewRecords returns an empty table of records.
func NewRecords() *Records { return &Records{table: newTable(nil), index: map[string]int{}} }

// Add adds one record as keys and values. A value that is missing or "" is null. It reports whether the table had room
// for all keys.
func (r *Records) Add(keys, values []string) bool {
	clear(r.cells)
	r.table.each = r.Each
	if r.table.rows == 0 {
		r.table.begin, r.table.grows = r.Begin, true
	}
	all := true
	for i, k := range keys {
		at, ok := r.index[k]
		if !ok {
			if len(r.index) >= MaxCells/4 {
				all = false
				continue
			}
			at = len(r.index)
			r.index[k] = at
			r.table.names = append(r.table.names, k)
			r.cells = append(r.cells, nil)
		}
		r.cells[at] = []byte(values[i])
	}
	r.table.widen(len(r.cells))
	r.table.width = len(r.cells)
	r.table.addToColumns(r.cells)
	if len(r.sample) < r.Sample {
		r.sample = append(r.sample, copyCells(r.cells))
	}
	return all
}

// Err returns the first error of Each. After it, Add passes no more rows on.
func (r *Records) Err() error { return r.table.err }

// Rows returns the number of records added.
func (r *Records) Rows() int64 { return r.table.rows }

// Profile ends the table and returns its profile.
func (r *Records) Profile(name string) *Profile {
	p := &Profile{Version: Version, Name: name, Columns: []Column{}, Dialect: Dialect{Header: true, HeaderRows: 1}}
	r.table.finish(p)
	p.Sample = r.sample
	p.Dialect.Footer = 0
	return p
}

// Note adds a sentence to Why.
func (p *Profile) Note(format string, a ...any) { p.because(format, a...) }
