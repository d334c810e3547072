// Package protocol implements the SPARQL 1.1 Protocol over HTTP: queries by GET and POST, updates by POST, and the
// Service Description of the endpoint.
//
// A Handler parses a request (request.go), lets the engine answer it over one snapshot of the store, and streams the
// result in the format that the client prefers (format.go, response.go, graph.go). The first rows are sent as soon as they are computed. An
// error before the first byte is an HTTP error with a problem document. An error after it aborts the connection, so
// that no client mistakes half a result for a whole one. When a client disconnects, its query ends; an update that has
// arrived completely does not.
//
// A function of the program decides who may update. Nothing else here writes.
package protocol

import (
	"context"
	"net/http"
	"time"

	"odarchive/sparqlapi/outlast"
	"odarchive/sparqlapi/problem"
	"odarchive/triplestore/sparql"
	"odarchive/triplestore/term"
)

// Options of New. Engine and Snapshot are required.
type Options struct {
	Engine *sparql.Engine
	// Snapshot returns the current state of the store. The handler calls release when the answer is complete.
	Snapshot func() (ds term.Dataset, release func())
	// Store receives updates from the clients for which Authorise returns nil. If one of them is nil, there are no
	// updates. The error of Authorise is the answer to other clients: a problem of status 401 or 403.
	Store     sparql.Store
	Authorise func(*http.Request) error
	// Console answers a person who opens the endpoint without a query. If nil, they get the service description.
	Console http.Handler
	// Page returns what goes before and after an HTML table of results, and may set headers. If nil, the page is bare.
	Page func(w http.ResponseWriter, r *http.Request, query string) (head, tail string)
	// Endpoint is the address in the service description. If "", it is the address of the request.
	Endpoint string
	// Federated means that SERVICE works, for the service description.
	Federated bool

	Dialect      bool              // read historical Dublin Core IRIs as dct: terms
	UnionDefault bool              // the default graph is the union of all graphs
	Prefixes     map[string]string // for graphs and HTML, in addition to those of a query
	MaxBody      int64             // maximum bytes of a request; 0 means 64 MiB
	Slots        int               // maximum queries and updates at a time; 0 means 32. More wait, and are then refused
	Wait         time.Duration     // how long they wait; 0 means 10 s
}

func (o Options) withDefaults() Options {
	if o.MaxBody <= 0 {
		o.MaxBody = 64 << 20
	}
	if o.Slots <= 0 {
		o.Slots = 32
	}
	if o.Wait <= 0 {
		o.Wait = 10 * time.Second
	}
	return o
}

// Handler answers /sparql.
type Handler struct {
	o     Options
	slots chan struct{}
}

// New returns a Handler.
func New(o Options) *Handler {
	o = o.withDefaults()
	return &Handler{o: o, slots: make(chan struct{}, o.Slots)}
}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Add("Vary", "Accept")
	if err := h.serve(w, r); err != nil {
		problem.Write(w, r, ProblemOf(err))
	}
}

func (h *Handler) serve(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, h.o.MaxBody)
	req, err := parseRequest(r, h.o.MaxBody)
	if err != nil {
		return err
	}
	switch req.kind {
	case nothing:
		return h.describe(w, r, req)
	case update:
		if err := h.mayUpdate(r); err != nil {
			return err
		}
		ctx, release := outlast.Client(r.Context())
		defer release()
		r = r.WithContext(ctx)
	}
	leave, err := h.acquireSlot(r.Context())
	if err != nil {
		return err
	}
	defer leave()
	if req.kind == update {
		problem.Write(w, r, ProblemOf(h.update(w, r, req))) // here, because r does not end with its client
		return nil
	}
	return h.query(w, r, req)
}

// acquireSlot waits for a slot. The caller must call leave, unless err is not nil.
func (h *Handler) acquireSlot(ctx context.Context) (leave func(), err error) {
	leave = func() { <-h.slots }
	select {
	case h.slots <- struct{}{}:
		return leave, nil
	default:
	}
	ctx, cancel := context.WithTimeout(ctx, h.o.Wait)
	defer cancel()
	select {
	case h.slots <- struct{}{}:
		return leave, nil
	case <-ctx.Done():
		return nil, &problem.Error{Status: http.StatusServiceUnavailable, Title: "Too many queries at a time",
			Detail: "All places for queries are taken; try again soon.", RetryAfter: h.o.Wait}
	}
}

func (h *Handler) query(w http.ResponseWriter, r *http.Request, req *request) error {
	o := sparql.QueryOptions{
		Timeout: req.timeout, DefaultGraphs: req.defaultGraphs, NamedGraphs: req.namedGraphs, Base: req.base(r, h.o.Endpoint),
		UnionDefault: h.o.UnionDefault, Dialect: h.o.Dialect, Explain: req.explain,
		Trusted: h.o.Authorise != nil && h.o.Authorise(r) == nil,
	}
	q, err := h.o.Engine.Prepare(req.text, o)
	if err != nil {
		return err
	}
	out, named, err := h.chooseFormat(r, req, q)
	if err != nil && !req.explain {
		return err
	}
	if r.Method == http.MethodHead {
		w.Header().Set("Content-Type", out.contentType())
		return nil
	}
	ds, release := h.o.Snapshot()
	defer release()
	run := func() (*sparql.Results, error) { return h.o.Engine.Run(r.Context(), ds, q, o) }
	if q.Kind() == sparql.Triples && !req.explain {
		return h.graph(w, r, out, named, run)
	}
	res, err := run()
	if err != nil {
		return err
	}
	defer res.Close()
	if req.explain {
		return explain(w, r, req, q, res)
	}
	return h.rows(w, r, req.text, out, res)
}

func (h *Handler) mayUpdate(r *http.Request) error {
	if h.o.Store == nil || h.o.Authorise == nil {
		return problem.New(http.StatusForbidden, "No updates here", "This endpoint answers queries only.")
	}
	return h.o.Authorise(r)
}

func (h *Handler) update(w http.ResponseWriter, r *http.Request, req *request) error {
	done, err := h.o.Engine.Update(r.Context(), h.o.Store, req.text, sparql.UpdateOptions{
		Timeout: req.timeout, Base: req.base(r, h.o.Endpoint), Using: req.defaultGraphs, UsingNamed: req.namedGraphs,
	})
	if err != nil {
		return err
	}
	return writeUpdated(w, done)
}
