package archive

import (
	"context"
	"errors"
	"fmt"
	"io"

	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/detect"
	"odarchive/crawler/inspect/diff"
)

// Compare reports what changed from one version to another; they need not be neighbours.
func (a *Archive) Compare(ctx context.Context, from, to catalog.Version, o diff.Options) (*diff.Report, error) {
	older, _, closeOlder, err := a.Side(ctx, from)
	if err != nil {
		return nil, err
	}
	defer closeOlder.Close()
	newer, _, closeNewer, err := a.Side(ctx, to)
	if err != nil {
		return nil, err
	}
	defer closeNewer.Close()
	report, err := diff.Compare(ctx, older, newer, o)
	if err != nil {
		return nil, fmt.Errorf("compare %s with %s: %w", from.ID, to.ID, err)
	}
	return report, nil
}

// Change returns how a version differs from the one before, nil if unknown.
func (a *Archive) Change(ctx context.Context, id string) (s *diff.Summary, err error) {
	err = a.view(func(t records.Txn) (err error) {
		s, err = t.Change(id)
		return err
	})
	return s, err
}

// Side opens a version for comparison, and returns what is inside it. The caller closes the io.Closer.
func (a *Archive) Side(ctx context.Context, v catalog.Version) (diff.Side, *inspect.Inside, io.Closer, error) {
	var in *inspect.Inside
	err := a.view(func(t records.Txn) (err error) {
		in, err = t.InsideSketched(v.ID)
		return errors.Join(err, ctx.Err())
	})
	if err != nil {
		return diff.Side{}, nil, nil, err
	}
	body, err := a.open(v)
	if err != nil {
		return diff.Side{}, nil, nil, fmt.Errorf("version %s: %w", v.ID, err)
	}
	side := diff.Side{R: body, Size: body.Size(), Type: v.Type, Charset: v.Charset}
	if in != nil && len(in.Tables) > 0 {
		side.Dialect, side.Schema = DiffDialect(in.Tables[0]), DiffSchema(in.Tables[0])
	}
	file := inspect.Input{Found: detect.Detection{Type: v.Type, Charset: v.Charset}, Name: v.FileName, Size: body.Size(), Body: body}
	side.Tables, side.Whole = DiffTables(file, in)
	return side, in, body, nil
}

// DiffDialect returns a profile's dialect for package diff, nil if diff has to detect it.
func DiffDialect(p *csvprofile.Profile) *diff.Dialect {
	if p == nil || len([]rune(p.Dialect.Delimiter)) != 1 {
		return nil
	}
	d := &diff.Dialect{Delimiter: []rune(p.Dialect.Delimiter)[0], NoHeader: !p.Dialect.Header, Skip: p.Dialect.Preamble}
	if q := []rune(p.Dialect.QuoteChar); len(q) == 1 {
		d.Quote = q[0]
	}
	if e := []rune(p.Dialect.EscapeChar); len(e) == 1 {
		d.Escape = e[0]
	}
	return d
}

// DiffSchema returns what a profile knows of a table's columns for package diff, nil if the two may count rows or
// columns differently.
func DiffSchema(p *csvprofile.Profile) *diff.Schema {
	if p == nil || p.Truncated || p.Empty > 0 || p.Ragged > 0 || p.Blank > 0 || p.Dialect.Footer > 0 || p.Dialect.CommentPrefix != "" ||
		p.Dialect.SkipInitialSpace || p.Dialect.HeaderRows > 1 {
		return nil
	}
	s := &diff.Schema{Rows: p.Rows}
	for _, c := range p.Columns {
		s.Columns = append(s.Columns, diff.KnownColumn{Type: diffType(c), Key: c.Key, Sketch: c.Sketch})
	}
	return s
}

func diffType(c csvprofile.Column) string {
	if c.Distinct == 0 {
		return "empty"
	}
	switch c.Datatype {
	case "integer", "gYear":
		return "integer"
	case "decimal", "double":
		return "decimal"
	case "date", "dateTime":
		return "date"
	case "boolean":
		return "boolean"
	}
	return "string"
}
