package ui

import (
	"context"
	"html/template"
	"io"

	"odarchive/crawler/archive/joins"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/diff"
	"odarchive/triplestore/term"
)

// Archive is what the pages read. Unknown things are errors that the program's problem table knows as 404.
// All methods may be called concurrently and stop when ctx ends.
type Archive interface {
	// Stats may be some seconds old.
	Stats(ctx context.Context) (catalog.Stats, error)
	// Search finds resources; the zero Search lists all.
	Search(ctx context.Context, s catalog.Search) (catalog.Found, error)
	// Resource is about one crawled URL.
	Resource(ctx context.Context, url string) (catalog.Resource, error)
	// Dataset is about one dataset of a portal.
	Dataset(ctx context.Context, iri string) (catalog.DatasetEntry, error)
	// Portals lists the sources, largest first.
	Portals(ctx context.Context) ([]catalog.Portal, error)
	// Versions of a URL, oldest first.
	Versions(ctx context.Context, url string) ([]catalog.Version, error)
	// Version by its id "{resource id}_{N}".
	Version(ctx context.Context, id string) (catalog.Version, error)
	// Inside says what a version holds: tables, RDF, the members of an archive; nil where there is nothing to tell.
	Inside(ctx context.Context, id string) (*inspect.Inside, error)
	// Joins lists the columns of other tables that share values with a version's, best first.
	Joins(ctx context.Context, versionID string) ([]joins.Match, error)
	// Change says how a version differs from the one before; nil where that is not known.
	Change(ctx context.Context, id string) (*diff.Summary, error)
	// Open gives a version's bytes as they were fetched; the caller closes.
	Open(ctx context.Context, id string) (io.ReadCloser, error)
	// Hosts says how crawling goes, busiest first; at most limit (0: all).
	Hosts(ctx context.Context, limit int) ([]catalog.HostHealth, error)
	// Activities lists fetches, newest first.
	Activities(ctx context.Context, q catalog.ActivityQuery) ([]catalog.Activity, error)
}

// Rows is the answer of a SELECT query; an unbound cell is the empty Key.
type Rows struct {
	Vars []string
	Rows [][]term.Key
	More bool // the answer goes on after the last row
}

// Select runs a SELECT query over the archive's triples and gives at most max rows.
type Select func(ctx context.Context, query string, max int) (Rows, error)

// Changes says what changed between two versions, in the terms of what they are (rows, columns, statements, paths). key
// names the columns by which rows are told apart, none: they are found. A key that does not fit is a *diff.KeyError.
type Changes func(ctx context.Context, from, to catalog.Version, key []string) (Comparison, error)

// Comparison is what changed.
type Comparison struct {
	HTML     template.HTML // a fragment whose text is all escaped
	Columns  []string      // of tables: those that both versions have, any of which may name rows
	Key      []string      // those that did
	KeyFound bool          // they were not given
}

// Describe gives the triples around an IRI (its concise bounded description and the links to it), at most max each.
type Describe func(ctx context.Context, iri string, max int) (out, in []term.Quad, err error)
