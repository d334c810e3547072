// Package tables profiles the tables in files that are no delimited text: sheets of XLSX, XLS and ODS, JSON arrays of
// objects, NDJSON, GeoJSON features, lists of records in XML, tables in HTML, Parquet, and columns of fixed width.
//
// Read finds the tables of a file and returns a csvprofile.Profile for each. Files come from strangers: sizes, rows,
// tables and time are limited, a decoder that panics ends its file with an error and nothing else, and a table that
// breaks off is told as truncated.
package tables

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"odarchive/crawler/inspect/csvprofile"
)

// ErrFormat is wrapped by errors about files that are not what their media type says.
var ErrFormat = errors.New("not a table that can be read")

// Input is a file with tables in it.
type Input struct {
	Type    string // media type
	Charset string // of texts, "" = UTF-8
	Size    int64
	Body    io.ReaderAt
	TempDir string // for what a decoder has to unpack; "" = the system's
}

// DefaultTables is how many tables of a file are read unless Options say otherwise.
const DefaultTables = 200

// Options are limits; zero fields take the default.
type Options struct {
	MaxRows   int64 // of each table, default 5,000,000
	MaxTables int   // of a file, default 200
	MaxBytes  int64 // of formats that have to be unpacked in memory, default 64 MiB; more is not read
	MaxUnpack int64 // bytes that a container may unpack to, default 1 GiB
	Sample    int   // first rows of each table that its profile keeps, default none
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

type reader func(context.Context, Input, Options) ([]*csvprofile.Profile, error)

// readerOf knows which reader a media type has; nil for none.
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

// Known tells whether Read looks for tables in files of a media type.
func Known(mediaType string) bool { return readerOf(mediaType) != nil }

// Read profiles the tables of a file. A file without tables gives none and no error. What could be read before an
// error is returned with it.
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

// worthwhile tells whether a profile is of a table at all.
func worthwhile(p *csvprofile.Profile) bool { return p != nil && len(p.Columns) > 0 && p.Rows > 0 }
