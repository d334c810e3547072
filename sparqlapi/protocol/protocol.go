// Package protocol speaks the SPARQL 1.1 Protocol over HTTP: queries by GET and POST, updates by POST, and the Service
// Description of the endpoint.
//
// A Handler reads a request (request.go), has the engine answer it over one snapshot of the store, and streams the
// result in the format the client likes best (write.go). The first rows leave as soon as they are there. An error before
// the first byte has left is an HTTP error with a problem document; after it the connection is cut, so that nobody
// takes half a result for a whole one. A client that goes away stops its query, but not an update that arrived whole.
//
// Who may update is decided by a function of the program; nothing else here writes.
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

// Options of New. Engine and Snapshot are needed.
type Options struct {
	Engine *sparql.Engine
	// Snapshot gives the current state of the store; release is called when the answer is complete.
	Snapshot func() (ds term.Dataset, release func())
	// Store takes updates, from those that Authorise lets through; without both there are none.
	// Its error is the answer to the others: a problem of status 401 or 403.
	Store     sparql.Store
	Authorise func(*http.Request) error
	// Console answers a person who opens the endpoint without a query; nil: they get the service description.
	Console http.Handler
	// Page makes what stands around an HTML table of results, and may set headers for it; nil: a bare page.
	Page func(w http.ResponseWriter, r *http.Request, query string) (head, tail string)
	// Endpoint is the address in the service description; "" takes that of the request.
	Endpoint string
	// Federated says that SERVICE works, in the service description.
	Federated bool

	Dialect      bool              // read historical Dublin Core IRIs as terms
	UnionDefault bool              // the default graph is the union of all graphs
	Prefixes     map[string]string // for graphs and HTML, beside those that a query declares
	MaxBody      int64             // bytes of a request; default 64 MiB
	Slots        int               // queries and updates at a time; default 32. More wait, then are turned away
	Wait         time.Duration     // how long they wait; default 10 s
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

// New makes the handler.
func New(o Options) *Handler {
	o = o.withDefaults()
	return &Handler{o: o, slots: make(chan struct{}, o.Slots)}
}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Add("Vary", "Accept")
	if err := h.serve(w, r); err != nil {
		problem.Write(w, r, Answer(err))
	}
}

func (h *Handler) serve(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, h.o.MaxBody)
	req, err := read(r, h.o.MaxBody)
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
	leave, err := h.enter(r.Context())
	if err != nil {
		return err
	}
	defer leave()
	if req.kind == update {
		problem.Write(w, r, Answer(h.update(w, r, req))) // here, where r does not end with its client
		return nil
	}
	return h.query(w, r, req)
}

// enter takes a slot.
func (h *Handler) enter(ctx context.Context) (leave func(), err error) {
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
	out, err := h.choose(r, req, q)
	if err != nil {
		return err
	}
	if r.Method == http.MethodHead {
		w.Header().Set("Content-Type", out.contentType())
		return nil
	}
	ds, release := h.o.Snapshot()
	defer release()
	res, err := h.o.Engine.Run(r.Context(), ds, q, o)
	if err != nil {
		return err
	}
	defer res.Close()
	if req.explain {
		return explain(w, q, res)
	}
	return h.stream(w, r, req.text, out, res)
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
