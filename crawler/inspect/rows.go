package inspect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/detect"
	"odarchive/crawler/inspect/tables"
)

// ErrTooLarge is returned by EachRow for a member that is larger than those that File examines.
var ErrTooLarge = errors.New("the member is too large to read its tables")

// errStopped ends the reading of a file of which no more rows are wanted.
var errStopped = errors.New("no more rows are wanted")

// EachRow calls f with the data rows of one table of a file, those that the table's profile counts, in their order.
// member is the path of the archive's member that contains the table, "" for the file itself. index is the table's
// index in Inside.Tables or Member.Tables, and p is what File found there. typ and charset are those of the file, or of
// the member.
//
// The cells are text as they are in the file, and valid until f returns. A row may have fewer cells than the table has
// columns, or more. EachRow ends when f returns an error, and returns it.
func EachRow(ctx context.Context, in Input, member, typ, charset string, index int, p *csvprofile.Profile, limits Limits, f func(cells [][]byte) error) error {
	if member != "" {
		archive, err := in, error(nil)
		if in, err = memberInput(ctx, in, member, limits); err != nil {
			return err
		}
		if typ == shapefileType {
			in.beside = beside(ctx, archive, member, limits, nil, nil)
		}
	}
	in.Found = detect.Detection{Type: typ, Charset: charset}
	r := rowReader{p: p, f: f}
	err := r.read(ctx, in, index, limits.withDefaults())
	switch {
	case r.err != nil && !errors.Is(r.err, errStopped):
		return r.err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case r.err != nil || r.rows >= p.Rows: // what follows the table, or ends it too early, was so when it was profiled
		return nil
	case err == nil:
		return fmt.Errorf("inspect: the table has %d rows, and %d were counted before", r.rows, p.Rows)
	}
	return err
}

// memberInput returns a member of an archive, in memory.
func memberInput(ctx context.Context, in Input, path string, limits Limits) (Input, error) {
	limits = limits.withDefaults()
	body := &bounded{max: limits.MaxProbe}
	if err := Extract(ctx, in, path, limits, body); err != nil {
		return Input{}, err
	}
	return Input{Name: path, Base: in.Base, Size: int64(body.held.Len()), Body: bytes.NewReader(body.held.Bytes())}, nil
}

// bounded is a buffer that fails rather than hold more than max bytes.
type bounded struct {
	held bytes.Buffer // not embedded: its ReadFrom knows no limit
	max  int64
}

func (b *bounded) Write(p []byte) (int, error) {
	if int64(b.held.Len()+len(p)) > b.max {
		return 0, ErrTooLarge
	}
	return b.held.Write(p)
}

// rowReader passes on the rows of one table.
type rowReader struct {
	p    *csvprofile.Profile
	f    func([][]byte) error
	rows int64 // passed on
	err  error // why reading was ended; nil while it goes on
}

// one passes on a row. After an error it returns the same one, whatever is read.
func (r *rowReader) one(cells [][]byte) error {
	if r.err != nil {
		return r.err
	}
	if r.p.Truncated && r.rows >= r.p.Rows {
		r.err = errStopped
		return r.err
	}
	r.rows++
	r.err = r.f(cells)
	return r.err
}

// read reads the table with the package that profiled it (look.tables).
func (r *rowReader) read(ctx context.Context, in Input, index int, limits Limits) (err error) {
	input := tables.Input{Type: in.Found.Type, Charset: in.Found.Charset, Size: in.Size, Body: in.Body, TempDir: limits.TempDir, Beside: in.beside}
	each := func(table int, cells [][]byte) error {
		switch {
		case table < index:
			return r.err
		case table > index && r.err == nil:
			r.err = errStopped
			return r.err
		}
		return r.one(cells)
	}
	switch {
	case r.p.Dialect.LineTerminator != "": // only delimited text has one
		_, err = csvprofile.Read(ctx, io.NewSectionReader(in.Body, 0, in.Size), csvprofile.Options{Charset: in.Found.Charset, Dialect: &r.p.Dialect, Each: r.one})
	case tables.Known(in.Found.Type):
		_, err = tables.Read(ctx, input, tables.Options{Each: each})
	default:
		_, err = tables.FixedWidth(ctx, input, tables.Options{Each: each})
	}
	return err
}
