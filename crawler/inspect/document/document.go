// Package document reads what a file says of itself beside its tables: title, language, pages, the standard that it
// follows, and the attributes, dimensions and variables of scientific arrays.
//
// Read examines one file. Files are hostile input: what is read of them is bounded, a decoder that panics returns an
// error, and the facts are cut to Limits. The archive keeps a Document as JSON: field names are stable.
package document

import (
	"context"
	"fmt"
	"strings"

	"odarchive/crawler/inspect/tables/source"
)

// Document is what a file says of itself. Fields without a value are what it does not say.
type Document struct {
	Standard    string   `json:"standard,omitempty"` // name of what the file follows beyond its media type, as "GTFS"
	Conforms    string   `json:"conforms,omitempty"` // IRI of that standard
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	Creator     string   `json:"creator,omitempty"`   // person or organisation
	Languages   []string `json:"languages,omitempty"` // BCP 47, the main one first
	Created     string   `json:"created,omitempty"`   // date or dateTime of XSD
	Modified    string   `json:"modified,omitempty"`  // date or dateTime of XSD
	Software    string   `json:"software,omitempty"`  // that wrote the file
	Pages       int      `json:"pages,omitempty"`     // pages, slides
	Tables      int      `json:"tables,omitempty"`    // number of tables that are counted, but not read
	Encrypted   bool     `json:"encrypted,omitempty"` // the content needs a key

	Attributes []Attribute `json:"attributes,omitempty"`
	Dimensions []Dimension `json:"dimensions,omitempty"`
	Variables  []Variable  `json:"variables,omitempty"`
	Omitted    int         `json:"omitted,omitempty"` // attributes, dimensions and variables left out because of a limit
}

// Attribute is a named value.
type Attribute struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Dimension is an axis of arrays.
type Dimension struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
}

// Variable is an array, or a measure of a statistical cube.
type Variable struct {
	Name       string   `json:"name"`
	Title      string   `json:"title,omitempty"`
	Unit       string   `json:"unit,omitempty"`
	Datatype   string   `json:"datatype,omitempty"`   // XSD local name
	Dimensions []string `json:"dimensions,omitempty"` // names, the slowest first
}

// Limits of a Document.
const (
	maxText        = 1000 // bytes of a text
	maxDescription = 4000
	maxName        = 200
	maxLanguages   = 20
	maxAttributes  = 300
	maxDimensions  = 300
	maxVariables   = 1000
)

// reader reads the facts of a file of one kind into a Document.
type reader func(context.Context, source.Input, *Document) error

// readerOf returns the reader for a media type, nil if there is none.
func readerOf(mediaType string) reader {
	t, _, _ := strings.Cut(strings.ToLower(mediaType), ";")
	switch t = strings.TrimSpace(t); t {
	case "text/html", "application/xhtml+xml":
		return page
	case "application/epub+zip":
		return epub
	case "application/zip":
		return feed
	case "application/json":
		return jsonStat
	case "text/csv":
		return csv
	case "application/x-netcdf", "application/x-hdf5":
		return array
	case "application/pdf":
		return pdf
	case "application/x-ipynb+json":
		return notebook
	case "text/calendar":
		return calendar
	case "text/x-pcaxis":
		return pcAxis
	case "application/vnd.sdmx.data+json":
		return sdmxJSON
	case "application/vnd.sdmx.genericdata+xml", "application/vnd.sdmx.structurespecificdata+xml", "application/vnd.sdmx.structure+xml":
		return sdmxML
	}
	switch {
	case strings.HasPrefix(t, "application/vnd.openxmlformats-officedocument."), strings.HasPrefix(t, "application/vnd.ms-") &&
		strings.Contains(t, ".macroenabled."):
		return openXML
	case strings.HasPrefix(t, "application/vnd.oasis.opendocument.") && !strings.HasSuffix(t, "-flat-xml"):
		return openDocument
	}
	return nil
}

// Known reports whether Read finds facts in files of a media type.
func Known(mediaType string) bool { return readerOf(mediaType) != nil }

// Read returns what a file says of itself, nil if that is nothing. What has been read before an error is returned with
// it.
func Read(ctx context.Context, in source.Input) (d *Document, err error) {
	read := readerOf(in.Type)
	if read == nil {
		return nil, nil
	}
	found := &Document{}
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("document: %s: the decoder failed: %v", in.Type, x)
		}
		found.bound()
		if !found.empty() {
			d = found
		}
	}()
	if err := read(ctx, in, found); err != nil {
		return nil, fmt.Errorf("document: %w", err)
	}
	return nil, nil
}

// empty reports whether a document says nothing.
func (d *Document) empty() bool {
	return d.Standard == "" && d.Title == "" && d.Description == "" && d.Creator == "" && len(d.Languages) == 0 && d.Created == "" &&
		d.Modified == "" &&
		d.Software == "" && d.Pages == 0 && d.Tables == 0 && !d.Encrypted && len(d.Attributes) == 0 && len(d.Dimensions) == 0 &&
		len(d.Variables) == 0
}

// bound cuts texts and lists to the limits.
func (d *Document) bound() {
	for _, s := range []*string{&d.Title, &d.Creator, &d.Software} {
		*s = cut(*s, maxText)
	}
	d.Description = cut(d.Description, maxDescription)
	d.Standard, d.Conforms = cut(d.Standard, maxName), cut(d.Conforms, maxName)
	d.Created, d.Modified = xsdTime(d.Created), xsdTime(d.Modified)
	d.Languages = languages(d.Languages)
	d.Pages, d.Tables = max(d.Pages, 0), max(d.Tables, 0)
	d.Attributes = first(d, d.Attributes, maxAttributes)
	d.Dimensions = first(d, d.Dimensions, maxDimensions)
	d.Variables = first(d, d.Variables, maxVariables)
	for i := range d.Attributes {
		a := &d.Attributes[i]
		a.Name, a.Value = cut(a.Name, maxName), cut(a.Value, maxText)
	}
	for i := range d.Dimensions {
		d.Dimensions[i].Name = cut(d.Dimensions[i].Name, maxName)
	}
	for i := range d.Variables {
		v := &d.Variables[i]
		v.Name, v.Title, v.Unit = cut(v.Name, maxName), cut(v.Title, maxText), cut(v.Unit, maxName)
		v.Dimensions = v.Dimensions[:min(len(v.Dimensions), 32)]
		for j := range v.Dimensions {
			v.Dimensions[j] = cut(v.Dimensions[j], maxName)
		}
	}
}

// first returns the first n elements and counts the others as omitted.
func first[T any](d *Document, all []T, n int) []T {
	if len(all) <= n {
		return all
	}
	d.Omitted += len(all) - n
	return all[:n:n]
}

// Fit reduces a document to about n bytes of text and returns the number of bytes that it takes. It removes attributes
// first, then variables and dimensions, and counts them.
func (d *Document) Fit(n int) int {
	size := len(d.Title) + len(d.Description) + len(d.Creator) + len(d.Software) + 100
	if size > n {
		d.Title, d.Description, d.Creator, d.Software = cut(d.Title, n/4), "", "", ""
		size = len(d.Title) + 100
	}
	d.Dimensions = room(d, d.Dimensions, n, &size, func(x Dimension) int { return len(x.Name) + 30 })
	d.Variables = room(d, d.Variables, n, &size, func(x Variable) int {
		return len(x.Name) + len(x.Title) + len(x.Unit) + len(strings.Join(x.Dimensions, "___")) + 60
	})
	d.Attributes = room(d, d.Attributes, n, &size, func(x Attribute) int { return len(x.Name) + len(x.Value) + 30 })
	return size
}

// room returns the first elements that fit into n bytes together with size, which it increases.
func room[T any](d *Document, all []T, n int, size *int, length func(T) int) []T {
	for i, x := range all {
		if *size += length(x); *size > n {
			*size -= length(x)
			return first(d, all, i)
		}
	}
	return all
}
