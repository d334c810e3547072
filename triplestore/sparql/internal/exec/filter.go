package exec

import (
	"slices"

	"odarchive/triplestore/sparql/internal/expr"
	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// condition is a list of expressions that must all be true.
type condition struct {
	q     *query
	tests []*test
	rows  []int32
}

// test is one expression. If it reads a single variable, it is decided from the id if possible, and its outcome is
// remembered for each id.
type test struct {
	ev    *evaluator
	fast  expr.Decide
	pair  expr.DecidePair // on columns a and b
	a, b  int
	slot  int // the only column that it reads; -1 if there are several
	known memo
	part  batch
	todo  []int32
	keep  []int32
}

func (q *query) condition(list []plan.Expr, cols []int) (*condition, error) {
	c := &condition{q: q}
	for _, e := range list {
		ev, err := q.evaluator(e, cols)
		if err != nil {
			return nil, err
		}
		t := &test{ev: ev, slot: -1}
		if len(ev.prog.Slots) == 1 && ev.prog.Pure {
			t.slot = ev.prog.Slots[0]
			t.fast = expr.Fast(e.Expr)
		}
		if x, y, decide := expr.FastPair(e.Expr); decide != nil {
			t.a, t.b = index(cols, q.plan.Slot(x)), index(cols, q.plan.Slot(y))
			if t.a >= 0 && t.b >= 0 {
				t.pair = decide
			}
		}
		c.tests = append(c.tests, t)
	}
	return c, nil
}

// keep returns the rows of a batch that pass. The list is valid until the next call.
func (c *condition) keep(b *batch) ([]int32, error) {
	c.rows = c.rows[:0]
	for i := range b.n {
		c.rows = append(c.rows, int32(i))
	}
	for _, t := range c.tests {
		if len(c.rows) == 0 {
			break
		}
		var err error
		if out, ok, failed := t.vector(b, c.rows); ok {
			c.rows, err = out, failed
		} else if t.slot >= 0 && b.cols[t.slot] != nil {
			c.rows, err = t.single(b, c.rows)
		} else {
			c.rows, err = t.general(c.q, b, c.rows)
		}
		if err != nil {
			return nil, err
		}
	}
	return c.rows, nil
}

// general evaluates the expression for each row. If it compares two columns, it evaluates only rows whose ids do not
// decide.
func (t *test) general(q *query, b *batch, rows []int32) ([]int32, error) {
	if !t.idsDecide(b, rows) {
		if err := t.ev.begin(b); err != nil {
			return nil, err
		}
	}
	out := rows[:0]
	for _, i := range rows {
		q.solved++
		keep, sure := false, false
		if t.pair != nil {
			keep, sure = t.pair(b.cols[t.a][i], b.cols[t.b][i])
		}
		if !sure {
			t.ev.env.Solution = q.solved
			v, err := t.ev.value(int(i))
			if err != nil {
				return nil, err
			}
			keep = v.IsTrue()
		}
		if keep {
			out = append(out, i)
		}
	}
	return out, nil
}

// vector decides rows by the expression's Vector, unless a simpler test on ids does. ok is false if it decides none.
func (t *test) vector(b *batch, rows []int32) (out []int32, ok bool, err error) {
	if t.fast != nil || t.pair != nil {
		return nil, false, nil
	}
	ids, _, ok := t.ev.vector(b)
	if !ok {
		return nil, false, nil
	}
	t.todo = t.todo[:0]
	keep := t.keep[:0]
	for _, i := range rows {
		yes, sure := expr.Truth(ids[i])
		if !sure {
			t.todo = append(t.todo, i)
		} else if yes {
			keep = append(keep, i)
		}
	}
	decided := len(keep)
	err = t.ev.values(b, t.todo, func(i int32, v expr.Value) error {
		if v.IsTrue() {
			keep = append(keep, i)
		}
		return nil
	})
	if len(keep) > decided {
		slices.Sort(keep) // the order of rows stays
	}
	t.keep = keep
	return append(rows[:0], keep...), true, err
}

// idsDecide reports whether the ids alone decide all rows.
func (t *test) idsDecide(b *batch, rows []int32) bool {
	if t.pair == nil {
		return false
	}
	x, y := b.cols[t.a], b.cols[t.b]
	for _, i := range rows {
		if _, sure := t.pair(x[i], y[i]); !sure {
			return false
		}
	}
	return true
}

// single evaluates an expression over one column, once for each new id.
func (t *test) single(b *batch, rows []int32) ([]int32, error) {
	col := b.cols[t.slot]
	// First the ids that decide; the terms of all others are looked up together.
	t.todo = t.todo[:0]
	for _, i := range rows {
		id := col[i]
		if t.fast != nil {
			if _, sure := t.fast(id); sure {
				continue
			}
		}
		if t.known.get(id) == 0 {
			t.known.put(id, unknown)
			t.todo = append(t.todo, i)
		}
	}
	if len(t.todo) > 0 {
		if err := t.decide(b, t.todo); err != nil {
			return nil, err
		}
	}
	out := rows[:0]
	for _, i := range rows {
		id := col[i]
		if t.fast != nil {
			if keep, sure := t.fast(id); sure {
				if keep {
					out = append(out, i)
				}
				continue
			}
		}
		switch t.known.get(id) {
		case yes:
			out = append(out, i)
		case no:
		default: // the memo has forgotten it in between
			if err := t.decide(b, []int32{i}); err != nil {
				return nil, err
			}
			if t.known.get(id) == yes {
				out = append(out, i)
			}
		}
	}
	return out, nil
}

// decide evaluates the expression for some rows and remembers the outcomes.
func (t *test) decide(b *batch, rows []int32) error {
	if len(t.part.cols) < len(b.cols) {
		t.part.cols = make([][]term.ID, len(b.cols))
	}
	ids := t.part.cols[t.slot][:0]
	for _, i := range rows {
		ids = append(ids, b.cols[t.slot][i])
	}
	t.part.cols[t.slot], t.part.n = ids, len(ids)
	if err := t.ev.begin(&t.part); err != nil {
		return err
	}
	for i, id := range ids {
		outcome := byte(no)
		v, err := t.ev.value(i)
		if err != nil {
			return err
		}
		if v.IsTrue() {
			outcome = yes
		}
		t.known.put(id, outcome)
	}
	return nil
}

// Outcomes in a memo; 0 means absent.
const (
	unknown = 1
	no      = 2
	yes     = 3
)

// memo remembers an outcome for each id. When it is full, it forgets all of them.
type memo struct {
	ids  []term.ID
	vals []byte
	n    int
}

const maxMemo = 1 << 17

func (m *memo) slot(id term.ID) int {
	mask := uint64(len(m.ids) - 1)
	i := uint64(id) * hashFactor >> 32 & mask
	for m.vals[i] != 0 && m.ids[i] != id {
		i = (i + 1) & mask
	}
	return int(i)
}

func (m *memo) get(id term.ID) byte {
	if m.n == 0 {
		return 0
	}
	return m.vals[m.slot(id)]
}

func (m *memo) put(id term.ID, v byte) {
	if 2*m.n >= len(m.ids) {
		m.grow()
	}
	i := m.slot(id)
	if m.vals[i] == 0 {
		m.n++
	}
	m.ids[i], m.vals[i] = id, v
}

func (m *memo) grow() {
	ids, vals := m.ids, m.vals
	size := max(256, 4*len(ids))
	keep := true
	if size > maxMemo {
		size, keep = max(256, len(ids)), false
	}
	m.ids, m.vals, m.n = make([]term.ID, size), make([]byte, size), 0
	if !keep {
		return
	}
	for i, v := range vals {
		if v != 0 {
			j := m.slot(ids[i])
			m.ids[j], m.vals[j] = ids[i], v
			m.n++
		}
	}
}

// filter keeps the rows for which its conditions are true.
type filter struct {
	in   op
	cond *condition
	cols []int
	p    *pairs
	out  batch
}

func (q *query) openFilter(n *plan.Filter, in op, cols []int) (op, error) {
	c, err := q.condition(n.Conds, cols)
	if err != nil {
		return nil, err
	}
	return &filter{in: in, cond: c, cols: indexes(cols, n.Cols), p: q.newPairs(n.Cols, cols, nil)}, nil
}

func (f *filter) next() (*batch, error) {
	for {
		b, err := f.in.next()
		if b == nil || err != nil {
			return nil, err
		}
		rows, err := f.cond.keep(b)
		if err != nil {
			return nil, err
		}
		switch len(rows) {
		case 0:
			if err := f.cond.q.check(); err != nil {
				return nil, err
			}
		case b.n:
			return f.out.setColumns(b.n, b.cols, f.cols), nil
		default:
			f.p.l = append(f.p.l[:0], rows...)
			return f.p.rowsOf(b.cols), nil
		}
	}
}

func (f *filter) close() {
	f.in.close()
	f.p.free()
}
