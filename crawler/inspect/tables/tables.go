// Package tables profiles the tables in files that are not delimited text: sheets of XLSX, XLS and ODS, JSON arrays of
// objects or rows, NDJSON, GeoJSON features, lists of records in XML, tables in HTML, Parquet, and columns of fixed
// width.
//
// Read finds the tables of a file and returns a csvprofile.Profile for each. Files are hostile input: sizes, rows and
// tables are limited, a decoder that panics returns an error, and a table that is cut off is marked as truncated.
package tables

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

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
}

// DefaultTables is the default of Options.MaxTables.
const DefaultTables = 200

// Options are limits. Zero fields take the default.
type Options struct {
	MaxRows   int64 // per table, default 5,000,000
	MaxTables int   // per file, default 200
	MaxBytes  int64 // maximum size of formats that are read into memory, default 64 MiB; larger files are an error
	MaxUnpack int64 // maximum size that a container may unpack to, default 1 GiB
	Sample    int   // number of rows that each profile keeps, default none

	// Each, if not nil, gets the rows of all tables, and nothing is profiled, as with csvprofile.Options.Each. table is the
	// index of the table among those that Read returns. After an error, Each may be called again, and must return an error again.
	Each func(table int, cells [][]byte) error
}

// reading returns the options for the rows of a table that is the next of a file's after those that have been found.
func (o Options) reading(found int) csvprofile.Options {
	return csvprofile.Options{MaxRows: o.MaxRows, Sample: o.Sample, Each: o.rowsOf(found)}
}

// rowsOf returns Each for one table.
func (o Options) rowsOf(table int) func([][]byte) error {
	if o.Each == nil {
		return nil
	}
	return func(cells [][]byte) error { return o.Each(table, cells) }
}

func (o Options) withDefaults() Options {
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

// reader finds the tables of files of one kind.
type reader func(context.Context, Input, Options) ([]*csvprofile.Profile, error)

// readerOf returns the reader for a media type, nil if there is none.
func readerOf(mediaType string) reader {
	t, _, _ := strings.Cut(strings.ToLower(mediaType), ";")
	switch t = strings.TrimSpace(t); t {
	case "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "application/vnd.ms-excel.sheet.macroenabled.12",
		"application/vnd.openxmlformats-officedocument.spreadsheetml.template":
		return xlsx
	case "application/vnd.ms-excel":
		return xlsBook
	case "application/vnd.oasis.opendocument.spreadsheet", "application/vnd.oasis.opendocument.spreadsheet-template":
		return ods
	case "application/json", "application/geo+json":
		return jsonArrays
	case "application/x-ndjson", "application/geo+json-seq":
		return jsonLines
	case "application/xml", "text/xml", "application/rss+xml", "application/atom+xml", "application/gml+xml":
		return xmlRecords
	case "text/html", "application/xhtml+xml":
		return htmlTables
	case "application/vnd.apache.parquet":
		return parquetFile
	}
	return nil
}

// Known reports whether Read finds tables in files of a media type.
func Known(mediaType string) bool { return readerOf(mediaType) != nil }

// Read profiles the tables of a file. If the file has none, Read returns none and no error. What has been read before
// an error is returned with it.
func Read(ctx context.Context, in Input, o Options) (found []*csvprofile.Profile, err error) {
	read := readerOf(in.Type)
	if read == nil {
		return nil, fmt.Errorf("tables: %s: %w", in.Type, ErrFormat)
	}
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("tables: %s: %w: the decoder failed: %v", in.Type, ErrFormat, x)
		}
	}()
	found, err = read(ctx, in, o.withDefaults())
	if err != nil {
		return found, fmt.Errorf("tables: %w", err)
	}
	return found, nil
}

// worthwhile reports whether a profile describes a table.
func worthwhile(p *csvprofile.Profile) bool { return p != nil && len(p.Columns) > 0 && p.Rows > 0 }
