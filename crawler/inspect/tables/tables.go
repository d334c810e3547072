// Package tables profiles the tables in files that are not delimited text: sheets of XLSX, XLS, ODS, SYLK and DIF, JSON
// arrays of objects or rows, NDJSON, GeoJSON features, lists of records in XML, tables in HTML, columns of fixed width,
// and those of the families of formats in the packages below it.
//
// Read finds the tables of a file and returns a csvprofile.Profile for each. Files are hostile input: sizes, rows and
// tables are limited, a decoder that panics returns an error, and a table that is cut off is marked as truncated.
package tables

import (
	"context"
	"fmt"
	"strings"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/arrays"
	"odarchive/crawler/inspect/tables/columnar"
	"odarchive/crawler/inspect/tables/cubes"
	"odarchive/crawler/inspect/tables/entries"
	"odarchive/crawler/inspect/tables/geo"
	"odarchive/crawler/inspect/tables/source"
	"odarchive/crawler/inspect/tables/sqlite"
	"odarchive/crawler/inspect/tables/statistical"
)

// ErrFormat is in the chain of errors about files that do not match their media type.
var ErrFormat = source.ErrFormat

// DefaultTables is the default of Options.MaxTables.
const DefaultTables = source.DefaultTables

// Input is a file that contains tables; Options are limits.
type (
	Input   = source.Input
	Options = source.Options
)

// readerOf returns the reader for a media type, nil if there is none.
func readerOf(mediaType string) source.Reader {
	t, _, _ := strings.Cut(strings.ToLower(mediaType), ";")
	switch t = strings.TrimSpace(t); t {
	case "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "application/vnd.ms-excel.sheet.macroenabled.12",
		"application/vnd.openxmlformats-officedocument.spreadsheetml.template":
		return xlsx
	case "application/vnd.ms-excel.sheet.binary.macroenabled.12":
		return xlsb
	case "application/vnd.ms-excel":
		return xlsBook
	case "application/vnd.oasis.opendocument.spreadsheet", "application/vnd.oasis.opendocument.spreadsheet-template":
		return ods
	case "application/json", "application/geo+json":
		return jsonArrays
	case "application/x-ndjson", "application/geo+json-seq":
		return jsonLines
	case "application/xml", "text/xml", "application/rss+xml", "application/atom+xml":
		return xmlRecords
	case "application/gml+xml":
		return gml
	case "text/html", "application/xhtml+xml":
		return htmlTables
	case "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
		"application/vnd.openxmlformats-officedocument.wordprocessingml.template",
		"application/vnd.ms-word.document.macroenabled.12", "application/vnd.ms-word.template.macroenabled.12":
		return wordTables
	case "application/vnd.oasis.opendocument.text", "application/vnd.oasis.opendocument.text-template":
		return openTables
	case "application/x-ipynb+json":
		return notebook
	case "application/x-sylk":
		return sylk
	case "application/x-dif":
		return dif
	}
	for _, family := range []func(mediaType string) source.Reader{
		columnar.Reader,
		geo.Reader,
		sqlite.Reader,
		cubes.Reader,
		statistical.Reader,
		arrays.Reader,
		entries.Reader,
	} {
		if r := family(t); r != nil {
			return r
		}
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
	found, err = read(ctx, in, o.WithDefaults())
	if err != nil {
		return found, fmt.Errorf("tables: %w", err)
	}
	return found, nil
}
