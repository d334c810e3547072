// Package csvw reads the metadata of CSV on the Web and converts tables with it to RDF.
//
// Parse reads a metadata document after "Metadata Vocabulary for Tabular Data" (W3C Recommendation, 17 December 2015);
// Convert finds the metadata of a CSV file as "Model for Tabular Data and Metadata on the Web" says, reads the table
// with it and gives the triples of "Generating RDF from Tabular Data on the Web", in standard or minimal mode.
//
// What a document gets wrong is told as a warning where the specification has a default to fall back to, and as an
// error where it says that processing ends. Nothing is fetched here: documents and tables come from the caller's Load.
package csvw

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// ErrMetadata is wrapped by errors about documents that cannot be processed.
var ErrMetadata = errors.New("invalid metadata")

// Load gives the bytes at a URL. An error that wraps fs.ErrNotExist means that there is nothing.
type Load func(url string) ([]byte, error)

// Group is a group of tables, normalized.
type Group struct {
	ID       string
	Tables   []*Table
	Common   []property
	Warnings []string
}

// Table is one table's description.
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
	bare        bool      // what should have described the columns was invalid: they have no names
	inherited   inherited // by columns that are not described
}

// Column describes a column with everything it inherits.
type Column struct {
	ID       string
	Name     string
	Titles   []Title
	Virtual  bool
	Suppress bool
	Common   []property
	fallback string // name made of the first title in the document's language, where there is no name
	inherited
}

// Title of a column, in a language ("und" where it is not said).
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

func defaultDialect() *Dialect {
	return &Dialect{Delimiter: ",", DoubleQuote: true, Encoding: "utf-8", HeaderRowCount: 1, QuoteChar: `"`, Trim: "false"}
}

// inherited are the properties that columns take from schema, table and group.
type inherited struct {
	aboutURL, propertyURL, valueURL, separator *string
	datatype                                   *Datatype
	deflt, lang                                *string
	null                                       []string
	ordered, required                          *bool
}

// under fills what is not set from above.
func (i inherited) under(up inherited) inherited {
	pick := func(a, b *string) *string {
		if a != nil {
			return a
		}
		return b
	}
	i.aboutURL, i.propertyURL, i.valueURL = pick(i.aboutURL, up.aboutURL), pick(i.propertyURL, up.propertyURL), pick(i.valueURL, up.valueURL)
	i.separator, i.deflt, i.lang = pick(i.separator, up.separator), pick(i.deflt, up.deflt), pick(i.lang, up.lang)
	if i.datatype == nil {
		i.datatype = up.datatype
	}
	if i.null == nil {
		i.null = up.null
	}
	if i.ordered == nil {
		i.ordered = up.ordered
	}
	if i.required == nil {
		i.required = up.required
	}
	return i
}

// property is a common property, or a note, still as JSON.
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

// resolve makes an IRI absolute.
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
func prefix(p string) (string, bool) {
	switch p {
	case "csvw":
		return "http://www.w3.org/ns/csvw#", true
	case "dcat":
		return "http://www.w3.org/ns/dcat#", true
	case "qb":
		return "http://purl.org/linked-data/cube#", true
	case "grddl":
		return "http://www.w3.org/2003/g/data-view#", true
	case "ma":
		return "http://www.w3.org/ns/ma-ont#", true
	case "org":
		return "http://www.w3.org/ns/org#", true
	case "owl":
		return "http://www.w3.org/2002/07/owl#", true
	case "prov":
		return "http://www.w3.org/ns/prov#", true
	case "rdf":
		return "http://www.w3.org/1999/02/22-rdf-syntax-ns#", true
	case "rdfa":
		return "http://www.w3.org/ns/rdfa#", true
	case "rdfs":
		return "http://www.w3.org/2000/01/rdf-schema#", true
	case "rif":
		return "http://www.w3.org/2007/rif#", true
	case "rr":
		return "http://www.w3.org/ns/r2rml#", true
	case "sd":
		return "http://www.w3.org/ns/sparql-service-description#", true
	case "skos":
		return "http://www.w3.org/2004/02/skos/core#", true
	case "skosxl":
		return "http://www.w3.org/2008/05/skos-xl#", true
	case "wdr":
		return "http://www.w3.org/2007/05/powder#", true
	case "void":
		return "http://rdfs.org/ns/void#", true
	case "wdrs":
		return "http://www.w3.org/2007/05/powder-s#", true
	case "xhv":
		return "http://www.w3.org/1999/xhtml/vocab#", true
	case "xml":
		return "http://www.w3.org/XML/1998/namespace", true
	case "xsd":
		return "http://www.w3.org/2001/XMLSchema#", true
	case "as":
		return "https://www.w3.org/ns/activitystreams#", true
	case "cc":
		return "http://creativecommons.org/ns#", true
	case "ctag":
		return "http://commontag.org/ns#", true
	case "dc", "dcterms":
		return "http://purl.org/dc/terms/", true
	case "dc11":
		return "http://purl.org/dc/elements/1.1/", true
	case "dctypes":
		return "http://purl.org/dc/dcmitype/", true
	case "foaf":
		return "http://xmlns.com/foaf/0.1/", true
	case "gr":
		return "http://purl.org/goodrelations/v1#", true
	case "ical":
		return "http://www.w3.org/2002/12/cal/icaltzd#", true
	case "ldp":
		return "http://www.w3.org/ns/ldp#", true
	case "oa":
		return "http://www.w3.org/ns/oa#", true
	case "og":
		return "http://ogp.me/ns#", true
	case "rev":
		return "http://purl.org/stuff/rev#", true
	case "schema":
		return "http://schema.org/", true
	case "sioc":
		return "http://rdfs.org/sioc/ns#", true
	case "time":
		return "http://www.w3.org/2006/time#", true
	case "v":
		return "http://rdf.data-vocabulary.org/#", true
	case "vcard":
		return "http://www.w3.org/2006/vcard/ns#", true
	}
	return "", false
}

// expand turns a prefixed name or an absolute URL into an IRI.
func expand(name string) (string, bool) {
	p, local, ok := strings.Cut(name, ":")
	if !ok {
		return "", false
	}
	if ns, known := prefix(p); known {
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
