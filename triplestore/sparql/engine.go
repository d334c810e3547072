// Package sparql answers SPARQL 1.1 queries and updates over a quad store.
//
// An Engine takes a text the whole way: parse (package syntax), translate (algebra), optimise (plan), run (exec),
// hand out results. Query and its kin below read as that one page; each rung has a package and a printed form of its
// own. Queries run over a term.Dataset, one unchanging state of some store; updates over a Store, which is asked for a
// transaction: an update request is applied as a whole or not at all.
//
// The Engine never stops answering: every query has a deadline and a memory budget, and ends soon after its
// context does. It reaches into the network for SERVICE and LOAD only, and only where Options allow it; it never reads
// files.
package sparql

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"time"

	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/sparql/internal/exec"
	"odarchive/triplestore/sparql/internal/syntax"
	"odarchive/triplestore/term"
)

// Options of an Engine. The zero value works: no SERVICE, no LOAD, nothing logged.
type Options struct {
	Timeout    time.Duration // of a query or update that asks for none; default 60 s
	MaxTimeout time.Duration // what may be asked for at most; default 10 min
	Memory     int64         // bytes one query may hold; default 512 MiB
	MaxRows    int64         // rows or triples of one result; 0: no limit
	Workers    int           // processors that its queries may keep busy by helping each other; default: those there are
	Service    *Federation   // asks other endpoints for SERVICE; nil refuses
	Fetch      Fetch         // fetches documents for LOAD; nil refuses
	MaxLoad    int64         // triples that one update may LOAD; default 10 million
	Slow       time.Duration // queries that take longer are logged; 0: none
	Log        *slog.Logger
}

// Defaults of Options.
const (
	DefaultTimeout    = 60 * time.Second
	DefaultMaxTimeout = 10 * time.Minute
	DefaultMemory     = 512 << 20
	DefaultMaxLoad    = 10_000_000
)

func (o Options) withDefaults() Options {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.MaxTimeout <= 0 {
		o.MaxTimeout = max(DefaultMaxTimeout, o.Timeout)
	}
	if o.Memory <= 0 {
		o.Memory = DefaultMemory
	}
	if o.MaxLoad <= 0 {
		o.MaxLoad = DefaultMaxLoad
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// QueryOptions are one query's own; the zero value asks for nothing special.
type QueryOptions struct {
	Timeout time.Duration // 0: the Engine's; never more than its MaxTimeout
	MaxRows int64         // 0: the Engine's
	Memory  int64         // 0: the Engine's; never more
	Base    string        // for relative IRIs
	// DefaultGraphs and NamedGraphs, if one is not empty, replace the FROM and FROM NAMED of the query (Protocol §2.1.4).
	DefaultGraphs, NamedGraphs []string
	UnionDefault               bool // without FROM, the default graph is the union of all graphs
	Dialect                    bool // read historical Dublin Core IRIs as terms (algebra.Historical)
	Explain                    bool // measure every operator for Results.Explain
	Trusted                    bool // SERVICE may ask endpoints that are not on the list: the asker holds the token
}

// Engine answers queries and updates; it may be used concurrently.
type Engine struct {
	opts Options
	turn chan struct{} // of updates

	workers *exec.Workers
}

// New makes an Engine.
func New(o Options) *Engine {
	o = o.withDefaults()
	return &Engine{opts: o, turn: make(chan struct{}, 1), workers: exec.NewWorkers(o.Workers)}
}

// Query is a parsed query, ready for Run. It may be run many times.
type Query struct{ algebra *algebra.Query }

// Kind returns the kind of results that the query has.
func (q *Query) Kind() Kind {
	switch q.algebra.Form {
	case algebra.Select:
		return Solutions
	case algebra.Ask:
		return Boolean
	}
	return Triples
}

// Algebra returns the query's pattern as an S-expression of SPARQL algebra (§18.2), before optimisation.
func (q *Query) Algebra() string { return algebra.SSE(q.algebra.Pattern) }

// Query answers a query over one state of a store. The caller must close the Results, which read ds until then.
// The error is a *SyntaxError if text is not a query, or one of ErrTimeout, ErrMemory, ErrQueryTooLarge.
func (e *Engine) Query(ctx context.Context, ds term.Dataset, text string, o QueryOptions) (*Results, error) {
	q, err := e.Prepare(text, o)
	if err != nil {
		return nil, err
	}
	return e.Run(ctx, ds, q, o)
}

// Prepare parses and translates a query, and gives it the dataset and dialect that o asks for.
func (e *Engine) Prepare(text string, o QueryOptions) (*Query, error) {
	tree, err := syntax.ParseQuery(text, o.Base, syntax.Options{})
	if err != nil {
		return nil, err
	}
	q, err := algebra.Translate(tree)
	if err != nil {
		return nil, fmt.Errorf("sparql: %w", err)
	}
	if len(o.DefaultGraphs)+len(o.NamedGraphs) > 0 {
		q.From, q.FromNamed = o.DefaultGraphs, o.NamedGraphs
	}
	if o.Dialect {
		q = algebra.Historical(q)
	}
	return &Query{q}, nil
}

// Run answers a query that has been prepared.
func (e *Engine) Run(ctx context.Context, ds term.Dataset, query *Query, o QueryOptions) (*Results, error) {
	q := query.algebra
	if o.UnionDefault && q.From == nil && q.FromNamed == nil {
		ds = unionDefault(ds)
	}
	ctx, cancel := e.deadline(ctx, o.Timeout)
	s, err := e.solve(ctx, ds, q, o)
	if err != nil {
		cancel()
		return nil, err
	}
	r := &Results{Kind: query.Kind(), Vars: names(q.Vars), Prefixes: q.Prefixes, solutions: s, cancel: cancel, max: e.maxRows(o)}
	r.watch(e, query, time.Now())
	switch q.Form {
	case algebra.Ask:
		err = r.ask()
	case algebra.Construct:
		r.triples = newTemplate(q.Template, s, s.Columns())
	case algebra.Describe:
		r.triples = newDescription(ctx, ds, q, s, s.Columns())
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

func names(vars []algebra.Var) []string {
	out := make([]string, len(vars))
	for i, v := range vars {
		out[i] = string(v)
	}
	return out
}

// deadline gives a query the time that it asks for, within limits.
func (e *Engine) deadline(ctx context.Context, asked time.Duration) (context.Context, context.CancelFunc) {
	if asked <= 0 {
		asked = e.opts.Timeout
	}
	asked = min(asked, e.opts.MaxTimeout)
	return context.WithTimeoutCause(ctx, asked, timeLimit(asked))
}

func (e *Engine) maxRows(o QueryOptions) int64 {
	if o.MaxRows > 0 && (e.opts.MaxRows == 0 || o.MaxRows < e.opts.MaxRows) {
		return o.MaxRows
	}
	return e.opts.MaxRows
}
