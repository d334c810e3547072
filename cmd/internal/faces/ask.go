package faces

import (
	"context"
	"errors"
	"io"

	"odarchive/triplestore"
	"odarchive/triplestore/sparql"
	"odarchive/triplestore/term"
)

// Explain runs a query to its end and writes its plan with estimated and actual rows and times.
func (a *Faces) Explain(ctx context.Context, text string, w io.Writer) error {
	options := queryOptions()
	options.Explain = true
	return a.Query(ctx, text, options, func(r *sparql.Results) error {
		err := readAll(r)
		_, writeErr := io.WriteString(w, r.Explain()+"\n")
		return errors.Join(err, writeErr)
	})
}

// readAll reads a result to its end.
func readAll(r *sparql.Results) error {
	for {
		var err error
		if r.Kind == sparql.Triples {
			_, err = r.Triple()
		} else {
			_, err = r.Next()
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// Update applies a SPARQL update to the store, atomically.
func (a *Faces) Update(ctx context.Context, text string) (sparql.Updated, error) {
	return a.Engine.Update(ctx, updatable(a.store.Triples), text, sparql.UpdateOptions{Dialect: true})
}

// updatable makes a store a sparql.Store that can also drop whole graphs and change any number of quads.
func updatable(s *triplestore.Store) sparql.Store {
	return struct {
		sparql.Store
		bulk
	}{sparql.StoreOf(s.View, s.Update), s}
}

type bulk interface {
	DropGraph(ctx context.Context, g term.Key) error
	Clear(ctx context.Context) error
	Replace(ctx context.Context, each func(remove, insert func(term.Quad) error) error) error
}
