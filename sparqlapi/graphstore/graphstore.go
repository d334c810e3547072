// Package graphstore serves the SPARQL 1.1 Graph Store HTTP Protocol over a store: graphs are fetched with GET and HEAD,
// replaced with PUT, added to with POST, and dropped with DELETE.
//
// A graph is named by ?graph=IRI, by ?default, or by the request's own address below the endpoint (direct
// identification, §4.1). A named graph exists as long as it holds a statement; the default graph always does. Reading is
// open, writing needs Options.Authorize. Every write is one transaction; a body is parsed before it begins, so that a
// slow client never holds up another writer.
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
	// Base is the endpoint's own IRI without a final slash ("http://localhost:8080/rdf-graph-store"). Graphs that are
	// named by the address of the request get an IRI below it.
	Base string
	// Authorize tells whether a request may write: nil, or the error that is answered. Without it nobody may.
	Authorize func(*http.Request) error
	// MaxBody is the most bytes of a request's body, also after decompression; default 32 MiB. A body is held in
	// memory while it is parsed.
	MaxBody int64
	// Prefixes shorten what is sent.
	Prefixes map[string]string
	// Log is told about answers that broke off; default none.
	Log *slog.Logger
}

// DefaultMaxBody is Options.MaxBody where it is zero.
const DefaultMaxBody = 32 << 20

// Handler is the endpoint.
type Handler struct {
	store *triplestore.Store
	o     Options
}

// New makes the endpoint. Base must be an absolute IRI.
func New(store *triplestore.Store, o Options) (*Handler, error) {
	o.Base = strings.TrimSuffix(o.Base, "/")
	if err := iri.Check(o.Base); err != nil {
		return nil, fmt.Errorf("graphstore: base: %w", err)
	}
	if o.MaxBody <= 0 {
		o.MaxBody = DefaultMaxBody
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Handler{store: store, o: o}, nil
}

const allowed = "GET, HEAD, PUT, POST, DELETE, OPTIONS"

// ServeHTTP answers a request. The router's wildcard "*", as the client escaped it, is the address below the endpoint;
// see target.Escaped.
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
		g, err := h.target(r)
		if err != nil {
			return err
		}
		return h.get(w, r, g)
	case http.MethodPut, http.MethodPost, http.MethodDelete:
	default:
		w.Header().Set("Allow", allowed)
		return problem.Newf(http.StatusMethodNotAllowed, "Method not allowed", "a graph store knows %s", allowed)
	}
	if err := h.authorize(r); err != nil {
		return err
	}
	if r.Method == http.MethodPost && r.PathValue("*") == "" && r.URL.RawQuery == "" {
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
		return problem.New(http.StatusForbidden, "Writing is switched off", "this graph store can only be read")
	}
	return h.o.Authorize(r)
}

// target is the graph a request is about, the empty key for the default graph.
func (h *Handler) target(r *http.Request) (term.Key, error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return "", problem.Wrap(http.StatusBadRequest, "Malformed query string", err)
	}
	graphs := query["graph"]
	switch {
	case len(graphs)+len(query["default"]) > 1:
		return "", problem.New(http.StatusBadRequest, "Which graph?", "give ?graph= or ?default, and only one of them")
	case len(graphs) == 1:
		if err := iri.Check(graphs[0]); err != nil {
			return "", problem.With(http.StatusBadRequest, "The graph's name is not an absolute IRI", err, "graph", graphs[0])
		}
		return term.IRI(graphs[0]), nil
	case query.Has("default"):
		return "", nil
	case r.PathValue("*") == "":
		return "", problem.New(http.StatusBadRequest, "Which graph?", "name one with ?graph=IRI or ?default, or by an address below this one")
	}
	return h.direct(r)
}

// direct is the graph named by the request's own address.
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

// graphIRI names a graph to people, and is the base of what is sent for it.
func (h *Handler) graphIRI(g term.Key) string {
	if g == "" {
		return h.o.Base + "?default"
	}
	return g.Value()
}

func unknownGraph(g term.Key) error {
	return problem.With(http.StatusNotFound, "No such graph", fmt.Errorf("the store holds no graph <%s>", g.Value()), "graph", g.Value())
}

// find looks up the pattern of a graph's quads in a snapshot; ok is false where the graph does not exist.
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

// update runs f in a transaction, with what the graph looks like before it.
func (h *Handler) update(ctx context.Context, g term.Key, f func(t *triplestore.Txn, existed bool, tag string) error) error {
	return h.store.Update(ctx, func(t *triplestore.Txn) error {
		sn := t.Snapshot() // released with the transaction, whose commit needs it
		p, existed, err := find(sn, g)
		if err == nil && g == "" {
			existed, err = holdsAny(sn, p) // for 201 it counts whether anything was there
		}
		if err != nil {
			return fmt.Errorf("graphstore: %w", err)
		}
		return f(t, existed, entityTag(sn))
	})
}

// offers are the syntaxes a graph can be had in, best first.
func offers() []rdfio.Syntax {
	return []rdfio.Syntax{rdfio.Turtle(), rdfio.NTriples(), rdfio.RDFXML(), rdfio.JSONLD(), rdfio.RDFJSON(), rdfio.TriX(), rdfio.N3()}
}
