package sparql

import (
	"context"
	"io"

	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/sparql/internal/exec"
	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// solve plans the pattern of a query and starts it, when o.Admit lets it.
func (e *Engine) solve(w *work, ds term.Dataset, q *algebra.Query, o QueryOptions) (*rows, error) {
	ctx := w.ctx
	w.begin()
	defer w.end()
	if q.Form == algebra.Ask {
		one := *q
		one.Pattern = algebra.Slice{In: q.Pattern, Limit: 1}
		q = &one
	}
	opts := plan.Options{Workers: e.workers.Limit(), Check: func() error { w.yield(); return context.Cause(ctx) }}
	if find := e.opts.Find; find != nil {
		opts.Find = func(text string, limit int) ([]plan.Found, int, error) {
			hits, total, err := find(ctx, text, limit)
			list := make([]plan.Found, len(hits))
			for i, h := range hits {
				list[i] = plan.Found(h)
			}
			return list, total, err
		}
	}
	p, err := plan.OptimiseQuery(q, ds, opts)
	if err != nil {
		return nil, cause(ctx, err)
	}
	leave := func() {}
	if o.Admit != nil {
		w.end() // waiting for a place takes none of the query's time
		if leave, err = o.Admit(p.Cost()); err != nil {
			return nil, err
		}
		w.begin()
	}
	r, err := exec.Run(ctx, p, ds,
		exec.Options{Memory: e.memory(o), Pool: e.pool, Spill: e.spill, Trace: o.Explain, Plan: opts, Workers: e.workers,
			Service: e.service(w, o), Yield: w.yields()})
	if err != nil {
		leave()
		return nil, err
	}
	vars := plan.ResultVars(q)
	return &rows{ctx: ctx, leave: leave, plan: p, run: r, vars: vars, row: make([]term.Key, len(vars)),
		keys: make([][]term.Key, len(vars))}, nil
}

// rows are the solutions of a running plan, as terms.
type rows struct {
	ctx   context.Context
	leave func() // gives back the place that QueryOptions.Admit gave
	plan  *plan.Plan
	run   *exec.Rows
	vars  []algebra.Var
	keys  [][]term.Key // terms of the current batch, by column; nil if unbound
	lent  bool         // keys belong to run
	n     int          // rows in the batch
	at    int
	row   []term.Key
}

// Columns returns the variables of the rows.
func (r *rows) Columns() []algebra.Var { return r.vars }

// Next returns the next row, valid until the next call.
func (r *rows) Next() ([]term.Key, error) {
	for r.at == r.n {
		if err := r.batch(); err != nil {
			return nil, cause(r.ctx, err)
		}
	}
	for i, col := range r.keys {
		r.row[i] = ""
		if len(col) > 0 {
			r.row[i] = col[r.at]
		}
	}
	r.at++
	return r.row, nil
}

// batch turns the next batch into terms, a column at a time, which is the fastest way to look them up.
func (r *rows) batch() error {
	b, err := r.run.Next()
	if err != nil {
		return err
	}
	if b == nil {
		return io.EOF
	}
	r.n, r.at = b.Len, 0
	if len(b.Keys) > 0 {
		copy(r.keys, b.Keys)
		r.lent = true
		return nil
	}
	if r.lent {
		clear(r.keys)
		r.lent = false
	}
	for i, ids := range b.Cols {
		r.keys[i] = r.keys[i][:0]
		if ids == nil {
			continue
		}
		if cap(r.keys[i]) < b.Len {
			r.keys[i] = make([]term.Key, b.Len)
		}
		r.keys[i] = r.keys[i][:b.Len]
		if err := r.run.Keys(ids[:b.Len], r.keys[i]); err != nil {
			return err
		}
	}
	return nil
}

// Ready reports whether the current batch has more rows.
func (r *rows) Ready() bool      { return r.at < r.n }
func (r *rows) Explain() string  { return r.plan.Explain(r.run.Trace()) }
func (r *rows) Lines() plan.Line { return r.plan.Lines(r.run.Trace()) }
func (r *rows) Close() {
	r.run.Close()
	r.leave()
}
