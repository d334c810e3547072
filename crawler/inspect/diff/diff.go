// Package diff says what changed between two versions of a file, in the terms of what the file is.
//
// For tables: first the schema (columns added, removed, renamed, of another type), then the rows added, removed and changed by
// key. For RDF: statements added and removed. For JSON and XML: paths. For everything else, and for what cannot be read
// as what it claims to be: sizes and the stretch of bytes that differs. Counts are always of everything; what is listed is
// capped (Options.List).
//
// The files are a stranger's. Memory is bounded (Options.Memory; more rows than fit are compared in several passes), reading
// stops with the context, and whatever a file does to a parser ends in a comparison of bytes, with the reason in Report.Why.
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
	Charset string   // "" for UTF-8
	Dialect *Dialect // of a table; nil: found
	Schema  *Schema  // of a table, where it is known; nil: found
}

// Options of Compare. The zero value is good.
type Options struct {
	List   int      // entries of each list in a report; 0 for 100, negative for none
	Key    []string // columns that name a row; none: found
	Memory int64    // bytes to compare in, about; 0 for 128 MiB
	Limit  int64    // bytes of a file beyond which only its bytes are compared; 0 for 1 GiB
}

func (o Options) withDefaults() Options {
	if o.List == 0 {
		o.List = 100
	}
	o.List = max(o.List, 0)
	if o.Memory <= 0 {
		o.Memory = 128 << 20
	}
	if o.Limit <= 0 {
		o.Limit = 1 << 30
	}
	return o
}

// Kind of comparison.
type Kind string

// The kinds, as arc:changeKind has them.
const (
	Tables Kind = "table"
	RDF    Kind = "rdf"
	JSON   Kind = "json"
	XML    Kind = "xml"
	Bytes  Kind = "bytes"
)

// Summary is a change in figures: what becomes triples on the new version.
type Summary struct {
	Kind           Kind  `json:"kind"`
	Same           bool  `json:"same"` // nothing changed in terms of the kind; the bytes may differ still
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
	BytesChanged   int64 `json:"bytesChanged"` // of the new version, from the first to the last byte that differs
}

// Report is a change with its lists. Of Table, Triples and Paths at most one is set.
type Report struct {
	Summary
	Why     string   `json:"why,omitempty"` // why only bytes were compared, where that is not the file's kind
	Table   *Table   `json:"table,omitempty"`
	Triples *Triples `json:"triples,omitempty"`
	Paths   *Paths   `json:"paths,omitempty"`
	Range   Range    `json:"range"`
}

// Range is the stretch outside of which both versions are the same: common bytes before and behind it.
type Range struct {
	Prefix int64 `json:"prefix"`
	Suffix int64 `json:"suffix"`
}

// KeyError says why rows cannot be told apart by the key that was asked for.
type KeyError struct {
	Column  string   // that is missing; "" where there is no table
	Columns []string // that both versions have
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

// Compare says what changed from one version to another. The error is for reading that failed, for the context, and for a
// key that does not fit (*KeyError); files that cannot be understood are compared as bytes.
func Compare(ctx context.Context, from, to Side, o Options) (*Report, error) {
	o = o.withDefaults()
	r := &Report{Summary: Summary{Kind: Bytes, SizeFrom: from.Size, SizeTo: to.Size}}
	if err := r.compareBytes(ctx, from, to); err != nil {
		return nil, fmt.Errorf("diff: %w", err)
	}
	kind := kindOf(to.Type)
	switch {
	case len(o.Key) > 0 && (kind != Tables || kindOf(from.Type) != Tables):
		return nil, &KeyError{}
	case r.Same:
		return r, nil
	case kind == Bytes:
		return r, nil
	case kindOf(from.Type) != kind:
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
	if err != nil {
		r.Why = "it cannot be compared as " + string(kind) + ": " + err.Error()
		return r, nil
	}
	return &full, nil
}

// compareAs keeps the parsers' surprises in.
func (r *Report) compareAs(ctx context.Context, kind Kind, from, to Side, o Options) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("its parser gave up: %v", v)
		}
	}()
	switch kind {
	case Tables:
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

// section is the whole side for a parser, that stops with the context.
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
