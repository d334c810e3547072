// Package linkeddata makes every IRI that the archive mints lead somewhere: to its description in the RDF syntax that a
// client asks for, or to a page.
//
// A description is the concise bounded description of the IRI and the statements that point to it. The syntax is
// chosen by ?format=, by an extension (.ttl .jsonld .rdf .nt .html) or by Accept, in this order; answers vary with
// Accept, name their alternates in Link, and carry an ETag of their bytes. The package also describes the archive as
// a whole: the vocabulary, a VoID document, a DCAT-AP 3 catalog in pages.
package linkeddata

import (
	"context"
	"net/http"

	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/triplestore/term"
)

// View runs f over one unchanging state of the archive's triples.
type View func(ctx context.Context, f func(term.Dataset) error) error

// Archive is what the catalog and the VoID document are made from.
type Archive interface {
	Stats(ctx context.Context) (catalog.Stats, error)
	// Archived calls f with each resource that has a version, in the order of ids, after the given id, until f returns false.
	Archived(ctx context.Context, after string, f func(catalog.Resource) (more bool)) error
	Versions(ctx context.Context, url string) ([]catalog.Version, error)
}

// Page shows an IRI to a person; it returns an error as handlers do.
type Page func(w http.ResponseWriter, r *http.Request, iri string) error

// DocumentPage shows a document of statements to a person.
type DocumentPage func(w http.ResponseWriter, r *http.Request, title string, quads []term.Quad) error

// Options of New. View, Archive and Mint are required.
type Options struct {
	View      View
	Archive   Archive
	Mint      ns.Mint
	Page      Page         // nil: HTML is not offered
	Document  DocumentPage // nil: HTML is not offered of VoID, catalog and shapes
	Publisher string       // name of who runs the archive, for the catalog; "" for the host of its base
	Title     string       // of the catalog, "" for "Open Data Archive"
}

// LinkedData holds the handlers; the router of package sparqlapi says which route is whose.
type LinkedData struct{ o Options }

// New makes the handlers.
func New(o Options) *LinkedData {
	if o.Title == "" {
		o.Title = "Open Data Archive"
	}
	if o.Publisher == "" {
		o.Publisher = "Open Data Archive at " + hostOf(o.Mint.Base)
	}
	return &LinkedData{o: o}
}
