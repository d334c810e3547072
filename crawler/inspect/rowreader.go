package inspect

import (
	"context"
	"fmt"
	"io"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables"
)

// rowReader passes on the rows of the table that a profile describes.
type rowReader struct {
	in     Input
	index  int // of the table when it was profiled
	p      *csvprofile.Profile
	f      func([][]byte) error
	limits Limits
	marks  Marks

	rows int64 // passed on
	err  error // why reading was ended; nil while it goes on
}

// ofTable passes on a row of a table that is like the profile. A row more than were counted is an error: it is another
// table after all, or is read otherwise.
func (r *rowReader) ofTable(cells [][]byte) error {
	if r.err == nil && !r.p.Truncated && r.rows >= r.p.Rows {
		r.err = fmt.Errorf("inspect: the table has more than the %d rows that were counted before: %w", r.p.Rows, ErrOtherTables)
	}
	return r.one(cells)
}

// one passes on a row. After an error it returns the same one, whatever is read.
func (r *rowReader) one(cells [][]byte) error {
	if r.err != nil {
		return r.err
	}
	if r.p.Truncated && r.rows >= r.p.Rows {
		return r.stop()
	}
	r.rows++
	r.err = r.f(cells)
	return r.err
}

// stop ends the reading, unless it has ended.
func (r *rowReader) stop() error {
	if r.err == nil {
		r.err = errStopped
	}
	return r.err
}

// read reads the table with the package that profiled it (look.tables).
func (r *rowReader) read(ctx context.Context) error {
	if r.p.Dialect.LineTerminator != "" { // only delimited text has one
		from := int64(0)
		if m := r.marks.From; m != nil {
			from = m.Offset
		}
		_, err := csvprofile.Read(ctx, io.NewSectionReader(r.in.Body, from, r.in.Size-from),
			csvprofile.Options{Charset: r.in.Found.Charset, Dialect: &r.p.Dialect, Each: r.one, From: r.marks.From, Mark: r.marks.Tell})
		return err
	}
	passing, mismatch := true, false
	err := r.tables(ctx, tables.Options{
		Begin: func(table int, name string, columns []string, more bool) error {
			if table > r.index {
				return r.stop()
			}
			passing = table < r.index || r.likeness(name, columns, more) == alike
			mismatch = mismatch || !passing
			return r.err
		},
		Each: func(table int, cells [][]byte) error {
			switch {
			case table < r.index || !passing:
				return r.err
			case table > r.index:
				return r.stop()
			}
			return r.ofTable(cells)
		},
	})
	if r.rows > 0 || r.p.Rows == 0 || ctx.Err() != nil || err != nil && !mismatch && r.err == nil {
		return err
	}
	return r.search(ctx)
}

// search reads the table from wherever it is in the file now.
func (r *rowReader) search(ctx context.Context) error {
	r.err = nil
	found, err := r.find(ctx)
	switch {
	case ctx.Err() != nil:
		return err
	case found < 0 && err != nil:
		return err
	case found < 0:
		return ErrOtherTables
	}
	begun := -1
	return r.tables(ctx, tables.Options{
		Begin: func(int, string, []string, bool) error {
			if begun++; begun > found {
				return r.stop()
			}
			return r.err
		},
		Each: func(_ int, cells [][]byte) error {
			if begun != found {
				return r.err
			}
			return r.ofTable(cells)
		},
	})
}

// find returns the number of the only table in the file that is most like the profile, in the order in which they
// begin;
// -1 if there is none, or more than one.
func (r *rowReader) find(ctx context.Context) (int, error) {
	begun, like, rows := -1, other, int64(0)
	best, bestLike, several := -1, other, false
	end := func() { // of a table
		if like == other || rows < r.p.Rows {
			return
		}
		if rows == r.p.Rows { // more rows than were counted may be due to a limit
			like++
		}
		if like >= bestLike {
			best, bestLike, several = begun, like, like == bestLike
		}
	}
	err := r.tables(ctx, tables.Options{
		Begin: func(_ int, name string, columns []string, more bool) error {
			end()
			begun++
			like, rows = r.likeness(name, columns, more), 0
			return nil
		},
		Each: func(int, [][]byte) error { rows++; return ctx.Err() },
	})
	if end(); several {
		best = -1
	}
	return best, err
}

// How much a table is like the one that a profile describes. A table with as many rows as were counted is more like it
// by one.
const (
	other       = 0
	sameColumns = 1 // but another name
	alike       = 3
)

// likeness compares what is known when a table begins with the profile.
func (r *rowReader) likeness(name string, columns []string, more bool) int {
	switch {
	case !r.p.HasColumns(columns, more):
		return other
	case name != "" && r.p.Name != "" && name != r.p.Name:
		return sameColumns
	}
	return alike
}

// tables reads the tables of the file.
func (r *rowReader) tables(ctx context.Context, o tables.Options) error {
	in := tables.Input{Type: r.in.Found.Type, Charset: r.in.Found.Charset, Size: r.in.Size, Body: r.in.Body, TempDir: r.limits.TempDir,
		Beside: r.in.beside}
	if tables.Known(in.Type) {
		_, err := tables.Read(ctx, in, o)
		return err
	}
	_, err := tables.FixedWidth(ctx, in, o)
	return err
}
