package sparql

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"

	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/term"
)

// Document is an RDF document.
type Document struct {
	Body io.ReadCloser // closed by the engine
	Type string        // media type; if unknown, the extension of the IRI decides
	IRI  string        // address after redirects, the document's base; "" means the address that was asked for
}

// Fetch gets a document for LOAD. It is called for http and https IRIs only. It decides which hosts may be asked and
// how much may be read.
type Fetch func(ctx context.Context, iri string) (Document, error)

// loadAll fetches the documents of a request's LOAD operations. It returns their triples by the number of the
// operation. A SILENT one that fails loads nothing.
func (e *Engine) loadAll(ctx context.Context, ops []algebra.UpdateOp) (map[int][]term.Quad, error) {
	loaded := map[int][]term.Quad{}
	left := e.opts.MaxLoad
	for i, op := range ops {
		l, ok := op.(algebra.Load)
		if !ok {
			continue
		}
		quads, err := e.load(ctx, l, left)
		if ctx.Err() != nil {
			return nil, fmt.Errorf("sparql: load <%s>: %w", l.Source, context.Cause(ctx))
		}
		if err != nil && !l.Silent {
			return nil, fmt.Errorf("sparql: load <%s>: %w", l.Source, remote(err))
		}
		if err == nil {
			loaded[i] = quads
			left -= int64(len(quads))
		}
	}
	return loaded, nil
}

func (e *Engine) load(ctx context.Context, l algebra.Load, limit int64) ([]term.Quad, error) {
	u, err := url.Parse(l.Source)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("only http and https addresses can be loaded: %w", ErrForbidden)
	case e.opts.Fetch == nil:
		return nil, fmt.Errorf("LOAD is switched off: %w", ErrForbidden)
	}
	doc, err := e.opts.Fetch(ctx, l.Source)
	if err != nil {
		return nil, err
	}
	defer doc.Body.Close()
	syntax, ok := rdfio.ByMediaType(doc.Type)
	if !ok {
		if syntax, ok = rdfio.ByExtension(path.Base(u.Path)); !ok {
			return nil, fmt.Errorf("no RDF syntax is known for media type %q", doc.Type)
		}
	}
	if doc.IRI == "" {
		doc.IRI = l.Source
	}
	r := rdfio.NewReader(doc.Body, syntax,
		rdfio.Options{File: l.Source, Base: doc.IRI, BlankPrefix: rdfio.NewBlankPrefix(), RDF12: true, LongTags: true})
	var quads []term.Quad
	for {
		q, err := r.Read()
		if errors.Is(err, io.EOF) {
			return quads, nil
		}
		if err != nil {
			return nil, err
		}
		if int64(len(quads)) >= limit {
			return nil, fmt.Errorf("more than %d triples to load: %w", e.opts.MaxLoad, ErrTooLarge)
		}
		if q.G != "" && l.Into != "" {
			continue // INTO GRAPH loads the document's default graph only
		}
		if l.Into != "" {
			q.G = term.IRI(l.Into)
		}
		quads = append(quads, q)
	}
}
