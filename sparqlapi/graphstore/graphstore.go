// Package graphstore serves the SPARQL 1.1 Graph Store HTTP Protocol: GET and HEAD fetch graphs, PUT replaces them,
// POST adds to them, and DELETE drops them.
//
// ?graph=IRI, ?default, or the request's own address below the endpoint (direct identification, §4.1) names a graph. A
// named graph exists while it has a statement; the default graph always exists. Reading is open, writing needs
// Options.Authorize. The endpoint itself, without the name of a graph, is the whole dataset in TriG, N-Quads, JSON-LD
// and TriX (dataset.go); a POST of triples to it makes a new graph. Every write is one transaction. The body is parsed
// before the transaction begins, so that a slow client does not block other writers.
package graphstore

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"odarchive/sparqlapi/problem"
	"odarchive/triplestore"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/rdfio/iri"
	"odarchive/triplestore/term"
)

// Options of a Handler.
type Options struct {
	// Base is the endpoint's IRI ("http://localhost:8080/rdf-graph-store"). Graphs that the address of a request names
	// have IRIs below it.
	Base string
	// Authorize returns nil if a request may write, or the error to answer with. If it is nil, nobody may write.
	Authorize func(*http.Request) error
	// MaxBody is the maximum size of a request's body in bytes, also after decompression; 0 means DefaultMaxBody. A
	// body is held in memory while it is parsed.
	MaxBody int64
	// Owned reports whether a graph, "" for the default one, belongs to the server: PUT and DELETE of it are refused,
	// and replacing the whole dataset leaves it as it is. POST adds to it. If Owned is nil, no graph belongs to the
	// server.
	Owned func(graph term.Key) bool
	// Prefixes are used in the graphs that are sent.
	Prefixes map[string]string
	// Log receives a line when an answer breaks off; nil discards.
	Log *slog.Logger
	// LogID identifies the log of changes in which positions count; it is sent with the position of a graph's state.
	LogID string
}

// DefaultMaxBody is the default of Options.MaxBody.
const DefaultMaxBody = 32 << 20

// Handler is the endpoint.
type Handler struct {
	store *triplestore.Store
	o     Options
}

// New returns the endpoint. Base must be an absolute IRI.
func New(store *triplestore.Store, o Options) (*Handler, error) {
	o.Base = strings.TrimSuffix(o.Base, "/")
	if err := iri.Check(o.Base); err != nil {
		return nil, fmt.Errorf("graphstore: base: %w", err)
	}
	if o.MaxBody <= 0 {
		o.MaxBody = DefaultMaxBody
	}
	if o.Owned == nil {
		o.Owned = func(term.Key) bool { return false }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Handler{store: store, o: o}, nil
}

const allowed = "GET, HEAD, PUT, POST, DELETE, OPTIONS"

// ServeHTTP answers a request. The part of the address below the endpoint must be the path value "*", as the client
// escaped it; see target.Escaped.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	problem.Write(w, r, h.serve(w, r))
}

func (h *Handler) serve(w http.ResponseWriter, r *http.Request) error {
	switch r.Method {
	case http.MethodOptions:
		w.Header().Set("Allow", allowed)
		w.WriteHeader(http.StatusNoContent)
		return nil
	case http.MethodGet, http.MethodHead:
		if bare(r) {
			return h.getDataset(w, r)
		}
		g, err := h.target(r)
		if err != nil {
			return err
		}
		return h.get(w, r, g)
	case http.MethodPut, http.MethodPost, http.MethodDelete:
	default:
		w.Header().Set("Allow", allowed)
		return problem.Newf(http.StatusMethodNotAllowed, "Method not allowed", "a graph store accepts %s", allowed)
	}
	if err := h.authorize(r); err != nil {
		return err
	}
	switch {
	case bare(r) && r.Method != http.MethodDelete && sendsDataset(r):
		return h.writeDataset(w, r)
	case bare(r) && r.Method == http.MethodPost:
		return h.create(w, r)
	}
	g, err := h.target(r)
	if err != nil {
		return err
	}
	switch r.Method {
	case http.MethodPut:
		return h.put(w, r, g)
	case http.MethodPost:
		return h.post(w, r, g)
	}
	return h.delete(w, r, g)
}

func (h *Handler) authorize(r *http.Request) error {
	if h.o.Authorize == nil {
		return problem.New(http.StatusForbidden, "Writing is disabled", "this graph store is read-only")
	}
	return h.o.Authorize(r)
}

// target returns the graph of a request, or the empty key for the default graph.
func (h *Handler) target(r *http.Request) (term.Key, error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return "", problem.Wrap(http.StatusBadRequest, "Malformed query string", err)
	}
	graphs := query["graph"]
	switch {
	case len(graphs)+len(query["default"]) > 1:
		return "", problem.New(http.StatusBadRequest, "Which graph?", "expected ?graph= or ?default, and only one of them")
	case len(graphs) == 1:
		if err := iri.Check(graphs[0]); err != nil {
			return "", problem.With(http.StatusBadRequest, "The graph's name is not an absolute IRI", err, "graph", graphs[0])
		}
		return term.IRI(graphs[0]), nil
	case query.Has("default"):
		return "", nil
	case r.PathValue("*") == "":
		return "", problem.New(http.StatusBadRequest, "Which graph?", "expected ?graph=IRI or ?default, or an address below this one")
	}
	return h.direct(r)
}

// direct returns the graph that the request's own address names.
func (h *Handler) direct(r *http.Request) (term.Key, error) {
	name := h.o.Base + "/" + r.PathValue("*")
	if r.URL.RawQuery != "" {
		name += "?" + r.URL.RawQuery
	}
	if err := iri.Check(name); err != nil {
		return "", problem.With(http.StatusBadRequest, "The address is not an IRI", err, "graph", name)
	}
	return term.IRI(name), nil
}

// graphIRI returns the IRI of a graph, which is the base of relative IRIs in its documents.
func (h *Handler) graphIRI(g term.Key) string {
	if g == "" {
		return h.o.Base + "?default"
	}
	return g.Value()
}

func unknownGraph(g term.Key) error {
	return problem.With(http.StatusNotFound, "No such graph", fmt.Errorf("the store has no graph <%s>", g.Value()), "graph", g.Value())
}

// find returns the pattern of a graph's quads in a snapshot. ok is false if the graph does not exist.
func find(sn *triplestore.Snapshot, g term.Key) (p term.Pattern, ok bool, err error) {
	id, ok, err := sn.Graph(g)
	if err != nil || !ok {
		return p, false, err
	}
	p = term.Pattern{G: id}
	if g == "" {
		return p, true, nil
	}
	some, err := holdsAny(sn, p)
	return p, some, err
}

func holdsAny(sn *triplestore.Snapshot, p term.Pattern) (bool, error) {
	c := sn.Scan(p, term.SPO)
	defer c.Close()
	quads, err := c.Next()
	return len(quads) > 0, err
}

// update runs f in a transaction. existed and tag describe the graph before it.
func (h *Handler) update(ctx context.Context, g term.Key, f func(t *triplestore.Txn, existed bool, tag string) error) error {
	return h.store.Update(ctx, func(t *triplestore.Txn) error {
		sn := t.Snapshot() // released with the transaction, whose commit needs it
		p, existed, err := find(sn, g)
		if err == nil && g == "" {
			existed, err = holdsAny(sn, p) // status 201 depends on whether it had statements
		}
		if err != nil {
			return fmt.Errorf("graphstore: %w", err)
		}
		return f(t, existed, entityTag(sn))
	})
}

// offers returns the syntaxes in which graphs are available, best first.
func offers() []rdfio.Syntax {
	return []rdfio.Syntax{rdfio.Turtle(), rdfio.NTriples(), rdfio.RDFXML(), rdfio.JSONLD(), rdfio.RDFJSON(), rdfio.TriX(), rdfio.N3(),
		rdfio.TriG(), rdfio.NQuads()}
}
