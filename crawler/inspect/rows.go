package inspect

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/detect"
)

// ErrTooLarge is returned by EachRow for a member that is larger than those that File examines.
var ErrTooLarge = errors.New("the member is too large to read its tables")

// ErrOtherTables is in the chain of EachRow's error if the table is not among those that are found in the file.
var ErrOtherTables = errors.New(
	"an older version of the program found this table, which this version does not find in the file; the file is profiled again when it " +
		"changes")

// errStopped ends the reading of a file of which no more rows are wanted.
var errStopped = errors.New("no more rows are wanted")

// EachRow calls f with the data rows of one table of a file, those that the table's profile counts, in their order.
// member is the path of the archive's member that contains the table, "" for the file itself. index is the table's
// index in Inside.Tables or Member.Tables, and p is what File found there. typ and charset are those of the file, or of
// the member.
//
// The cells are text as they are in the file, and valid until f returns. A row may have fewer cells than the table has
// columns, or more. EachRow ends when f returns an error, and returns it.
//
// An older version of the program may have found other tables in the file than this one. If the table at index has
// other columns than p, or another name, EachRow looks for the one that p describes.
func EachRow(ctx context.Context, in Input, member, typ, charset string, index int, p *csvprofile.Profile, limits Limits,
	f func(cells [][]byte) error) error {
	return EachRowFrom(ctx, in, member, typ, charset, index, p, limits, Marks{}, f)
}

// Marks are places in a file from which its rows can be read without those before. Only delimited text has some.
type Marks struct {
	From *csvprofile.Mark      // where to begin; nil for the first row
	Tell func(csvprofile.Mark) // gets places as they are found; may be nil
}

// EachRowFrom is EachRow for the rows from a mark on, which an earlier call for the same table has found.
func EachRowFrom(ctx context.Context, in Input, member, typ, charset string, index int, p *csvprofile.Profile, limits Limits, marks Marks,
	f func(cells [][]byte) error) error {
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
	r := rowReader{in: in, index: index, p: p, f: f, limits: limits.withDefaults(), marks: marks}
	if marks.From != nil {
		if p.Dialect.LineTerminator == "" || marks.From.Offset > in.Size {
			return fmt.Errorf("inspect: there is no row %d at %d", marks.From.Row, marks.From.Offset)
		}
		r.rows = marks.From.Row
	}
	err := r.read(ctx)
	switch {
	case r.err != nil && !errors.Is(r.err, errStopped):
		return r.err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case r.rows >= p.Rows: // what follows the table, or ends it too early, was so when it was profiled
		return nil
	case err == nil || r.err != nil: // another table begins where this one went on
		return fmt.Errorf("inspect: the table has %d rows, and %d were counted before: %w", r.rows, p.Rows, ErrOtherTables)
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
