package exec

import (
	"odarchive/triplestore/sparql/internal/expr"
	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// extend computes columns.
type extend struct {
	q     *query
	in    op
	evs   []*evaluator
	size  int // columns of the input
	order []int
	work  batch
	own   [][]term.ID
	out   batch
}

func (q *query) openExtend(n *plan.Extend, in op, cols []int) (op, error) {
	e := &extend{q: q, in: in, size: len(cols)}
	all := append([]int(nil), cols...)
	for i, x := range n.Exprs {
		ev, err := q.evaluator(x, all)
		if err != nil {
			return nil, err
		}
		e.evs = append(e.evs, ev)
		all = append(all, n.Slots[i])
	}
	e.order = indexes(all, n.Cols)
	e.own = make([][]term.ID, len(n.Exprs))
	return e, nil
}

func (e *extend) next() (*batch, error) {
	b, err := e.in.next()
	if b == nil || err != nil {
		return nil, err
	}
	e.work.n = b.n
	e.work.cols = append(e.work.cols[:0], b.cols[:e.size]...)
	first := e.q.solved
	for i, ev := range e.evs {
		if cap(e.own[i]) < b.n {
			e.own[i] = make([]term.ID, b.n)
		}
		col := e.own[i][:b.n]
		if err := ev.ids(&e.work, first, col); err != nil {
			return nil, err
		}
		e.work.cols = append(e.work.cols, col)
	}
	e.q.solved += uint64(b.n)
	return e.out.setColumns(b.n, e.work.cols, e.order), nil
}

func (e *extend) close() { e.in.close() }

// valueID returns the id of a computed value, 0 for an error.
func (q *query) valueID(v expr.Value) (term.ID, error) {
	if v.IsErr() {
		return 0, nil
	}
	if id := v.ID(); id != 0 {
		return id, nil
	}
	if id, ok := v.InlineID(); ok {
		return id, nil
	}
	return q.terms.intern(v.Key())
}
