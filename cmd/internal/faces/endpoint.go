package faces

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"odarchive/sparqlapi/protocol"
	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/sparql"
	"odarchive/triplestore/term"
)

// Endpoint is a SPARQL endpoint over a store in memory. The demo and tests harvest from it.
type Endpoint struct {
	db      *kv.DB
	triples *triplestore.Store
	engine  *sparql.Engine
	log     *slog.Logger
}

// NewEndpoint returns an empty Endpoint. The caller closes it.
func NewEndpoint(log *slog.Logger) (*Endpoint, error) {
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		return nil, fmt.Errorf("endpoint: %w", err)
	}
	triples, err := triplestore.Open(db, triplestore.Options{Log: log})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("endpoint: %w", err), db.Close())
	}
	return &Endpoint{db: db, triples: triples, engine: sparql.New(sparql.Options{}), log: log}, nil
}

// Load adds a TriG document.
func (e *Endpoint) Load(ctx context.Context, trig string) error {
	_, err := e.triples.Load(ctx, rdfio.NewReader(strings.NewReader(trig), rdfio.TriG(), rdfio.Options{}))
	return err
}

// Remove removes the statements of a TriG document without blank nodes.
func (e *Endpoint) Remove(ctx context.Context, trig string) error {
	return e.triples.Replace(ctx, func(remove, _ func(term.Quad) error) error {
		for q, err := range rdfio.NewReader(strings.NewReader(trig), rdfio.TriG(), rdfio.Options{}).All() {
			if err == nil {
				err = remove(q)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Handlers returns the handlers of the endpoint by path.
func (e *Endpoint) Handlers() map[string]http.Handler {
	return map[string]http.Handler{"/sparql": protocol.New(protocol.Options{Engine: e.engine, Snapshot: snapshots(e.triples)})}
}

// Close closes the store.
func (e *Endpoint) Close() error { return errors.Join(e.triples.Close(), e.db.Close()) }
