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
	"maps"
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

// Readers returns the reader of each media type whose tables are read. A format is a line here or in its family, and a
// sample of the conformance suite.
func Readers() source.Readers {
	all := source.Readers{
		"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet":    xlsx,
		"application/vnd.ms-excel.sheet.macroenabled.12":                       xlsx,
		"application/vnd.openxmlformats-officedocument.spreadsheetml.template": xlsx,
		"application/vnd.ms-excel.sheet.binary.macroenabled.12":                xlsb,
		"application/vnd.ms-excel":                                             xlsBook,
		"application/vnd.oasis.opendocument.spreadsheet":                       ods,
		"application/vnd.oasis.opendocument.spreadsheet-template":              ods,
		"application/json":         jsonArrays,
		"application/geo+json":     jsonArrays,
		"application/x-ndjson":     jsonLines,
		"application/geo+json-seq": jsonLines,
		"application/xml":          xmlRecords,
		"text/xml":                 xmlRecords,
		"application/rss+xml":      xmlRecords,
		"application/atom+xml":     xmlRecords,
		"application/gml+xml":      gml,
		"text/html":                htmlTables,
		"application/xhtml+xml":    htmlTables,
		"application/vnd.openxmlformats-officedocument.wordprocessingml.document": wordTables,
		"application/vnd.openxmlformats-officedocument.wordprocessingml.template": wordTables,
		"application/vnd.ms-word.document.macroenabled.12":                        wordTables,
		"application/vnd.ms-word.template.macroenabled.12":                        wordTables,
		"application/vnd.oasis.opendocument.text":                                 openTables,
		"application/vnd.oasis.opendocument.text-template":                        openTables,
		"application/x-ipynb+json":                                                notebook,
		"application/x-sylk":                                                      sylk,
		"application/x-dif":                                                       dif,
	}
	for _, family := range []source.Readers{
		columnar.Readers(),
		geo.Readers(),
		sqlite.Readers(),
		cubes.Readers(),
		statistical.Readers(),
		arrays.Readers(),
		entries.Readers(),
	} {
		maps.Copy(all, family)
	}
	return all
}

// readerOf returns the reader for a media type, nil if there is none.
func readerOf(mediaType string) source.Reader {
	t, _, _ := strings.Cut(strings.ToLower(mediaType), ";")
	return Readers()[strings.TrimSpace(t)]
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
	if found, err = read.Read(ctx, in, o); err != nil {
		return found, fmt.Errorf("tables: %w", err)
	}
	return found, nil
}
