// Package archive is the waist of the project: everything that writes versions and everything that reads them meets here.
//
// An Archive ties three things together: the bytes (package content), the records of what was listed, fetched and kept
// (plain JSON in the archive's own keyspace), and the triples that describe them (package triplestore). Records and bytes
// are the truth; triples are derived from them by package describe and can be made again (Quads).
//
// Two ways lead in: Register takes what a source lists, Commit takes one finished fetch. Each is one transaction over
// records, triples, the content store's records and whatever the caller adds to it (the frontier's result), so a version
// exists for everybody at one moment or not at all. Bytes are durable before a transaction names them. Reading never waits for writing. One thing
// follows a version at some distance: which columns of other tables its columns share values with. Commit marks the version,
// and Join takes marked ones in, many at a time.
//
// It decides nothing about when and how to fetch, and serves nothing over HTTP.
package archive

import (
	"context"
	"errors"
	"fmt"

	"odarchive/crawler/archive/content"
	"odarchive/crawler/archive/describe"
	"odarchive/crawler/archive/joins"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// ErrNotFound is in the chain of every error about a thing that the archive does not hold.
var ErrNotFound = errors.New("not in the archive")

// Archive is safe for concurrent use. It owns none of its parts: whoever made them closes them.
type Archive struct {
	mint    ns.Mint
	db      *kv.DB
	triples *triplestore.Store
	content *content.Store
	facts   facts
	joining joining
	tallies tallyCache

	changeLists changeLists
}

// New ties the parts together. All three must belong to one data directory.
func New(mint ns.Mint, db *kv.DB, triples *triplestore.Store, bytes *content.Store) *Archive {
	return &Archive{mint: mint, db: db, triples: triples, content: bytes}
}

// Mint makes and reads the IRIs of this archive.
func (a *Archive) Mint() ns.Mint { return a.mint }

// Bytes is the content store behind the archive.
func (a *Archive) Bytes() *content.Store { return a.content }

// DB is the database behind the archive.
func (a *Archive) DB() *kv.DB { return a.db }

func notFound(what, name string) error {
	return fmt.Errorf("%s %s: %w", what, name, ErrNotFound)
}

// Quads calls emit with the description of every record: all the triples that crawling made, from the truth alone.
func (a *Archive) Quads(ctx context.Context, emit func([]term.Quad) error) error {
	return a.db.View(func(txn *kv.Txn) error {
		t := tables{txn: txn}
		err := t.eachResource(ctx, "", func(r record) error { return emit(describe.Resource(r.Resource)) })
		if err != nil {
			return err
		}
		err = t.counts(ctx, countPortal, func(iri string, n tally) error { return emit(describe.Portal(iri, n.Title)) })
		if err != nil {
			return err
		}
		err = t.eachVersion(ctx, func(v catalog.Version) error {
			in, err := t.inside(v.ID)
			if err != nil {
				return err
			}
			change, err := t.change(v.ID)
			if err != nil {
				return err
			}
			matches, err := joins.Of(txn, v.ID)
			if err != nil {
				return err
			}
			return emit(append(versionQuads(a.mint, v, in, change), describe.Joins(a.mint, matches)...))
		})
		if err != nil {
			return err
		}
		return t.eachActivity(ctx, func(act catalog.Activity) error { return emit(describe.Activity(a.mint, act)) })
	})
}
