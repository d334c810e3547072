// Package sparql answers SPARQL 1.1 queries and updates over a quad store.
//
// An Engine answers queries over a term.Dataset, which is one immutable state of a store, such as a snapshot of a
// triplestore.Store. It applies updates to a Store, in one transaction per request:
//
//	engine := sparql.New(sparql.Options{})
//	snapshot := store.Snapshot()
//	defer snapshot.Release()
//	results, err := engine.Query(ctx, snapshot, "SELECT * { ?s ?p ?o }", sparql.QueryOptions{})
//	if err != nil {
//		return err
//	}
//	defer results.Close()
//
// The Results stream: the query runs while they are read. Their Kind says which method reads them: Next for the rows
// of a SELECT, Boolean for an ASK, Triple for the graph of a CONSTRUCT or DESCRIBE. Packages results and rdfio write
// them in the usual formats.
//
// Every query has a deadline and a memory budget and ends soon after its context is done. Rows of ORDER BY, DISTINCT,
// GROUP BY and joins for which there is no memory are kept in temporary files. An error that wraps
// ErrTimeout, ErrMemory, ErrRows or ErrQueryTooLarge names the limit; a *SyntaxError says what is wrong with a text,
// and where.
//
// An Engine uses the network for SERVICE and LOAD only, and only as far as Options allow. It reads no files but
// its own temporary ones.
//
// Inside, a query is parsed (internal/syntax), translated to algebra (internal/algebra), planned (internal/plan) and
// run (internal/exec). Prepare and Run show these steps.
package sparql

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"time"

	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/sparql/internal/exec"
	"odarchive/triplestore/sparql/internal/syntax"
	"odarchive/triplestore/term"
)

// Options of an Engine. The zero value allows neither SERVICE nor LOAD and logs nothing.
type Options struct {
	Timeout    time.Duration // of queries and updates that do not ask for one; 0 means 60 s
	MaxTimeout time.Duration // the maximum that they may ask for; 0 means 10 min
	Memory     int64         // bytes that one query may hold; 0 means 512 MiB
	MaxMemory  int64         // bytes that all queries may hold together; 0 means twice Memory
	TempDir    string        // where queries keep rows for which there is no memory; "" means that of the system
	MaxTemp    int64         // bytes of these temporary files together; 0 means 8 GiB, negative means none
	MaxRows    int64         // maximum rows or triples of one result; 0 means no maximum
	Workers    int           // processors that all queries together may use for parallel operators; 0 means all
	Service    *Federation   // asks other endpoints for SERVICE; nil refuses
	Fetch      Fetch         // fetches documents for LOAD; nil refuses
	Resolve    Resolve       // opens documents that FROM names; nil means that there are none
	Find       Find          // searches for arc:search; nil means that there is nothing to search
	MaxLoad    int64         // maximum triples that one update may LOAD; 0 means 10 million
	MaxQuery   int64         // maximum bytes of the text of a query; 0 means 4 MiB
	MaxUpdate  int64         // maximum bytes of the text of an update; 0 means 64 MiB
	// Prefixes are namespaces by prefixes that queries and updates may use without declaring them; a PREFIX of their
	// own replaces one. nil means that every prefix must be declared, as SPARQL has it.
	Prefixes map[string]string
	// DefaultGraph are names by which FROM, or the default-graph-uri of the protocol, means the store's default graph.
	DefaultGraph []string
	Slow         time.Duration // queries that take at least this long are logged; 0 means none
	Log          *slog.Logger
}

// Find finds things by the text of a search, the best first: at most limit of them, and the number of all. What it
// finds must not depend on the dataset of the query. An error about the text wraps ErrArguments.
type Find func(ctx context.Context, text string, limit int) (found []Hit, total int, err error)

// Hit is a thing that was found.
type Hit struct {
	IRI   string
	Score float64
}

// Defaults of Options.
const (
	DefaultTimeout    = 60 * time.Second
	DefaultMaxTimeout = 10 * time.Minute
	DefaultMemory     = 512 << 20
	DefaultMaxTemp    = 8 << 30
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
	if o.MaxMemory <= 0 {
		o.MaxMemory = 2 * o.Memory
	}
	if o.TempDir == "" {
		o.TempDir = os.TempDir()
	}
	if o.MaxTemp == 0 {
		o.MaxTemp = DefaultMaxTemp
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

// QueryOptions are the options of one query. The zero value is ready for use.
type QueryOptions struct {
	// Timeout limits the time in which the query computes, not that in which the caller reads its results. 0 means the
	// Engine's; at most its MaxTimeout.
	Timeout time.Duration
	MaxRows int64  // 0 means the Engine's, which is the maximum
	Memory  int64  // 0 means the Engine's, which is the maximum
	Base    string // the base of relative IRIs
	// DefaultGraphs and NamedGraphs replace FROM and FROM NAMED of the query, unless both are empty (Protocol §2.1.4).
	DefaultGraphs, NamedGraphs []string
	UnionDefault               bool // without FROM, the default graph is the union of all graphs
	Dialect                    bool // read historical Dublin Core IRIs as dct: terms, as the queries of the original ODArchive mean them
	Explain                    bool // measure every operator for Results.Explain
	Trusted                    bool // SERVICE may ask any endpoint, not only those of the list
	Local                      bool // SERVICE asks no endpoint, wherever in the query it stands
	// a function that the engine does not have, or a SERVICE that may be incomplete, is an error, not a warning
	Strict bool
	// Admit, if not nil, is called with the planner's estimate before the query runs, and may wait. leave is called
	// when the query has ended. An error ends the query.
	Admit func(cost time.Duration) (leave func(), err error)
	Turn  Turn // if not nil, decides when the query computes
}

// Engine answers queries and updates. Its methods may be called concurrently.
type Engine struct {
	opts Options
	turn chan struct{} // held by the update that runs

	workers *exec.Workers
	pool    *exec.Pool
	spill   *exec.Spill // nil if there are no temporary files
}

// New returns an Engine.
func New(o Options) *Engine {
	o = o.withDefaults()
	e := &Engine{opts: o, turn: make(chan struct{}, 1), workers: exec.NewWorkers(o.Workers), pool: exec.NewPool(o.MaxMemory)}
	if o.MaxTemp > 0 {
		e.spill = exec.NewSpill(o.TempDir, o.MaxTemp)
	}
	return e
}

// TempFile is a temporary file that counts against Options.MaxTemp. It may be read while it is written.
type TempFile = exec.TempFile

// Temp makes a temporary file for size bytes that wait for a slow reader. It returns nil if the engine has no temporary
// files.
func (e *Engine) Temp(size int64) (*TempFile, error) {
	t, err := e.spill.Temp(size)
	if err != nil {
		return nil, fmt.Errorf("sparql: make a temporary file: %w", err)
	}
	return t, nil
}

// Query is a parsed query, ready for Run. It may be run many times, also concurrently.
type Query struct {
	algebra  *algebra.Query
	warnings []string
}

// Warnings returns what is probably wrong with the query although it can be answered, a sentence each.
func (q *Query) Warnings() []string { return q.warnings }

// Federated reports whether the query asks other endpoints.
func (q *Query) Federated() bool { return asksOthers(q.algebra.Pattern) }

func asksOthers(op algebra.Op) bool {
	if _, ok := op.(algebra.Service); ok {
		return true
	}
	return slices.ContainsFunc(algebra.Inputs(op), asksOthers)
}

// Kind returns the kind of the query's results.
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

// Query answers a query over one state of a store. The caller must close the Results, which read ds until then. The
// error is a *SyntaxError if text is not a query; it wraps ErrTimeout, ErrMemory or ErrQueryTooLarge if the query
// exceeds a limit before its first result.
func (e *Engine) Query(ctx context.Context, ds term.Dataset, text string, o QueryOptions) (*Results, error) {
	q, err := e.Prepare(text, o)
	if err != nil {
		return nil, err
	}
	return e.Run(ctx, ds, q, o)
}

// Prepare parses and translates a query for Run. Of o, it uses Base, Dialect, Strict and the graphs. The error is a
// *SyntaxError if text is not a query; it wraps ErrUnknownFunction if the query must be strict and calls a function
// that the engine does not have.
func (e *Engine) Prepare(text string, o QueryOptions) (*Query, error) {
	tree, err := syntax.ParseQuery(text, o.Base, syntax.Options{MaxBytes: int(e.opts.MaxQuery), Prefixes: e.opts.Prefixes})
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
	if slices.ContainsFunc(q.From, e.isDefault) {
		q.From = slices.Clone(q.From)
		for i, name := range q.From {
			if e.isDefault(name) {
				q.From[i] = algebra.DefaultGraph
			}
		}
	}
	if o.Dialect {
		q = algebra.Historical(q)
	}
	query := &Query{algebra: q, warnings: unknownCalls(q)}
	if o.Strict && len(query.warnings) > 0 {
		return nil, fmt.Errorf("%w: %s", ErrUnknownFunction, query.warnings[0])
	}
	for _, w := range query.warnings {
		e.opts.Log.Warn("suspicious query", "warning", w)
	}
	return query, nil
}

// Prefixes returns the namespaces by prefixes that queries and updates may use without declaring them. They must not be
// changed.
func (e *Engine) Prefixes() map[string]string { return e.opts.Prefixes }

// isDefault reports whether a name of FROM means the default graph of the store.
func (e *Engine) isDefault(name string) bool { return slices.Contains(e.opts.DefaultGraph, name) }

// Run answers a prepared query as Query does. Of o, it does not use what Prepare uses.
func (e *Engine) Run(ctx context.Context, ds term.Dataset, query *Query, o QueryOptions) (*Results, error) {
	q := query.algebra
	if o.UnionDefault && q.From == nil && q.FromNamed == nil {
		ds = unionDefault(ds)
	}
	w := e.newWork(ctx, o)
	ctx = w.ctx
	w.begin()
	ds, release, err := e.withDocuments(w, ds, q, e.memory(o))
	w.end()
	if err != nil {
		err = cause(ctx, err)
		w.close()
		return nil, err
	}
	w.release = release
	s, err := e.solve(w, ds, q, o)
	if err != nil {
		w.close()
		return nil, err
	}
	r := &Results{Kind: query.Kind(), Vars: names(q.Vars), Prefixes: q.Prefixes, Warnings: query.warnings, solutions: s, work: w,
		max: e.maxRows(o)}
	r.logIfSlow(e, query, time.Now())
	switch q.Form {
	case algebra.Ask:
		err = r.readBoolean()
	case algebra.Construct:
		r.triples = newTemplate(q, s, s.Columns())
	case algebra.Describe:
		r.triples = newDescription(ctx, ds, q, s, s.Columns())
	}
	if err != nil {
		r.err = err
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

// deadline returns a context with the timeout that an update asks for, within limits.
func (e *Engine) deadline(ctx context.Context, asked time.Duration) (context.Context, context.CancelFunc) {
	asked = e.limit(asked)
	return context.WithTimeoutCause(ctx, asked, timeLimit(asked))
}

// limit returns the time limit of a query or update that asks for one, 0 for the default.
func (e *Engine) limit(asked time.Duration) time.Duration {
	if asked <= 0 {
		asked = e.opts.Timeout
	}
	return min(asked, e.opts.MaxTimeout)
}

// Timeout returns the time limit of queries that do not ask for one.
func (e *Engine) Timeout() time.Duration { return e.opts.Timeout }

// memory returns how many bytes a query may hold.
func (e *Engine) memory(o QueryOptions) int64 {
	if o.Memory > 0 {
		return min(e.opts.Memory, o.Memory)
	}
	return e.opts.Memory
}

// MaxTimeout returns the longest time limit that a query may ask for.
func (e *Engine) MaxTimeout() time.Duration { return e.opts.MaxTimeout }

func (e *Engine) maxRows(o QueryOptions) int64 {
	if o.MaxRows > 0 && (e.opts.MaxRows == 0 || o.MaxRows < e.opts.MaxRows) {
		return o.MaxRows
	}
	return e.opts.MaxRows
}
