// Dereferences the archive's IRIs: it answers with their description in the RDF syntax that the
// client asks for, or with a page.
//
// A description is the concise bounded description of the IRI and the statements that point to it. ?format= chooses the
// syntax, or an extension (.ttl .jsonld .rdf .nt .html), or Accept, in this order. Answers have Vary: Accept, links to
// their alternates, and an ETag of their bytes. The package also describes the archive as a whole: its vocabulary, a
// VoID document, and a DCAT-AP 3 catalog in pages.

package describe

import (
	"context"
	"net/http"

	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/triplestore/term"
)

// View runs f over one state of the archive's triples, which does not change meanwhile.
type View func(ctx context.Context, f func(term.Dataset) error) error

// LinkedArchive is what the catalog and the VoID document read.
type LinkedArchive interface {
	Stats(ctx context.Context) (catalog.Stats, error)
	// Archived calls f with each resource that has a version, in the order of ids, after the given id, until f returns
	// false.
	Archived(ctx context.Context, after string, f func(catalog.Resource) (more bool)) error
	Versions(ctx context.Context, url string) ([]catalog.Version, error)
}

// Page answers with the page of an IRI.
type Page func(w http.ResponseWriter, r *http.Request, iri string) error

// DocumentPage answers with a page of statements.
type DocumentPage func(w http.ResponseWriter, r *http.Request, title string, quads []term.Quad) error

// LinkedOptions of New. View, Archive and Mint are required.
type LinkedOptions struct {
	View      View
	Archive   LinkedArchive
	Mint      ns.Mint
	Page      Page                           // nil: descriptions are not available as HTML
	Document  DocumentPage                   // nil: VoID, catalog and shapes are not available as HTML
	Publisher string                         // operator of the archive, for the catalog; "" for the host of its base
	Title     string                         // of the catalog, "" for "Open Data Archive"
	Dumps     func() ([]catalog.Dump, error) // files with all triples, newest first; nil: there are none
}

// LinkedData has the handlers; package sparqlapi routes requests to them.
type LinkedData struct{ o LinkedOptions }

// NewLinkedData returns the handlers.
func NewLinkedData(o LinkedOptions) *LinkedData {
	if o.Title == "" {
		o.Title = "Open Data Archive"
	}
	if o.Publisher == "" {
		o.Publisher = "Open Data Archive at " + hostOfIRI(o.Mint.Base)
	}
	return &LinkedData{o: o}
}
