package exec

import (
	"odarchive/triplestore/sparql/algebra"
	"odarchive/triplestore/sparql/expr"
	"odarchive/triplestore/sparql/plan"
	"odarchive/triplestore/term"
)

// evaluator runs one program over batches: it fetches the terms that the program needs, all of a batch at once.
type evaluator struct {
	q    *query
	prog *expr.Program
	env  expr.Env
	keys [][]term.Key
}

func (q *query) evaluator(e plan.Expr, cols []int) (*evaluator, error) {
	slot := func(v algebra.Var) int { return index(cols, q.plan.Slot(v)) }
	prog, err := expr.Compile(e.Expr, slot, q.exprs)
	if err != nil {
		return nil, err
	}
	ev := &evaluator{q: q, prog: prog, keys: make([][]term.Key, len(cols))}
	ev.env.Keys = ev.keys
	return ev, nil
}

// begin prepares a batch for value.
func (ev *evaluator) begin(b *batch) error {
	ev.env.Cols = b.cols
	for _, c := range ev.prog.Terms {
		if cap(ev.keys[c]) < b.n {
			ev.keys[c] = make([]term.Key, b.n)
		}
		ev.keys[c] = ev.keys[c][:b.n]
		if err := ev.q.terms.resolveStored(b.cols[c][:b.n], ev.keys[c]); err != nil {
			return err
		}
	}
	return nil
}

// value of row i of the batch.
func (ev *evaluator) value(i int) expr.Value {
	ev.env.Row = i
	return ev.prog.Eval(&ev.env)
}
