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

// Archive is what the pages read. An unknown thing is an error that the program's problem table answers with 404. All
// methods may be called concurrently and stop when ctx ends.
type Archive interface {
	// Stats returns figures, which may be some seconds old.
	Stats(ctx context.Context) (catalog.Stats, error)
	// Search finds resources. The zero Search finds all.
	Search(ctx context.Context, s catalog.Search) (catalog.Found, error)
	// Resource returns a crawled URL.
	Resource(ctx context.Context, url string) (catalog.Resource, error)
	// Dataset returns a dataset of a portal.
	Dataset(ctx context.Context, iri string) (catalog.DatasetEntry, error)
	// Portals lists the sources, largest first.
	Portals(ctx context.Context) ([]catalog.Portal, error)
	// Versions returns the versions of a URL, oldest first.
	Versions(ctx context.Context, url string) ([]catalog.Version, error)
	// Version returns the version with an id, "{resource id}_{N}".
	Version(ctx context.Context, id string) (catalog.Version, error)
	// Inside returns what a version contains: tables, RDF, the members of an archive. It is nil if none of these was
	// found.
	Inside(ctx context.Context, id string) (*inspect.Inside, error)
	// Exchange returns what was on the wire when a version was fetched, nil if that is not known.
	Exchange(ctx context.Context, v catalog.Version) (*catalog.Exchange, error)
	// Joins lists the columns of other tables that share values with a version's, best first.
	Joins(ctx context.Context, versionID string) ([]joins.Match, error)
	// Change returns how a version differs from the one before, or nil if that is not known.
	Change(ctx context.Context, id string) (*diff.Summary, error)
	// Open returns a version's bytes as they were fetched. The caller must close them.
	Open(ctx context.Context, id string) (io.ReadCloser, error)
	// Hosts returns the state of hosts, those with most files first, at most limit of them (0 means all).
	Hosts(ctx context.Context, limit int) ([]catalog.HostHealth, error)
	// Activities lists fetches, newest first.
	Activities(ctx context.Context, q catalog.ActivityQuery) ([]catalog.Activity, error)
}

// Rows is the answer to a SELECT query. An unbound cell is the empty Key.
type Rows struct {
	Vars []string
	Rows [][]term.Key
	More bool // the answer has more rows
}

// Select runs a SELECT query over the archive's triples and returns at most max rows.
type Select func(ctx context.Context, query string, max int) (Rows, error)

// Changes compares two versions as what they are: by rows, columns, statements or paths. o.Key names the columns that
// identify a row; if it is empty, they are searched for. A key that does not fit is a *diff.KeyError.
type Changes func(ctx context.Context, from, to catalog.Version, o diff.Options) (Comparison, error)

// Comparison is the difference between two versions.
type Comparison struct {
	HTML     template.HTML // a fragment, with all text escaped
	Columns  []string      // columns that both tables have; any of them may be part of a key
	Key      []string      // the columns that identified rows
	KeyFound bool          // the key was found, not given
	Longest  int64         // entries of the longest list of rows that changed, if all were listed; 0 if several tables changed
}

// Describe returns the triples about an IRI (its concise bounded description), and those that point to it, at most max
// of each.
type Describe func(ctx context.Context, iri string, max int) (out, in []term.Quad, err error)
