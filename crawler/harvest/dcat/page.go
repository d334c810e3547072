package dcat

import (
	"context"

	"odarchive/crawler/harvest"
	"odarchive/triplestore/term"
)

// Pages requests and reads RDF documents in any syntax, for harvesters whose sources describe datasets as DCAT does but
// link their pages in another way. Use NewPages.
type Pages struct{ reader reader }

// Page is an RDF document.
type Page struct {
	URL       string // after redirects
	Quads     []term.Quad
	Tag       string // for the next Get, as unless
	Immutable bool   // the host says that the document never changes
	Fault     error  // the first statement that was skipped as unreadable, nil if there is none
	Ends      bool   // the last statement was skipped, too: the document may be cut off
}

// NewPages returns a Pages that sends its requests through a Doer.
func NewPages(http harvest.Doer) *Pages {
	return &Pages{reader{http: http, contexts: map[string][]byte{}}}
}

// Get returns a document. The error wraps harvest.ErrNotModified if its tag is unless.
func (p *Pages) Get(ctx context.Context, address, unless string) (Page, error) {
	doc, err := p.reader.get(ctx, address, unless, 0)
	return Page{URL: doc.url, Quads: doc.quads, Tag: doc.tag, Immutable: doc.keep, Fault: doc.fault, Ends: doc.ends}, err
}
