package sink

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"odarchive/triplestore"
	"odarchive/triplestore/term"
)

// SPARQLOptions configure a SPARQL target.
type SPARQLOptions struct {
	Update   string // address that takes updates
	Query    string // address that takes queries; by default guessed from Update
	User     string // for Basic or Digest authentication; may be empty
	Password string // of User; a bearer token if User is empty
	// Graph is the IRI of the graph that takes the archive's default graph; "" is the target's default graph.
	Graph string
	// Base is the archive's base IRI. The IRIs of the state graph and of skolemized blank nodes begin with it.
	Base string
	// After, if not nil, is the position from which a new target gets changes. Otherwise it gets everything.
	After *uint64
	// Replace allows to empty the graph that takes the default graph if a new target has triples in it.
	Replace bool
	Client  *http.Client // nil means one with a timeout of five minutes
	// BatchQuads and BatchBytes are the size at which an update is sent; 2,000 and 512 KiB by default.
	BatchQuads, BatchBytes int
	// Pause is the pause before a failed request is sent again; one second by default. It doubles with each try.
	Pause time.Duration
}

// SPARQL is a target: a SPARQL endpoint.
//
// The state graph {base}sink in the endpoint has the standing of the copy and the names of the graphs that sinks have
// written. Each request ends with the operations that add its standing. So an endpoint without transactions may have
// changes that its standing does not include, but never lacks any that it includes; applying changes twice does no
// harm. The standing is read before each request: if an endpoint was restarted and has lost changes, the round is
// repeated from the standing that it has.
type SPARQL struct {
	o      SPARQLOptions
	http   *authenticated
	state  term.Key          // IRI of the state graph, and the subject of its triples
	graphs map[term.Key]bool // graphs that sinks have written, by their names in the target
	said   []string          // the texts of the standings that the target had when they were last read or written
}

const (
	sinkPosition = term.Key("<urn:odarchive:sink:position")
	sinkGraph    = term.Key("<urn:odarchive:sink:graph")
)

// NewSPARQL returns a target. An error is about the options.
func NewSPARQL(o SPARQLOptions) (*SPARQL, error) {
	u, err := url.Parse(o.Update)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%q is not the address of an endpoint, such as http://localhost:3030/ds/update", o.Update)
	}
	if o.Query == "" {
		o.Query = queryAddress(*u)
	}
	if o.Client == nil {
		o.Client = &http.Client{Timeout: 5 * time.Minute}
	}
	if o.BatchQuads <= 0 {
		o.BatchQuads = 2000
	}
	if o.BatchBytes <= 0 {
		o.BatchBytes = 512 << 10
	}
	if o.Pause <= 0 {
		o.Pause = firstWait
	}
	return &SPARQL{o: o, http: &authenticated{client: o.Client, user: o.User, password: o.Password}, state: term.IRI(o.Base + "sink")}, nil
}

// queryAddress returns the address for queries that belongs to an address for updates, in the most common servers.
func queryAddress(u url.URL) string {
	if base, ok := strings.CutSuffix(u.Path, "/update"); ok { // Fuseki, Oxigraph
		u.Path = base + "/query"
	} else if base, ok := strings.CutSuffix(u.Path, "/statements"); ok { // RDF4J, GraphDB
		u.Path = base
	}
	return u.String()
}

// Sync implements Target.
func (t *SPARQL) Sync(ctx context.Context, s Source, wait time.Duration) (round Round, err error) {
	w := &sparqlRound{t: t, ctx: ctx, round: &round}
	if w.at, err = t.standing(ctx); err == nil {
		err = t.readGraphs(ctx)
	}
	if err == nil {
		err = w.sync(s, wait)
	}
	round.Position = w.at.at
	if m, ok := errors.AsType[moved](err); ok {
		err = temporary{m}
	}
	if _, retry := errors.AsType[temporary](err); retry && w.requests > 0 {
		err = progress{err}
	}
	return round, err
}

// moved marks errors after which the round must be repeated from the start: repeating the request would not help.
type moved struct{ error }

func (m moved) Unwrap() error { return m.error }

// sparqlRound is one round of a SPARQL target.
type sparqlRound struct {
	t        *SPARQL
	ctx      context.Context
	round    *Round
	at       standing // of the target
	batch    batch
	requests int // that the target has answered
}

// sync runs the round.
func (w *sparqlRound) sync(s Source, wait time.Duration) error {
	if !w.at.known {
		if err := w.first(s); err != nil {
			return err
		}
	}
	if w.at.phase == complete {
		last, err := s.Changes(w.ctx, w.at.at, wait, w.change)
		if err == nil {
			return w.flush(standing{known: true, at: last})
		}
		if !errors.Is(err, ErrGone) {
			return err
		}
	}
	if w.at.phase < loading {
		w.batch.reset()
		return w.anew(s)
	}
	return w.load(s)
}

// first prepares a new target, which no sink has written to.
func (w *sparqlRound) first(s Source) error {
	p, err := s.Position(w.ctx)
	if err != nil {
		return err
	}
	if w.t.o.After != nil {
		p.N = *w.t.o.After
		return w.mark(standing{known: true, at: p})
	}
	used, err := w.t.ask(w.ctx, "ASK "+w.t.inDefault("?s ?p ?o"))
	if err != nil {
		return err
	}
	if used && !w.t.o.Replace {
		where := "its default graph"
		if w.t.o.Graph != "" {
			where = "the graph <" + w.t.o.Graph + ">"
		}
		return fmt.Errorf(
			"the endpoint has triples in %s that no sink wrote; name another graph with --graph, or have them removed with --replace",
			where)
	}
	if used {
		if err := w.t.update(w.ctx, w.t.clearText("")); err != nil {
			return err
		}
	}
	return w.mark(standing{known: true, at: p, phase: loading})
}

// anew empties the graphs that sinks have written and writes everything. It is for targets to whose position the log
// does not reach back.
func (w *sparqlRound) anew(s Source) error {
	if err := w.mark(standing{known: true, at: w.at.at, phase: emptying}); err != nil {
		return err
	}
	for _, g := range append([]term.Key{""}, slices.Sorted(maps.Keys(w.t.graphs))...) {
		if err := w.again(func() error { return w.t.update(w.ctx, w.t.clearText(g)) }); err != nil {
			return err
		}
	}
	p, err := s.Position(w.ctx)
	if err == nil {
		err = w.mark(standing{known: true, at: p, phase: loading})
	}
	if err != nil {
		return err
	}
	return w.load(s)
}

// load writes everything, and then the changes since the position at which loading began. The changes matter if loading
// was interrupted: they remove quads that an earlier process wrote and the archive has removed since.
func (w *sparqlRound) load(s Source) error {
	w.round.Begun = true
	began := w.at.at
	var at Position
	err := s.Dump(w.ctx, func(p Position) error {
		at = p
		return nil
	}, func(q term.Quad) error { return w.put(q, false) })
	if err != nil {
		return err
	}
	last, err := s.Changes(w.ctx, began, 0, w.apply)
	if errors.Is(err, ErrGone) {
		w.batch.reset()
		return w.anew(s)
	}
	if err != nil {
		return err
	}
	at.N = max(at.N, last.N)
	return w.flush(standing{known: true, at: at})
}

// apply adds the changes of a piece of a commit to the batch.
func (w *sparqlRound) apply(c triplestore.Commit) error {
	for _, q := range c.Removed {
		if err := w.put(q, true); err != nil {
			return err
		}
	}
	for _, q := range c.Added {
		if err := w.put(q, false); err != nil {
			return err
		}
	}
	return nil
}

// change adds the changes of a piece of a commit to the batch. The standing moves to the commit's position with the
// request that has its last piece.
func (w *sparqlRound) change(c triplestore.Commit) error {
	if err := w.apply(c); err != nil {
		return err
	}
	if !c.More {
		w.batch.reached = Position{w.at.at.Log, c.Position}
	}
	return nil
}

// put adds a change to the batch, and sends the batch when it is full.
func (w *sparqlRound) put(q term.Quad, remove bool) error {
	if w.batch.full(w.t.o.BatchQuads, w.t.o.BatchBytes) {
		next := w.at
		if r := w.batch.reached; next.phase >= loading {
			next.phase++
		} else if r.N > next.at.N {
			next.at = r // all changes up to r are in this batch or in earlier ones
		}
		if err := w.flush(next); err != nil {
			return err
		}
	}
	graph, triple, err := w.t.quad(q)
	if err != nil {
		return err
	}
	if g := w.t.skolem(q.G); g != "" && !w.t.graphs[g] && !remove {
		w.t.graphs[g] = true
		w.batch.named = append(w.batch.named, g)
	}
	w.batch.put(graph, triple, remove)
	return nil
}

// maxResends is how often a request is repeated before the round fails.
const maxResends = 8

// flush sends the batch together with the next standing. If there is no answer, flush reads the standing to find out
// whether the batch was applied, and sends it again if it was not.
func (w *sparqlRound) flush(next standing) error {
	if w.batch.empty() && next == w.at {
		return nil
	}
	text := w.batch.operations()
	if err := w.again(func() error { return w.send(text, next) }); err != nil {
		return err
	}
	added, removed := w.batch.counts()
	w.batch.reset()
	w.at = next
	w.requests++
	w.round.Added += added
	w.round.Removed += removed
	return nil
}

// again calls f until it succeeds or fails with an error that is not temporary, at most maxResends+1 times.
func (w *sparqlRound) again(f func() error) error {
	for resends := 0; ; resends++ {
		err := f()
		if _, ok := errors.AsType[temporary](err); !ok || resends == maxResends {
			return err
		}
		select {
		case <-time.After(backoff(w.t.o.Pause, resends)):
		case <-w.ctx.Done():
			return context.Cause(w.ctx)
		}
	}
}

// errMoved means that the standing of a target is not the one that was written last.
var errMoved = errors.New("the endpoint is not where it was left; another sink may be writing to it, or it has lost changes")

// send sends operations and the next standing, unless the target has that standing already.
func (w *sparqlRound) send(operations []string, next standing) error {
	now, err := w.t.standing(w.ctx)
	if err != nil {
		return err
	}
	switch {
	case now == next && next != w.at:
		return nil // the request before was applied, but its answer was lost
	case now != w.at:
		return moved{fmt.Errorf("%w: it says %q", errMoved, now.text())}
	}
	return w.t.update(w.ctx, joined(append(slices.Clone(operations), w.t.marks(w.batch.named, next)...)))
}

// mark writes another standing, without changes.
func (w *sparqlRound) mark(next standing) error {
	if next == w.at {
		return nil
	}
	text := joined(w.t.marks(nil, next))
	if err := w.again(func() error { return w.t.update(w.ctx, text) }); err != nil {
		return err
	}
	w.at, w.t.said = next, []string{next.text()}
	return nil
}
