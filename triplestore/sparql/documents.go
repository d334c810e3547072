package sparql

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"

	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/term"
)

// Resolve returns the document that a graph name of FROM or FROM NAMED stands for, if the dataset has no graph of that
// name. ok is false if the name cannot be that of a document; then the graph is empty, and a warning says so. The error
// wraps ErrNoDocument if only a document can have the name, and there is none.
type Resolve func(ctx context.Context, iri string) (doc Document, ok bool, err error)

// maxDocuments is the number of documents that one query may read.
const maxDocuments = 16

// documentQuad is about what a triple of a document takes in memory besides its terms, in bytes.
const documentQuad = 256

// withDocuments returns ds with the documents that q names as graphs. All triples of a document are in the graph of its
// name, whatever graphs it has itself. They are held in memory, which release gives back.
func (e *Engine) withDocuments(w *work, ds term.Dataset, q *algebra.Query, memory int64) (out term.Dataset, release func(), err error) {
	ctx, held := w.ctx, int64(0)
	release = func() { e.pool.Release(held) }
	if e.opts.Resolve == nil || len(q.From)+len(q.FromNamed) == 0 {
		return ds, release, nil
	}
	var over *overlay
	names := slices.Concat(q.From, q.FromNamed)
	slices.Sort(names)
	read := 0
	for _, name := range slices.Compact(names) {
		if name == algebra.DefaultGraph {
			continue
		}
		if there, err := hasGraph(ds, name); err != nil || there {
			if err != nil {
				release()
				return nil, nil, err
			}
			continue
		}
		doc, ok, err := e.opts.Resolve(ctx, name)
		if err == nil && !ok {
			w.warn(fmt.Sprintf("FROM <%s>: there is no graph of this name", name))
			continue
		}
		if err == nil {
			if read++; read > maxDocuments {
				doc.Body.Close()
				err = fmt.Errorf("more than %d documents in one query: %w", maxDocuments, ErrTooLarge)
			}
		}
		if err == nil {
			if over == nil {
				over = newOverlay(ds)
			}
			err = e.readDocument(ctx, over, name, doc, memory/2, &held)
		}
		if err != nil {
			release()
			return nil, nil, fmt.Errorf("sparql: FROM <%s>: %w", name, err)
		}
	}
	if over == nil {
		return ds, release, nil
	}
	return over, release, nil
}

func hasGraph(ds term.Dataset, iri string) (bool, error) {
	id, ok, err := ds.Lookup(term.IRI(iri))
	if err != nil || !ok {
		return false, err
	}
	c := ds.Scan(term.Pattern{G: id}, term.SPO)
	defer c.Close()
	rows, err := c.Next()
	return len(rows) > 0, err
}

// readDocument adds the triples of a document to over. held counts the memory taken for all documents of the query,
// which may be limit.
func (e *Engine) readDocument(ctx context.Context, over *overlay, name string, doc Document, limit int64, held *int64) error {
	defer doc.Body.Close()
	syntax, ok := rdfio.ByMediaType(doc.Type)
	if !ok {
		if syntax, ok = rdfio.ByExtension(path.Base(doc.IRI)); !ok {
			return fmt.Errorf("%w: no RDF syntax is known for media type %q", ErrDocument, doc.Type)
		}
	}
	if doc.IRI == "" {
		doc.IRI = name
	}
	r := rdfio.NewReader(doc.Body, syntax,
		rdfio.Options{File: name, Base: doc.IRI, BlankPrefix: rdfio.NewBlankPrefix(), RDF12: true, LongTags: true})
	graph, err := over.id(term.IRI(name))
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		if n&0xff == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		q, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrDocument, err)
		}
		size := int64(documentQuad + len(q.S) + len(q.P) + len(q.O))
		if *held+size > limit {
			return memoryLimit(limit)
		}
		if !e.pool.Reserve(size) {
			return &LimitError{Limit: ErrMemory, Value: e.opts.MaxMemory, Shared: true}
		}
		*held += size
		q.G = ""
		id, err := over.quad(q)
		if err != nil {
			return err
		}
		id.G = graph
		over.added[id] = true // the graph is new: nothing below can be there already
	}
}
