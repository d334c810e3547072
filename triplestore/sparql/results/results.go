// Package results writes and reads the results of SELECT and ASK: SPARQL JSON, XML, CSV and TSV, and writes a text
// table and an HTML table for people.
//
// Both directions stream: a Writer keeps no row it has been given (the text table keeps its first hundred, to find the
// width of its columns), a Reader no row it has handed out. Rows are term.Keys in the order of the variables; the
// empty Key is unbound. Readers take the answers of strangers: terms, rows and nesting are limited and nothing panics.
//
// CSV gives the bare values, exactly as they are, as the SPARQL recommendation asks. A value that begins with "=", "+",
// "-" or "@" is a formula to a spreadsheet: that is for the spreadsheet's import to refuse, changing it here would make
// the result wrong.
package results

import "strings"

// Format of results.
type Format byte

const (
	JSON  Format = iota // SPARQL 1.1 Query Results JSON Format
	XML                 // SPARQL Query Results XML Format
	CSV                 // SPARQL 1.1 Query Results CSV Format
	TSV                 // ... and TSV
	Table               // text for a terminal
	HTML                // a <table> to put into a page; written only
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

// String is the format's short name.
func (f Format) String() string { return formats[f].name }

// MediaType without parameters.
func (f Format) MediaType() string { return formats[f].mediaType }

// Extension of file names, without the dot.
func (f Format) Extension() string { return formats[f].extension }

// ContentType is the media type with its parameters.
func (f Format) ContentType() string {
	switch f {
	case CSV:
		return "text/csv; charset=utf-8; header=present"
	case TSV, Table, HTML:
		return formats[f].mediaType + "; charset=utf-8"
	}
	return formats[f].mediaType
}

// ByName finds a format by its short name, extension or media type (parameters are passed over), in any case.
func ByName(name string) (Format, bool) {
	name, _, _ = strings.Cut(name, ";")
	name = strings.ToLower(strings.TrimSpace(name))
	for f, x := range formats {
		if name == x.name || name == x.mediaType || name == x.extension {
			return Format(f), true
		}
		for _, a := range x.aliases {
			if name == a {
				return Format(f), true
			}
		}
	}
	return 0, false
}
