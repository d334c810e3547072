// Package source has what all readers of tables share: the file to read, the limits, and the shape of a reader.
//
// Each family of formats is a package of its own beside this one; package tables knows them all. A reader may panic:
// tables recovers.
package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"odarchive/crawler/inspect/budget"
	"odarchive/crawler/inspect/charset"
	"odarchive/crawler/inspect/csvprofile"
)

// ErrFormat is in the chain of errors about files that do not match their media type.
var ErrFormat = errors.New("not a table that can be read")

// Input is a file that contains tables.
type Input struct {
	Type    string // media type
	Charset string // of texts, "" = UTF-8
	Size    int64
	Body    io.ReaderAt
	TempDir string // for what a decoder unpacks; "" = the system's

	// Beside, if not nil, returns the file that has the same name with another extension (".dbf"), for formats that
	// consist of several files. It reports whether there is one.
	Beside func(extension string) (body io.ReaderAt, size int64, ok bool)
}

// Text returns a reader of the text in UTF-8.
func (in Input) Text() io.Reader {
	r := io.Reader(io.NewSectionReader(in.Body, 0, in.Size))
	if dec, err := charset.NewReader(r, in.Charset); err == nil {
		return dec
	}
	return r
}

// DefaultTables is the default of Options.MaxTables.
const DefaultTables = 200

// Options are limits. Zero fields take the default (WithDefaults).
type Options struct {
	MaxRows   int64 // per table, default 5,000,000
	MaxTables int   // per file, default 200
	MaxBytes  int64 // maximum size of formats that are read into memory, default 64 MiB; larger files are an error
	MaxUnpack int64 // maximum size that a container may unpack to, default 1 GiB
	Sample    int   // number of rows that each profile keeps, default none

	// Each, if not nil, gets the rows of all tables, and nothing is profiled, as with csvprofile.Options.Each. table is
	// the index of the table among those that Read returns. After an error, Each may be called again, and must return
	// an error again.
	Each func(table int, cells [][]byte) error
	// Begin, if not nil, is called before the first row of each table (csvprofile.Begin). A table that is begun may
	// turn out not to be worth keeping: then the next one has the same index.
	Begin func(table int, name string, columns []string, more bool) error
}

// Reader finds the tables of files of one kind. The options have no zero limits. What it has read before an error is
// returned with it.
type Reader func(context.Context, Input, Options) ([]*csvprofile.Profile, error)

// Readers are readers by the media type of their files.
type Readers map[string]Reader

// Types returns the media types in their order.
func (r Readers) Types() []string { return slices.Sorted(maps.Keys(r)) }

// Limit is the error about a file that is larger than what may be read of its format.
type Limit string

func (l Limit) Error() string { return string(l) }

// Within returns an error if the file is larger than most bytes.
func (in Input) Within(most int64) error {
	if in.Size > most {
		return Limit(fmt.Sprintf("%d bytes, at most %d are read", in.Size, most))
	}
	return nil
}

// Read reads a file as the reader does, and holds it to what all readers promise. Whatever the decoder makes of the
// bytes, the error is one of o.Each and o.Begin, of the context, a Limit, or one with ErrFormat in its chain, and is
// one line. After an error of o.Each or o.Begin, neither is called again.
func (r Reader) Read(ctx context.Context, in Input, o Options) (found []*csvprofile.Profile, err error) {
	var stop error // of who takes the rows
	if each := o.Each; each != nil {
		o.Each = func(table int, cells [][]byte) error {
			if stop == nil {
				stop = each(table, cells)
			}
			return stop
		}
	}
	if begin := o.Begin; begin != nil {
		o.Begin = func(table int, name string, columns []string, more bool) error {
			if stop == nil {
				stop = begin(table, name, columns, more)
			}
			return stop
		}
	}
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("%w: the decoder failed: %v", ErrFormat, x)
		}
		limit := Limit("")
		switch {
		case stop != nil:
			err = stop
		case err == nil:
		case ctx.Err() != nil:
			err = ctx.Err()
		case !errors.Is(err, ErrFormat) && !errors.As(err, &limit) && !errors.Is(err, budget.ErrSpent):
			err = oneLine{fmt.Errorf("%w: %w", ErrFormat, err)}
		default:
			err = oneLine{err}
		}
	}()
	return r(ctx, in, o.WithDefaults())
}

// oneLine is an error whose text is one line, and not a long one: those of decoders are joined, or quote the file.
type oneLine struct{ error }

const maxErrorText = 300

func (e oneLine) Error() string {
	text := strings.ToValidUTF8(strings.ReplaceAll(e.error.Error(), "\n", "; "), "?")
	text = strings.Map(func(c rune) rune {
		if c < ' ' || c == '\uFFFD' {
			return '?'
		}
		return c
	}, text)
	if len(text) > maxErrorText {
		text = strings.ToValidUTF8(text[:maxErrorText], "") + "…"
	}
	return text
}

func (e oneLine) Unwrap() error { return e.error }

// Reading returns the options for the rows of a table that is the next of a file's after those that have been found.
func (o Options) Reading(found int) csvprofile.Options {
	return csvprofile.Options{MaxRows: o.MaxRows, Sample: o.Sample, Each: o.RowsOf(found), Begin: o.BeginOf(found)}
}

// RowsOf returns Each for one table, nil if there is none.
func (o Options) RowsOf(table int) func([][]byte) error {
	if o.Each == nil {
		return nil
	}
	return func(cells [][]byte) error { return o.Each(table, cells) }
}

// BeginOf returns Begin for one table, nil if there is none.
func (o Options) BeginOf(table int) csvprofile.Begin {
	if o.Begin == nil {
		return nil
	}
	return func(name string, columns []string, more bool) error { return o.Begin(table, name, columns, more) }
}

// WithDefaults returns the options with defaults in the place of zeros.
func (o Options) WithDefaults() Options {
	if o.MaxRows == 0 {
		o.MaxRows = 5_000_000
	}
	if o.MaxTables == 0 {
		o.MaxTables = DefaultTables
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = 64 << 20
	}
	if o.MaxUnpack == 0 {
		o.MaxUnpack = 1 << 30
	}
	return o
}

// Worthwhile reports whether a profile describes a table.
func Worthwhile(p *csvprofile.Profile) bool { return p != nil && len(p.Columns) > 0 && p.Rows > 0 }

// Declared reports whether a profile describes a table of a format that says which columns its tables have. Such a
// table is one without rows, too.
func Declared(p *csvprofile.Profile) bool { return p != nil && len(p.Columns) > 0 }

// ReadRows profiles a table whose columns the file declares, as csvprofile.ReadRecords does. It returns nil if there
// are none, or if an error ended the rows before the first, and then that error; a table that has rows is kept in spite
// of it.
func ReadRows(ctx context.Context, name string, header []string, next func() ([]string, error), o csvprofile.Options) (*csvprofile.Profile,
	error) {
	var failed error
	p, err := csvprofile.ReadRecords(ctx, name, header, func() ([]string, error) {
		row, err := next()
		if err != nil && !errors.Is(err, io.EOF) {
			failed = err
		}
		return row, err
	}, o)
	if err != nil {
		return nil, err
	}
	if !Declared(p) || failed != nil && p.Rows == 0 {
		return nil, failed
	}
	return p, nil
}
