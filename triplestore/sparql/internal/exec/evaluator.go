package exec

import (
	"fmt"

	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/sparql/internal/expr"
	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// evaluator runs one expression over batches. It looks up the terms that the expression needs for a whole batch at
// once.
type evaluator struct {
	q    *query
	prog *expr.Program
	env  expr.Env
	keys [][]term.Key

	one   int // the only column that the value depends on; -1 if there is no such column
	known outcomes
	part  batch
	rows  []int32 // rows of the batch whose values are being computed

	vec   *expr.Vector        // computes most values from ids; nil if it cannot, or too often did not
	rest  batch               // the rows for which it could not
	wrote map[term.ID]term.ID // ids of the terms of computed decimals
}

func (q *query) evaluator(e plan.Expr, cols []int) (*evaluator, error) {
	slot := func(v algebra.Var) int { return index(cols, q.plan.Slot(v)) }
	prog, err := expr.Compile(e.Expr, slot, q.exprs)
	if err != nil {
		return nil, err
	}
	ev := &evaluator{q: q, prog: prog, keys: make([][]term.Key, len(cols)), one: -1}
	ev.vec = expr.Vectorise(e.Expr, slot, q.terms.intern)
	ev.env.Keys = ev.keys
	if prog.Pure && len(prog.Slots) == 1 {
		ev.one = prog.Slots[0]
	}
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

// value evaluates the expression for row i of the batch. It checks the query's context, for each row if texts are
// read, which may be long.
func (ev *evaluator) value(i int) (expr.Value, error) {
	if len(ev.prog.Terms) > 0 || i&63 == 0 {
		if err := ev.q.check(); err != nil {
			return expr.Value{}, err
		}
	}
	ev.env.Row = i
	v := ev.prog.Eval(&ev.env)
	if ev.env.Failed != nil {
		return v, fmt.Errorf("%w (%w)", ev.env.Failed, ErrTimeout)
	}
	return v, nil
}

// vector returns what the Vector computes for a batch, and the rows that it leaves to value. ok is false if the
// expression has no Vector, or one that leaves too much.
func (ev *evaluator) vector(b *batch) (ids []term.ID, rest []int32, ok bool) {
	if ev.vec == nil {
		return nil, nil, false
	}
	ids = ev.vec.Eval(b.cols, b.n)
	ev.rows = ev.rows[:0]
	for i, id := range ids {
		if id == expr.Unsure {
			ev.rows = append(ev.rows, int32(i))
		}
	}
	if len(ev.rows) > 8+b.n/8 {
		ev.vec = nil
		return nil, nil, false
	}
	return ids, ev.rows, true
}

// values calls f with the values of some rows of a batch.
func (ev *evaluator) values(b *batch, rows []int32, f func(row int32, v expr.Value) error) error {
	if len(rows) == 0 {
		return nil
	}
	if len(ev.rest.cols) < len(b.cols) {
		ev.rest.cols = make([][]term.ID, len(b.cols))
	}
	for _, c := range ev.prog.Slots {
		col := ev.rest.cols[c][:0]
		for _, i := range rows {
			var id term.ID // 0 for a column that is never bound
			if b.cols[c] != nil {
				id = b.cols[c][i]
			}
			col = append(col, id)
		}
		ev.rest.cols[c] = col
	}
	ev.rest.n = len(rows)
	if err := ev.begin(&ev.rest); err != nil {
		return err
	}
	for k, i := range rows {
		v, err := ev.value(k)
		if err != nil {
			return err
		}
		if err := f(i, v); err != nil {
			return err
		}
	}
	return nil
}

// written returns the id of the term of a result of the Vector.
func (ev *evaluator) written(id term.ID) (term.ID, error) {
	v, ok := expr.Computed(id)
	if !ok {
		return id, nil
	}
	if w, ok := ev.wrote[id]; ok {
		return w, nil
	}
	w, err := ev.q.valueID(v)
	if err != nil {
		return 0, err
	}
	if ev.wrote == nil || len(ev.wrote) >= maxOutcomes {
		ev.wrote = map[term.ID]term.ID{}
	}
	ev.wrote[id] = w
	return w, nil
}

// ids sets out to the ids of the values of a batch; an error is the zero id. A value that depends on one column is
// computed once for each of its ids, as long as the id is remembered.
func (ev *evaluator) ids(b *batch, first uint64, out []term.ID) error {
	if ids, rest, ok := ev.vector(b); ok {
		var err error
		for i, id := range ids {
			if out[i], err = ev.written(id); err != nil {
				return err
			}
		}
		return ev.values(b, rest, func(i int32, v expr.Value) (err error) {
			out[i], err = ev.q.valueID(v)
			return err
		})
	}
	if ev.one < 0 || b.cols[ev.one] == nil {
		if err := ev.begin(b); err != nil {
			return err
		}
		for i := range b.n {
			ev.env.Solution = first + uint64(i) + 1
			v, err := ev.value(i)
			if err != nil {
				return err
			}
			if out[i], err = ev.q.valueID(v); err != nil {
				return err
			}
		}
		return nil
	}
	col := b.cols[ev.one][:b.n]
	ev.rows = ev.rows[:0]
	if len(ev.part.cols) < len(b.cols) {
		ev.part.cols = make([][]term.ID, len(b.cols))
	}
	want := ev.part.cols[ev.one][:0]
	for i, id := range col {
		known := ev.known.slot(id)
		switch {
		case known.set && known.id == id:
			out[i] = known.value
		default:
			if n := len(want); n == 0 || want[n-1] != id {
				want = append(want, id)
			}
			ev.rows = append(ev.rows, int32(i))
		}
	}
	if len(want) == 0 {
		return nil
	}
	ev.part.cols[ev.one], ev.part.n = want, len(want)
	if err := ev.begin(&ev.part); err != nil {
		return err
	}
	at := -1
	var value term.ID
	for _, i := range ev.rows {
		if id := col[i]; at < 0 || want[at] != id {
			at++
			v, err := ev.value(at)
			if err != nil {
				return err
			}
			if value, err = ev.q.valueID(v); err != nil {
				return err
			}
			*ev.known.slot(id) = outcome{id, value, true}
		}
		out[i] = value
	}
	ev.known.grow(len(want))
	return nil
}

// outcome is the value of an expression for an id.
type outcome struct {
	id, value term.ID
	set       bool
}

// outcomes is a direct-mapped cache of outcomes. It grows with the number of misses.
type outcomes struct {
	slots  []outcome // a power of two
	misses int
}

const maxOutcomes = 1 << 13

func (o *outcomes) slot(id term.ID) *outcome {
	if o.slots == nil {
		o.slots = make([]outcome, 64)
	}
	return &o.slots[uint64(id)*hashFactor>>32&uint64(len(o.slots)-1)]
}

func (o *outcomes) grow(misses int) {
	if o.misses += misses; o.misses <= len(o.slots) || len(o.slots) >= maxOutcomes {
		return
	}
	old := o.slots
	o.slots = make([]outcome, min(maxOutcomes, 8*len(old)))
	for _, x := range old {
		if x.set {
			*o.slot(x.id) = x
		}
	}
}
