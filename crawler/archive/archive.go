// Package archive is the waist of the project: everything that writes versions and everything that reads them meets
// here.
//
// An Archive joins the bytes (package content), the records of what was listed, fetched and kept (package records), and
// the triples that describe them (package triplestore). Records and bytes are the truth. The rest is derived from them
// and can be made again: the triples (packages describe and joining), the search index (package search), the figures
// (package tallies), and the short records of what a zip needs (stored.go).
//
// Data comes in through Register, which takes what a source lists, and Commit, which takes one finished fetch. Each is
// one transaction over all parts and whatever the caller adds to it, such as the frontier's result, so a version exists
// for every reader at the same moment or not at all. commit.go shows the parts in order. Bytes are durable before a
// transaction names them. Reading never waits for writing. Only the index of joinable columns follows later: Commit
// marks the version, and Join indexes marked versions, many at a time.
//
// The package decides nothing about when and how to fetch, and serves nothing over HTTP.
package archive

import (
	"context"
	"sync/atomic"

	"odarchive/crawler/archive/content"
	"odarchive/crawler/archive/describe"
	"odarchive/crawler/archive/diary"
	"odarchive/crawler/archive/joining"
	"odarchive/crawler/archive/joins"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/archive/search"
	"odarchive/crawler/archive/tallies"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect/examine"
	"odarchive/ns"
	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// Errors of package records, for callers of this package.
var (
	ErrNotFound  = records.ErrNotFound
	ErrBadRecord = records.ErrBadRecord
)

// Archive is safe for concurrent use. It does not close the stores that it is made of.
type Archive struct {
	mint    ns.Mint
	db      *kv.DB
	triples *triplestore.Store
	content *content.Store
	tallies *tallies.Tallies
	search  *search.Index
	joining *joining.Queue
	examine *examine.Pool // nil: in this process
	purges  chan struct{} // has an element if there may be something to purge

	purgedHere atomic.Pointer[string] // which bytes PurgeWithdrawn has removed last from the database's files

	together together
}

// New returns the archive over three stores, which must belong to one data directory.
func New(mint ns.Mint, db *kv.DB, triples *triplestore.Store, bytes *content.Store) *Archive {
	return &Archive{
		mint: mint, db: db, triples: triples, content: bytes,
		tallies: tallies.New(db), search: search.New(db), joining: joining.New(mint, db, triples),
		purges: make(chan struct{}, 1), together: newTogether(),
	}
}

// ExamineWith has the stored bytes read by a pool, whose lane of visitors it uses. Until it is called, they are read in
// this process.
func (a *Archive) ExamineWith(p *examine.Pool) { a.examine = p }

// Mint makes and reads the IRIs of this archive.
func (a *Archive) Mint() ns.Mint { return a.mint }

// Bytes returns the content store behind the archive.
func (a *Archive) Bytes() *content.Store { return a.content }

// DB returns the database behind the archive.
func (a *Archive) DB() *kv.DB { return a.db }

// OpenJoins opens the index of joinable columns, and makes it if there is none. It starts over if it was interrupted,
// and is quick if there is nothing to do. Nothing else may write meanwhile.
func (a *Archive) OpenJoins(ctx context.Context) error { return a.joining.Open(ctx) }

// BuildSearch builds the search index if there is none, or if building it was
// interrupted. It returns the number of resources that it indexed. Nothing else may write meanwhile.
func (a *Archive) BuildSearch(ctx context.Context) (indexed int, err error) {
	return a.search.Build(ctx)
}

// LoadSearch reads into memory what Search needs, unless it is loaded. Search does so itself when it first runs.
func (a *Archive) LoadSearch(ctx context.Context) error { return a.search.Load(ctx) }

// Search finds resources.
func (a *Archive) Search(ctx context.Context, s catalog.Search) (catalog.Found, error) {
	return a.search.Search(ctx, s)
}

// Hits returns the resources that a search finds, as Search does, but their addresses alone and at most limit of them.
func (a *Archive) Hits(ctx context.Context, s catalog.Search, limit int) (hits []search.Hit, total int, err error) {
	return a.search.Hits(ctx, s, limit)
}

// IndexTexts indexes descriptions, keywords and values of some of the files for which they are new, and returns their
// number, 0 if there is none.
func (a *Archive) IndexTexts(ctx context.Context) (int, error) {
	return a.search.IndexTexts(ctx, func() (search.Statements, func()) {
		sn := a.triples.Snapshot()
		return a.statements(sn), sn.Release
	})
}

// statements reads what portals say from one state of the triples.
func (a *Archive) statements(sn *triplestore.Snapshot) search.Statements {
	return search.PortalGraphs(func(ctx context.Context, subject, graph term.Key, f func(term.Quad) error) error {
		g, known, err := sn.Lookup(graph)
		if err != nil || !known {
			return err
		}
		s, known, err := sn.Lookup(subject)
		if err != nil || !known {
			return err
		}
		return sn.Dump(ctx, term.Pattern{S: s, G: g}, f)
	}, func(portal string) []term.Key {
		graph := a.mint.Graph(portal)
		return []term.Key{term.IRI(graph), term.IRI(graph + withdrawnGraph)}
	})
}

// withdrawnGraph is what the names of the graphs of what portals no longer list end in (crawler/harvest/ledger).
const withdrawnGraph = "#withdrawn"

// Untexted returns how many files wait for IndexTexts.
func (a *Archive) Untexted(ctx context.Context) (catalog.Indexing, error) {
	return a.search.Waiting(ctx)
}

// Captures calls f with the versions whose keys in a capture index begin with prefix; see search.Index.Captures.
func (a *Archive) Captures(ctx context.Context, prefix, after string, f func(catalog.Capture) (more bool, err error)) error {
	return a.search.Captures(ctx, prefix, after, f)
}

// MaxJoined is the maximum number of versions that one Join adds.
const MaxJoined = joining.MaxVersions

// Join adds some of the versions that wait to the index of joinable columns. It returns their number, 0 if none waits.
func (a *Archive) Join(ctx context.Context) (int, error) { return a.joining.Join(ctx) }

// Unjoined returns the number of versions that wait for Join.
func (a *Archive) Unjoined() int { return a.joining.Len() }

// Joins returns the columns that share values with those of a version, best first. Only the latest version of a
// resource has any, and a new version only once Join has indexed it.
func (a *Archive) Joins(ctx context.Context, versionID string) (found []joins.Match, err error) {
	err = a.view(func(t records.Txn) error {
		if _, ok, err := t.Version(versionID); err != nil || !ok {
			return records.OrNotFound(err, "version", versionID)
		}
		found, err = joins.Of(t.Txn, versionID)
		return err
	})
	return found, err
}

// Quads calls emit with the descriptions of all records: every triple that crawling made, derived from the records
// alone.
func (a *Archive) Quads(ctx context.Context, emit func([]term.Quad) error) error {
	return a.view(func(t records.Txn) error {
		err := t.EachResource(ctx, "", func(r records.Resource) (bool, error) { return true, emit(describe.Resource(r.Resource)) })
		if err != nil {
			return err
		}
		err = tallies.Each(ctx, t.Txn, tallies.ByPortal,
			func(iri string, n tallies.Tally) error { return emit(describe.Portal(iri, n.Title)) })
		if err != nil {
			return err
		}
		err = t.EachVersion(ctx, "", func(v catalog.Version) (bool, error) {
			in, err := t.Inside(v.ID)
			if err != nil {
				return false, err
			}
			change, err := t.Change(v.ID)
			if err != nil {
				return false, err
			}
			matches, err := joins.Of(t.Txn, v.ID)
			if err != nil {
				return false, err
			}
			return true, emit(append(versionQuads(a.mint, v, in, change), describe.Joins(a.mint, matches)...))
		})
		if err != nil {
			return err
		}
		var of records.Resource
		return diary.Txn{Txn: t.Txn}.Stretches(ctx, func(s diary.Stretch) error {
			if of.ID != s.Resource {
				var known bool
				var err error
				if of, known, err = t.Resource(s.Resource); err != nil || !known {
					return records.OrNotFound(err, "resource", s.Resource)
				}
			}
			return emit(describe.Activity(a.mint, s.Activity(of.URL)))
		})
	})
}
