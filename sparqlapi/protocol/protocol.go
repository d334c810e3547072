// Package protocol implements the SPARQL 1.1 Protocol over HTTP: queries by GET and POST, updates by POST, and the
// Service Description of the endpoint.
//
// A Handler parses a request (request.go), lets the engine answer it over one snapshot of the store, and streams the
// result in the format that the client prefers (format.go, response.go, graph.go). The first rows are sent as soon as
// they are computed; a reader that is slower than its query does not hold it up (spool.go). An error before
// the first byte is an HTTP error with a problem document. An error after it aborts the connection, so that no client
// mistakes half a result for a whole one. When a client disconnects, its query ends; an update that has arrived
// completely does not.
//
// A function of the program decides who may update. Nothing else here writes.
package protocol

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"odarchive/sparqlapi/answer"
	"odarchive/sparqlapi/operate/access"
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
	// Begin is called before an update changes anything; its error is the answer, and nothing is changed. It may be
	// nil.
	Begin func(context.Context) error
	// Known reports whether the limits of Anonymous do not apply to a client. If it is nil, those for which Authorise
	// returns nil are known.
	Known func(*http.Request) bool
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
	// MaxQuery and MaxUpdate are the maximum bytes of the text of a query and of an update; 0 means 4 MiB and 64 MiB.
	MaxQuery, MaxUpdate int64
	// Anonymous limits the queries of clients that are not Known, beside the Engine's limits.
	Anonymous Limits
	// Places are shared with everything else that runs queries; nil means the defaults of package fair.
	Places *access.Places
	// Strict makes calls of unknown functions errors; otherwise a request may ask for that.
	Strict bool
}

// Limits of a query. Zero values leave the Engine's.
type Limits struct {
	Timeout time.Duration
	Memory  int64 // bytes
	Rows    int64
}

// Apply sets the limits of o, which asks for a timeout or leaves it to the Engine.
func (l Limits) Apply(o *sparql.QueryOptions, usual time.Duration) {
	if l.Timeout > 0 {
		asked := o.Timeout
		if asked <= 0 {
			asked = usual
		}
		o.Timeout = min(asked, l.Timeout)
	}
	o.Memory, o.MaxRows = l.Memory, l.Rows
}

func (o Options) withDefaults() Options {
	if o.MaxQuery <= 0 {
		o.MaxQuery = 4 << 20
	}
	if o.MaxUpdate <= 0 {
		o.MaxUpdate = 64 << 20
	}
	if o.Places == nil {
		o.Places = access.NewPlaces(access.GateSettings{})
	}
	return o
}

// Handler answers /sparql.
type Handler struct{ o Options }

// New returns a Handler.
func New(o Options) *Handler { return &Handler{o.withDefaults()} }

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Add("Vary", "Accept")
	if err := h.serve(w, r); err != nil {
		problem.Write(w, r, ProblemOf(err))
	}
}

func (h *Handler) serve(w http.ResponseWriter, r *http.Request) error {
	in, err := h.receive(w, r)
	if err != nil {
		return err
	}
	defer in.release()
	req, err := parseRequest(r, in)
	if err != nil {
		return err
	}
	switch req.kind {
	case nothing:
		return h.describe(w, r, req)
	case query:
		if int64(len(req.text)) > h.o.MaxQuery {
			return tooLarge("query", h.o.MaxQuery)
		}
		return h.query(w, r, req)
	}
	if err := h.mayUpdate(r); err != nil {
		return err
	}
	if h.o.Begin != nil {
		if err := h.o.Begin(r.Context()); err != nil {
			return err
		}
	}
	ctx, release := answer.LastingClient(r.Context())
	defer release()
	r = r.WithContext(ctx)
	leave, err := h.o.Places.Update(ctx)
	if err != nil {
		return Refused(err)
	}
	defer leave()
	problem.Write(w, r, ProblemOf(h.update(w, r, req))) // here, because r does not end with its client
	return nil
}

// Refused returns the error of a fair.Gate or fair.Budget as a problem: 429 if the client has taken its share, 503 if
// all clients together have taken everything. It returns other errors as they are.
func Refused(err error) error {
	full, ok := errors.AsType[*access.Full](err)
	if !ok {
		return err
	}
	e := &problem.Error{Status: http.StatusServiceUnavailable, Title: "Too many queries at a time",
		Detail: "All places for queries are taken; try again soon.", RetryAfter: max(full.After, time.Second), Cause: err}
	if full.Own {
		e.Status, e.Detail = http.StatusTooManyRequests,
			"You have as many queries running and waiting as one client may have; try again when one has ended."
	}
	return e
}

func (h *Handler) query(w http.ResponseWriter, r *http.Request, req *request) error {
	place, err := h.o.Places.Query(r.Context())
	if err != nil {
		return Refused(err)
	}
	defer place.Leave()
	o := sparql.QueryOptions{
		Timeout: req.timeout, DefaultGraphs: req.defaultGraphs, NamedGraphs: req.namedGraphs, Base: req.base(r, h.o.Endpoint),
		UnionDefault: h.o.UnionDefault, Dialect: h.o.Dialect, Explain: req.explain, Strict: h.o.Strict || req.strict,
		Trusted: h.authorised(r), Admit: place.Admit, Turn: place.Turn,
	}
	if !h.known(r) {
		h.o.Anonymous.Apply(&o, h.o.Engine.Timeout())
	}
	q, err := h.o.Engine.Prepare(req.text, o)
	if err != nil {
		return err
	}
	warn(w, q.Warnings())
	out, named, err := h.chooseFormat(r, req, q)
	if err != nil && !req.explain {
		return err
	}
	if r.Method == http.MethodHead {
		w.Header().Set("Content-Type", out.contentType())
		return nil
	}
	ds, release := h.o.Snapshot()
	release = sync.OnceFunc(release)
	defer release()
	run := func() (*sparql.Results, error) {
		res, err := h.o.Engine.Run(r.Context(), ds, q, o)
		return res, Refused(err)
	}
	if req.explain {
		res, err := run()
		if err != nil {
			return err
		}
		defer res.Close()
		return explain(w, r, req, q, res)
	}
	s := newSpool(w, place, access.ClientOf(r.Context()), h.o.Places.Answers, h.o.Engine.Temp)
	defer s.abort()
	warnings, err := h.answer(s, r, req, q, out, named, run)
	if err == nil {
		release()
		place.Leave()
		err = send(s, warnings)
	}
	if err != nil && s.started() { // an error can only abort the connection
		panic(http.ErrAbortHandler)
	}
	return err
}

// answer writes the results of a query and closes them. It returns what may be wrong with them.
func (h *Handler) answer(s *spool, r *http.Request, req *request, q *sparql.Query, f format, named bool,
	run func() (*sparql.Results, error)) (warnings []string, err error) {
	if q.Kind() == sparql.Triples {
		return h.graph(s, r, f, named, q.Federated(), run)
	}
	res, err := run()
	if err != nil {
		return nil, err
	}
	defer res.Close()
	if err := h.rows(s, r, req.text, f, q.Federated(), res); err != nil {
		return nil, err
	}
	return res.LateWarnings(), nil
}

func (h *Handler) authorised(r *http.Request) bool {
	return h.o.Authorise != nil && h.o.Authorise(r) == nil
}

func (h *Handler) known(r *http.Request) bool {
	if h.o.Known == nil {
		return h.authorised(r)
	}
	return h.o.Known(r)
}

// maxWarnings is the maximum number of warnings in a header.
const maxWarnings = 5

// warn says in the header what is probably wrong with a query.
func warn(w http.ResponseWriter, warnings []string) {
	for _, text := range warnings[:min(len(warnings), maxWarnings)] {
		w.Header().Add(WarningHeader, headerText(text))
	}
}

// WarningHeader is the header that says what is probably wrong with a query although it was answered.
const WarningHeader = "Odarchive-Warning"

// headerText returns a text as the value of a header: printable ASCII, of limited length.
func headerText(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
	return s[:min(len(s), 500)]
}

func (h *Handler) mayUpdate(r *http.Request) error {
	if h.o.Store == nil || h.o.Authorise == nil {
		return problem.New(http.StatusForbidden, "No updates here", "This endpoint answers queries only.")
	}
	return h.o.Authorise(r)
}

func (h *Handler) update(w http.ResponseWriter, r *http.Request, req *request) error {
	done, err := h.o.Engine.Update(r.Context(), h.o.Store, req.text, sparql.UpdateOptions{
		Timeout: req.timeout, Base: req.base(r, h.o.Endpoint), Using: req.defaultGraphs, UsingNamed: req.namedGraphs, Dialect: h.o.Dialect,
	})
	if err != nil {
		return err
	}
	return writeUpdated(w, done)
}
