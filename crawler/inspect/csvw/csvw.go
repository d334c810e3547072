// Package csvw reads the metadata of CSV on the Web and converts tables with it to RDF.
//
// Parse reads a metadata document after "Metadata Vocabulary for Tabular Data" (W3C Recommendation, 17 December 2015).
// Convert finds the metadata of a CSV file as "Model for Tabular Data and Metadata on the Web" says, reads the table
// with it and returns the triples of "Generating RDF from Tabular Data on the Web", in standard or minimal mode.
//
// An invalid property is a warning if the specification has a default for it, and an error if it ends processing. The
// package fetches nothing: documents and tables come from the caller's Load.
package csvw

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// ErrMetadata is in the chain of errors about documents that cannot be processed.
var ErrMetadata = errors.New("invalid metadata")

// Load returns the bytes at a URL. An error with fs.ErrNotExist in its chain means that there are none.
type Load func(url string) ([]byte, error)

// Group is a normalized group of tables.
type Group struct {
	ID       string
	Tables   []*Table
	Common   []property
	Warnings []string
}

// Table is the description of one table.
type Table struct {
	URL      string
	ID       string
	Suppress bool
	Schema   *Schema
	Dialect  *Dialect
	Common   []property
}

// Schema describes the columns of a table.
type Schema struct {
	ID          string
	Columns     []*Column
	PrimaryKey  []string
	RowTitles   []string
	ForeignKeys []foreignKey
	Common      []property
	bare        bool      // the description of the columns is invalid: they have no names
	inherited   inherited // by columns without a description
}

// Column describes a column, including what it inherits.
type Column struct {
	ID       string
	Name     string
	Titles   []Title
	Virtual  bool
	Suppress bool
	Common   []property
	fallback string // name derived from the first title in the document's language, if there is no name
	inherited
}

// Title is the title of a column, in a language ("und" if unknown).
type Title struct{ Text, Lang string }

// Dialect says how a table is written.
type Dialect struct {
	CommentPrefix    string
	Delimiter        string
	DoubleQuote      bool
	Encoding         string
	HeaderRowCount   int
	QuoteChar        string
	SkipBlankRows    bool
	SkipColumns      int
	SkipInitialSpace bool
	SkipRows         int
	Trim             string // "true" "false" "start" "end"
}

// defaultDialect returns the dialect of tables without a description of it.
func defaultDialect() *Dialect {
	return &Dialect{Delimiter: ",", DoubleQuote: true, Encoding: "utf-8", HeaderRowCount: 1, QuoteChar: `"`, Trim: "false"}
}

// inherited are the properties that columns inherit from schema, table and group.
type inherited struct {
	aboutURL, propertyURL, valueURL, separator *string
	datatype                                   *Datatype
	deflt, lang                                *string
	null                                       []string
	ordered, required                          *bool
}

// under returns i with what is not set taken from up.
func (i inherited) under(up inherited) inherited {
	i.aboutURL, i.propertyURL, i.valueURL = cmp.Or(i.aboutURL, up.aboutURL), cmp.Or(i.propertyURL, up.propertyURL), cmp.Or(i.valueURL, up.valueURL)
	i.separator, i.deflt, i.lang = cmp.Or(i.separator, up.separator), cmp.Or(i.deflt, up.deflt), cmp.Or(i.lang, up.lang)
	i.datatype, i.ordered, i.required = cmp.Or(i.datatype, up.datatype), cmp.Or(i.ordered, up.ordered), cmp.Or(i.required, up.required)
	if i.null == nil {
		i.null = up.null
	}
	return i
}

// property is a common property or a note, as JSON.
type property struct {
	iri   string
	value any
	lang  string // default language of its strings
	base  string
}

type foreignKey struct {
	columns   []string
	resource  string
	schema    string
	reference []string
}

// resolve returns ref as an absolute IRI.
func resolve(base, ref string) string {
	b, err := url.Parse(base)
	if err != nil {
		return ref
	}
	r, err := url.Parse(ref)
	if err != nil {
		return ref
	}
	if r.IsAbs() {
		return ref
	}
	if ref == "" {
		b.Fragment = ""
		return b.String()
	}
	if strings.HasPrefix(ref, "#") {
		whole, _, _ := strings.Cut(base, "#")
		return whole + ref
	}
	return b.ResolveReference(r).String()
}

// prefixes are those of the RDFa initial context, which CSVW documents may use without declaring them.
var prefixes = map[string]string{
	"csvw":    "http://www.w3.org/ns/csvw#",
	"dcat":    "http://www.w3.org/ns/dcat#",
	"qb":      "http://purl.org/linked-data/cube#",
	"grddl":   "http://www.w3.org/2003/g/data-view#",
	"ma":      "http://www.w3.org/ns/ma-ont#",
	"org":     "http://www.w3.org/ns/org#",
	"owl":     "http://www.w3.org/2002/07/owl#",
	"prov":    "http://www.w3.org/ns/prov#",
	"rdf":     "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
	"rdfa":    "http://www.w3.org/ns/rdfa#",
	"rdfs":    "http://www.w3.org/2000/01/rdf-schema#",
	"rif":     "http://www.w3.org/2007/rif#",
	"rr":      "http://www.w3.org/ns/r2rml#",
	"sd":      "http://www.w3.org/ns/sparql-service-description#",
	"skos":    "http://www.w3.org/2004/02/skos/core#",
	"skosxl":  "http://www.w3.org/2008/05/skos-xl#",
	"wdr":     "http://www.w3.org/2007/05/powder#",
	"void":    "http://rdfs.org/ns/void#",
	"wdrs":    "http://www.w3.org/2007/05/powder-s#",
	"xhv":     "http://www.w3.org/1999/xhtml/vocab#",
	"xml":     "http://www.w3.org/XML/1998/namespace",
	"xsd":     "http://www.w3.org/2001/XMLSchema#",
	"as":      "https://www.w3.org/ns/activitystreams#",
	"cc":      "http://creativecommons.org/ns#",
	"ctag":    "http://commontag.org/ns#",
	"dc":      "http://purl.org/dc/terms/",
	"dcterms": "http://purl.org/dc/terms/",
	"dc11":    "http://purl.org/dc/elements/1.1/",
	"dctypes": "http://purl.org/dc/dcmitype/",
	"foaf":    "http://xmlns.com/foaf/0.1/",
	"gr":      "http://purl.org/goodrelations/v1#",
	"ical":    "http://www.w3.org/2002/12/cal/icaltzd#",
	"ldp":     "http://www.w3.org/ns/ldp#",
	"oa":      "http://www.w3.org/ns/oa#",
	"og":      "http://ogp.me/ns#",
	"rev":     "http://purl.org/stuff/rev#",
	"schema":  "http://schema.org/",
	"sioc":    "http://rdfs.org/sioc/ns#",
	"time":    "http://www.w3.org/2006/time#",
	"v":       "http://rdf.data-vocabulary.org/#",
	"vcard":   "http://www.w3.org/2006/vcard/ns#",
}

// expand returns the IRI of a prefixed name or an absolute URL. ok is false for anything else.
func expand(name string) (string, bool) {
	p, local, ok := strings.Cut(name, ":")
	if !ok {
		return "", false
	}
	if ns, known := prefixes[p]; known {
		return ns + local, true
	}
	if u, err := url.Parse(name); err == nil && u.IsAbs() && (u.Host != "" || u.Scheme == "urn" || u.Scheme == "mailto") {
		return name, true
	}
	return "", false
}

func invalid(format string, a ...any) error {
	return fmt.Errorf("csvw: %w: %s", ErrMetadata, fmt.Sprintf(format, a...))
}
