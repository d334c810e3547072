// Package exec runs a plan: operators over batches of ids, with a memory budget and a deadline.
//
// It reads any term.Dataset, such as *triplestore.Snapshot or the naive store; neither imports this package.
package exec

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/sparql/internal/expr"
	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// Options of one run. The zero value has no limits except the defaults named here.
type Options struct {
	// Memory is the number of bytes that the operators may use. 0 means DefaultMemory.
	Memory int64
	// Pool, if not nil, is the memory that this query shares with others.
	Pool *Pool
	// Spill, if not nil, keeps rows in files if there is no memory for them.
	Spill *Spill
	// MaxRows is the maximum number of rows. 0 means no maximum.
	MaxRows int64
	// BatchSize is the maximum number of rows in a batch. 0 means DefaultBatch.
	BatchSize int
	// Timeout ends the run with ErrTimeout. If 0, only the context ends it.
	Timeout time.Duration
	// Trace measures rows and time of each operator.
	Trace bool
	// Now is the value of NOW(). If zero, it is the time of the call.
	Now time.Time
	// Plan are the planner's options for patterns that are planned during the run (EXISTS by substitution).
	Plan plan.Options
	// Workers decides when a Parallel of the plan gets helpers. If nil, it never does.
	Workers *Workers
	// Yield, if not nil, is called often by all goroutines of the run, and may wait.
	Yield func()
	// Service evaluates SERVICE. If nil, every SERVICE is an error, or one empty solution if it is SILENT.
	Service func(ctx context.Context, req ServiceRequest) (ServiceRows, error)
}

// ServiceRequest is a call of another endpoint.
type ServiceRequest struct {
	Endpoint string
	Op       algebra.Service
	Vars     []algebra.Var // the columns wanted, in order
	// Keys and Rows, if Rows is not nil, restrict the solutions to those that agree with a row in the variables of
	// Keys. The rows differ, and have no blank nodes.
	Keys []algebra.Var
	Rows [][]term.Key
}

// ServiceRows streams solutions. Next returns a term for each variable of the request, "" if it is unbound, and nil
// after the last.
type ServiceRows interface {
	Next() ([]term.Key, error)
	Close()
}

// Default limits of a run.
const (
	DefaultMemory = 512 << 20
	DefaultBatch  = 1024
)

// Batch is some rows, column by column. Cols[i] belongs to the i-th variable of Plan.Out. A nil column is unbound in
// every row, the zero id in one. A Batch is valid until the next call of Next.
type Batch struct {
	Len  int
	Cols [][]term.ID
	Keys [][]term.Key // the terms of the columns; empty if Rows.Keys has to look them up
}

// Rows are the solutions of a running plan. They belong to one goroutine. The caller must call Close.
type Rows struct {
	q      *query
	root   op
	out    []int // column of the root for each slot of Plan.Out; -1: unbound
	batch  Batch
	rows   int64
	done   bool
	cancel context.CancelFunc
}

// Run starts a plan. It computes nothing before the first Next.
func Run(ctx context.Context, p *plan.Plan, ds term.Dataset, opts Options) (*Rows, error) {
	if opts.Memory == 0 {
		opts.Memory = DefaultMemory
	}
	if opts.BatchSize <= 0 {
		opts.BatchSize = DefaultBatch
	}
	if opts.Now.IsZero() {
		opts.Now = time.Now()
	}
	cancel := context.CancelFunc(func() {})
	if opts.Timeout > 0 {
		ctx, cancel = context.WithTimeoutCause(ctx, opts.Timeout, &LimitError{Limit: ErrTimeout, Value: int64(opts.Timeout)})
	}
	q := &query{ctx: ctx, plan: p, ds: ds, opts: opts, budget: &budget{limit: opts.Memory, pool: opts.Pool}, paths: &pathGraphs{}}
	q.terms = newTerms(ds, p.Locals(), q.budget)
	q.exprs = &expr.Context{Now: opts.Now, Base: p.Base, BlankP: fmt.Sprintf("q%xx", runs.Add(1)^uint64(opts.Now.UnixNano()))}
	q.seeds = map[*plan.Seed]*block{}
	q.opts.Plan.Workers = 1 // plans made while running are small
	if opts.Trace {
		q.trace = &trace{by: map[int]*measured{}}
	}
	root, err := q.open(p.Root)
	if err != nil {
		q.budget.close()
		cancel()
		return nil, err
	}
	opts.Workers.enter()
	r := &Rows{q: q, root: root, cancel: cancel}
	cols := p.Root.Info().Cols
	for _, s := range p.Out {
		r.out = append(r.out, index(cols, s))
	}
	r.batch.Cols = make([][]term.ID, len(r.out))
	return r, nil
}

// runs makes the labels of computed blank nodes differ between the queries of a process.
var runs atomic.Uint64

// Next returns the next rows, or nil at the end.
func (r *Rows) Next() (*Batch, error) {
	if r.done {
		return nil, nil
	}
	b, err := r.root.next()
	if err != nil || b == nil {
		r.done = true
		return nil, err
	}
	r.rows += int64(b.n)
	if r.q.opts.MaxRows > 0 && r.rows > r.q.opts.MaxRows {
		r.done = true
		return nil, &LimitError{Limit: ErrRows, Value: r.q.opts.MaxRows}
	}
	r.batch.Len = b.n
	r.batch.Keys = r.batch.Keys[:0]
	for i, c := range r.out {
		var keys []term.Key
		if r.batch.Cols[i] = nil; c >= 0 {
			r.batch.Cols[i] = b.cols[c]
			if b.keys != nil {
				keys = b.keys[c][:b.n]
			}
		}
		if b.keys != nil {
			r.batch.Keys = append(r.batch.Keys, keys)
		}
	}
	return &r.batch, nil
}

// Keys sets keys[i] to the term of ids[i], which may be a computed one. An unbound id yields "".
func (r *Rows) Keys(ids []term.ID, keys []term.Key) error { return r.q.terms.resolve(ids, keys) }

// Trace returns what each operator did so far, by its number in the plan. It is nil without Options.Trace.
func (r *Rows) Trace() map[int]plan.Measured {
	if r.q.trace == nil {
		return nil
	}
	r.q.trace.mu.Lock()
	defer r.q.trace.mu.Unlock()
	m := map[int]plan.Measured{}
	for nr, t := range r.q.trace.by {
		m[nr] = plan.Measured{Rows: t.rows.Load(), Nanos: t.nanos.Load()}
	}
	return m
}

// Memory returns the largest number of bytes that the operators held so far.
func (r *Rows) Memory() int64 { return r.q.budget.peak.Load() }

// Close ends the run. It may be called twice, and before the end of the rows.
func (r *Rows) Close() {
	r.done = true
	if r.root != nil {
		r.root.close()
		r.root = nil
		r.q.opts.Workers.leave()
		r.q.budget.close()
	}
	r.cancel()
}
