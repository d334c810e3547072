// Package results writes and reads the results of SELECT and ASK: SPARQL JSON, XML, CSV and TSV, and writes a text
// table and an HTML table for people.
//
// Both directions stream: Writers keep no rows (except that the text table holds its first hundred, to determine the
// width of its columns), and neither do Readers. Rows are term.Keys in the order of the variables; the empty Key is
// unbound. Readers are safe for untrusted input: rows, variables and nesting are limited.
//
// CSV contains the bare values, unchanged, as the SPARQL recommendation requires. Spreadsheets may run a value that
// begins with "=", "+", "-" or "@" as a formula. Only they can prevent that, since changing the value would falsify the
// result.
package results

import (
	"slices"
	"strings"
)

// Format is a format of results.
type Format byte

const (
	JSON  Format = iota // SPARQL 1.1 Query Results JSON Format
	XML                 // SPARQL Query Results XML Format
	CSV                 // SPARQL 1.1 Query Results CSV Format
	TSV                 // SPARQL 1.1 Query Results TSV Format
	Table               // text for a terminal
	HTML                // a <table> for a page; Table and HTML are only written
)

var formats = [...]struct {
	name, mediaType, extension string
	aliases                    []string
}{
	JSON:  {"json", "application/sparql-results+json", "srj", []string{"srj", "application/json"}},
	XML:   {"xml", "application/sparql-results+xml", "srx", []string{"srx", "application/xml", "text/xml"}},
	CSV:   {"csv", "text/csv", "csv", nil},
	TSV:   {"tsv", "text/tab-separated-values", "tsv", nil},
	Table: {"table", "text/plain", "txt", []string{"text", "txt"}},
	HTML:  {"html", "text/html", "html", nil},
}

// String returns the short name of the format.
func (f Format) String() string { return formats[f].name }

// MediaType returns the media type without parameters.
func (f Format) MediaType() string { return formats[f].mediaType }

// ContentType returns the media type with its parameters.
func (f Format) ContentType() string {
	switch f {
	case CSV:
		return "text/csv; charset=utf-8; header=present"
	case TSV, Table, HTML:
		return formats[f].mediaType + "; charset=utf-8"
	}
	return formats[f].mediaType
}

// ByName returns the format with a short name, extension or media type, in any case. It ignores parameters.
func ByName(name string) (Format, bool) {
	name, _, _ = strings.Cut(name, ";")
	name = strings.ToLower(strings.TrimSpace(name))
	for f, x := range formats {
		if name == x.name || name == x.mediaType || name == x.extension || slices.Contains(x.aliases, name) {
			return Format(f), true
		}
	}
	return 0, false
}
