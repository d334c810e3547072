// Package diff reports what changed between two versions of a file, in terms of what the file is.
//
// For tables, also those of workbooks, databases and archives (Side.Tables), it reports the schema (columns added,
// removed, renamed, retyped), then the rows added, removed and changed by key; for RDF, statements added and removed;
// for JSON and XML, paths. For other files, and for those that are not what they claim to be, it reports sizes and the
// range of bytes that differs. Counts cover everything; lists are limited (Options.List).
//
// The files are hostile input. Memory is bounded (Options.Memory; rows that do not fit are compared in several passes),
// reading stops with the context, and if a file defeats its parser, its bytes are compared and Report.Why gives the
// reason.
package diff

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"strings"

	"odarchive/triplestore/rdfio"
)

// Side is one of the two versions.
type Side struct {
	R       io.ReaderAt
	Size    int64
	Type    string   // media type
	Charset string   // "" = UTF-8
	Dialect *Dialect // of a table; nil = detect it
	Schema  *Schema  // of a table, if known; nil = read it

	// Tables are those of a file that is neither delimited text nor another kind that is compared as such; Whole
	// reports that they are all that the file says, apart from how it is written.
	Tables []TableRows
	Whole  bool

	table *TableRows // one of Tables, if the side is only that
}

// Options are options of Compare. The zero value is ready to use.
type Options struct {
	List   int      // maximum entries of each list in a report; 0 = 100, negative = none
	Offset int      // rows of each list of a table that are left out, those before a page of it
	Key    []string // columns that identify a row; empty = find one
	Memory int64    // approximate memory for the comparison in bytes; 0 = 128 MiB
	Limit  int64    // size in bytes above which only bytes are compared; 0 = 1 GiB
}

func (o Options) withDefaults() Options {
	if o.List == 0 {
		o.List = 100
	}
	o.List, o.Offset = max(o.List, 0), max(o.Offset, 0)
	if o.Memory <= 0 {
		o.Memory = 128 << 20
	}
	if o.Limit <= 0 {
		o.Limit = 1 << 30
	}
	return o
}

// Kind is a kind of comparison.
type Kind string

// The kinds, as in arc:changeKind.
const (
	Tables Kind = "table"
	RDF    Kind = "rdf"
	JSON   Kind = "json"
	XML    Kind = "xml"
	Bytes  Kind = "bytes"
)

// Summary is a change in figures, which become triples of the new version.
type Summary struct {
	Kind           Kind  `json:"kind"`
	Part           bool  `json:"part,omitempty"` // rows are counted in those that were read: a table has more
	Same           bool  `json:"same"`           // nothing changed in terms of the kind; the bytes may still differ
	RowsAdded      int64 `json:"rowsAdded,omitempty"`
	RowsRemoved    int64 `json:"rowsRemoved,omitempty"`
	RowsChanged    int64 `json:"rowsChanged,omitempty"`
	ColumnsAdded   int64 `json:"columnsAdded,omitempty"`
	ColumnsRemoved int64 `json:"columnsRemoved,omitempty"`
	ColumnsRenamed int64 `json:"columnsRenamed,omitempty"`
	ColumnsRetyped int64 `json:"columnsRetyped,omitempty"`
	TriplesAdded   int64 `json:"triplesAdded,omitempty"`
	TriplesRemoved int64 `json:"triplesRemoved,omitempty"`
	PathsAdded     int64 `json:"pathsAdded,omitempty"`
	PathsRemoved   int64 `json:"pathsRemoved,omitempty"`
	PathsChanged   int64 `json:"pathsChanged,omitempty"`
	SizeFrom       int64 `json:"sizeFrom"`
	SizeTo         int64 `json:"sizeTo"`
	BytesChanged   int64 `json:"bytesChanged"` // in the new version, from the first to the last byte that differs
}

// Report is a change with its lists. At most one of Table, Triples and Paths is set.
type Report struct {
	Summary
	Why   string   `json:"why,omitempty"` // why only bytes were compared, if the file's kind is another
	Table *Table   `json:"table,omitempty"`
	More  []*Table `json:"more,omitempty"` // other tables of the same file that changed

	// Names of the tables that only one version has, of a file with several.
	TablesAdded   []string `json:"tablesAdded,omitempty"`
	TablesRemoved []string `json:"tablesRemoved,omitempty"`

	Triples *Triples `json:"triples,omitempty"`
	Paths   *Paths   `json:"paths,omitempty"`
	Range   Range    `json:"range"`
}

// Range is the number of bytes that both versions have in common at the start and at the end.
type Range struct {
	Prefix int64 `json:"prefix"`
	Suffix int64 `json:"suffix"`
}

// KeyError reports that rows cannot be identified by the given key.
type KeyError struct {
	Column  string   // the missing column; "" if the versions are not tables
	Columns []string // common to both versions
}

func (e *KeyError) Error() string {
	switch {
	case e.Column == "":
		return "a key names columns of a table, and these versions are not both tables"
	case len(e.Columns) == 0:
		return fmt.Sprintf("the key column %q is not in both versions, which have no column in common", e.Column)
	}
	return fmt.Sprintf("the key column %q is not in both versions; they have %s", e.Column, strings.Join(e.Columns, ", "))
}

// Compare reports what changed from one version to another. It returns an error if reading fails, if ctx ends, and if a
// key does not fit (*KeyError). Files that cannot be parsed are compared as bytes.
func Compare(ctx context.Context, from, to Side, o Options) (*Report, error) {
	o = o.withDefaults()
	r := &Report{Summary: Summary{Kind: Bytes, SizeFrom: from.Size, SizeTo: to.Size}}
	if err := r.compareBytes(ctx, from, to); err != nil {
		return nil, fmt.Errorf("diff: %w", err)
	}
	kind, former := kindOf(to.Type), kindOf(from.Type)
	if kind == Bytes && former == Bytes && len(from.Tables) > 0 && len(to.Tables) > 0 {
		kind, former = Tables, Tables
	}
	switch {
	case len(o.Key) > 0 && (kind != Tables || former != Tables):
		return nil, &KeyError{}
	case r.Same:
		return r, nil
	case kind == Bytes:
		return r, nil
	case former != kind:
		r.Why = "one version is " + nameOf(from.Type) + ", the other " + nameOf(to.Type)
		return r, nil
	case max(from.Size, to.Size) > o.Limit:
		r.Why = fmt.Sprintf("files of more than %d bytes are compared as bytes only", o.Limit)
		return r, nil
	}
	full := *r
	full.Kind = kind
	err := full.compareAs(ctx, kind, from, to, o)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("diff: %w", context.Cause(ctx))
	}
	var key *KeyError
	if errors.As(err, &key) {
		return nil, key
	}
	switch {
	case errors.Is(err, errSameTables):
		r.Why = err.Error()
		return r, nil
	case err != nil:
		r.Why = "it cannot be compared as " + string(kind) + ": " + err.Error()
		return r, nil
	}
	return &full, nil
}

// compareAs compares files as kind. A parser's panic becomes an error.
func (r *Report) compareAs(ctx context.Context, kind Kind, from, to Side, o Options) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("its parser failed: %v", v)
		}
	}()
	switch kind {
	case Tables:
		if kindOf(to.Type) != Tables {
			return r.compareSeveral(ctx, from, to, o)
		}
		return r.compareTables(ctx, from, to, o)
	case RDF:
		return r.compareRDF(ctx, from, to, o)
	}
	return r.compareTrees(ctx, kind, from, to, o)
}

func nameOf(mediaType string) string {
	if mediaType == "" {
		return "of no known type"
	}
	return mediaType
}

func kindOf(mediaType string) Kind {
	t, _, err := mime.ParseMediaType(mediaType)
	if err != nil {
		t = strings.ToLower(strings.TrimSpace(mediaType))
	}
	switch t {
	case "text/csv", "text/tab-separated-values", "application/csv":
		return Tables
	case "application/json", "text/json", "application/geo+json":
		return JSON
	case "application/xml", "text/xml", "image/svg+xml", "application/gml+xml":
		return XML
	}
	if _, ok := rdfio.ByMediaType(t); ok {
		return RDF
	}
	switch {
	case strings.HasSuffix(t, "+json"):
		return JSON
	case strings.HasSuffix(t, "+xml"):
		return XML
	}
	return Bytes
}

// reader returns the whole side. It stops with the context.
func (s Side) reader(ctx context.Context) io.Reader {
	return &contextReader{ctx, io.NewSectionReader(s.R, 0, s.Size)}
}

type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *contextReader) Read(p []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.r.Read(p)
}
