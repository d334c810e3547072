package exec

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"odarchive/triplestore/sparql/internal/expr"
	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// op is a running operator. next returns a batch with at least one row, or nil at the end. The batch is valid until
// the next call; its columns are those of the node's Cols. close may be called at any time and more than once.
type op interface {
	next() (*batch, error)
	close()
}

// batch is n rows. Columns may be longer than n and may be shared: the operator that owns them does not write to them
// until its next call of next.
type batch struct {
	n    int
	cols [][]term.ID
	keys [][]term.Key // the terms of the columns; nil if they are not looked up
}

// setPart makes b the rows from ... to-1 of columns, without copying, and returns it.
func (b *batch) setPart(cols [][]term.ID, from, to int) *batch {
	b.n, b.cols = to-from, b.cols[:0]
	for _, c := range cols {
		b.cols = append(b.cols, c[from:to])
	}
	return b
}

// setColumns makes b n rows of the columns that order lists, without copying, and returns it.
func (b *batch) setColumns(n int, cols [][]term.ID, order []int) *batch {
	b.n, b.cols = n, b.cols[:0]
	for _, c := range order {
		b.cols = append(b.cols, cols[c])
	}
	return b
}

// query is one run.
type query struct {
	ctx      context.Context
	plan     *plan.Plan
	ds       term.Dataset
	opts     Options
	budget   *budget
	terms    *terms
	exprs    *expr.Context
	seeds    map[*plan.Seed]*block
	answers  map[answered]*block // whole answers of endpoints, by SERVICE
	paths    *pathGraphs
	services []*service // that are open
	calling  int        // endpoints that are being asked
	trace    *trace
	solved   uint64 // solutions numbered so far, for BNODE
	// Within a chain of a Parallel: the node at its end, the operator used for that node, and the right sides of the
	// chain's hash joins.
	leaf  plan.Node
	feed  op
	sides map[*plan.HashJoin]*hashSide
}

// open makes the operator of a node.
func (q *query) open(n plan.Node) (op, error) {
	if n == q.leaf {
		return q.feed, nil
	}
	if err := q.check(); err != nil {
		return nil, err
	}
	o, err := q.openNode(n)
	if err != nil || q.trace == nil {
		return o, err
	}
	return &traced{op: o, m: q.trace.of(n)}, nil
}

func (q *query) openNode(n plan.Node) (op, error) {
	switch n := n.(type) {
	case *plan.Unit:
		return &oneBatch{b: &batch{n: 1}}, nil
	case *plan.Nothing:
		return &oneBatch{}, nil
	case *plan.Scan:
		return q.openScan(n), nil
	case *plan.Seed:
		return q.openSeed(n), nil
	case *plan.Values:
		return q.openValues(n), nil
	case *plan.Graphs:
		return q.openGraphs(n)
	case *plan.TextSearch:
		return q.openTextSearch(n), nil
	case *plan.Places:
		return &places{q: q, node: n}, nil
	case *plan.Counts:
		return &counts{q: q, node: n}, nil
	case *plan.PathScan:
		return q.openPathScan(n), nil
	case *plan.PathStarts:
		return &pathStarts{q: q, node: n}, nil
	case *plan.Union:
		return q.openUnion(n)
	case *plan.MergeJoin:
		return q.openMerge(n)
	case *plan.HashJoin:
		return q.openHash(n)
	case *plan.Lateral:
		if n.Each {
			return q.openEach(n)
		}
		return q.openLateral(n)
	case *plan.Service:
		return q.openService(n)
	case *plan.Parallel:
		return q.openParallel(n)
	}
	in, err := q.open(plan.Inputs(n)[0]) // the rest have one input
	if err != nil {
		return nil, err
	}
	cols := plan.Inputs(n)[0].Info().Cols
	var o op
	switch n := n.(type) {
	case *plan.BindJoin:
		o, err = q.openBind(n, in, cols)
	case *plan.PathJoin:
		o, err = q.openPathJoin(n, in, cols)
	case *plan.PlacesJoin:
		o = q.openPlacesJoin(n, in, cols)
	case *plan.Filter:
		o, err = q.openFilter(n, in, cols)
	case *plan.Extend:
		o, err = q.openExtend(n, in, cols)
	case *plan.Rename:
		o, err = openRename(n, in, cols), nil
	case *plan.Project:
		o, err = openProject(n, in, cols), nil
	case *plan.Group:
		o, err = q.openGroup(n, in, cols)
	case *plan.Sort:
		o, err = q.openSort(n, in, cols)
	case *plan.Distinct:
		o, err = q.openDistinct(n, in, cols), nil
	case *plan.Slice:
		if n.Per >= 0 {
			o, err = q.openSliceEach(n, in, cols), nil
		} else {
			o, err = &slice{in: in, skip: n.Offset, left: n.Limit}, nil
		}
	case *plan.Substitute:
		o, err = q.openSubstitute(n, in, cols), nil
	default:
		err = fmt.Errorf("exec: no operator for %T", n)
	}
	if err != nil {
		in.close()
		return nil, err
	}
	return o, nil
}

// traced measures another operator.
type traced struct {
	op
	m *measured
}

// trace is what the operators did so far, by their numbers.
type trace struct {
	mu sync.Mutex // guards by
	by map[int]*measured
}

// measured is the work of all copies of an operator.
type measured struct{ rows, nanos atomic.Int64 }

func (t *trace) of(n plan.Node) *measured {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := t.by[n.Info().Nr]
	if m == nil {
		m = &measured{}
		t.by[n.Info().Nr] = m
	}
	return m
}

func (t *traced) next() (*batch, error) {
	start := time.Now()
	b, err := t.op.next()
	t.m.nanos.Add(int64(time.Since(start)))
	if b != nil {
		t.m.rows.Add(int64(b.n))
	}
	return b, err
}

// index returns the index of a slot among columns, or -1.
func index(cols []int, slot int) int { return slices.Index(cols, slot) }

func indexes(cols, slots []int) []int {
	out := make([]int, len(slots))
	if len(cols) > 64 {
		at := make(map[int]int, len(cols))
		for i := len(cols) - 1; i >= 0; i-- {
			at[cols[i]] = i
		}
		for i, s := range slots {
			c, ok := at[s]
			if !ok {
				c = -1
			}
			out[i] = c
		}
		return out
	}
	for i, s := range slots {
		out[i] = index(cols, s)
	}
	return out
}

// newCols makes k columns of n rows in one allocation.
func newCols(k, n int) [][]term.ID {
	flat := make([]term.ID, k*n)
	cols := make([][]term.ID, k)
	for i := range cols {
		cols[i] = flat[i*n : (i+1)*n : (i+1)*n]
	}
	return cols
}

// oneBatch is an input of at most one batch.
type oneBatch struct{ b *batch }

func (o *oneBatch) next() (*batch, error) {
	b := o.b
	o.b = nil
	return b, nil
}
func (o *oneBatch) close() { o.b = nil }

// block is a set of rows kept in memory, counted against the budget.
type block struct {
	n      int
	room   int // rows that the columns have room for
	cols   [][]term.ID
	budget *budget
	paid   int
	space  *Spill  // where the rows go if there are many; nil if they must stay in memory
	file   *mapped // they are there; nil if they are in memory
}

func newBlock(k int, b *budget) *block { return &block{cols: make([][]term.ID, k), budget: b} }

// add appends the given columns of a batch; column -1 is unbound.
func (k *block) add(b *batch, from []int) error {
	if err := k.grow(b.n); err != nil {
		return err
	}
	for i, c := range from {
		if c < 0 {
			k.cols[i] = k.cols[i][:k.n+b.n]
			clear(k.cols[i][k.n:])
			continue
		}
		k.cols[i] = append(k.cols[i], b.cols[c][:b.n]...)
	}
	k.n += b.n
	return nil
}

// grow makes room for n more rows. Room is counted, not rows, and both the old and the new one while values move. If
// there is an error, the block is as before.
func (k *block) grow(n int) error {
	if len(k.cols) == 0 || k.n+n <= k.room {
		return nil
	}
	old, room := k.room, k.n+n
	switch {
	case room < 1<<16:
		room = max(room, 2*old)
	default:
		room = max(room, old+old/4)
	}
	need := 8 * len(k.cols) * room
	if k.space != nil && (k.file != nil || need > k.budget.share()) {
		return k.growFile(room)
	}
	if err := k.budget.reserve(need); err != nil {
		k.budget.release(need)
		if k.space != nil {
			return k.growFile(room)
		}
		return err
	}
	k.paid += need
	for i, c := range k.cols {
		moved := make([]term.ID, len(c), room)
		copy(moved, c)
		k.cols[i] = moved
	}
	k.room = room
	k.paid -= 8 * len(k.cols) * old
	k.budget.release(8 * len(k.cols) * old)
	return nil
}

// growFile is grow for rows in a file, or moves them there.
func (k *block) growFile(room int) error {
	room = max(room, 2*k.room)
	file, err := k.space.mapped(8 * len(k.cols) * room)
	if err != nil {
		return err
	}
	ids := file.ids()
	for i, c := range k.cols {
		moved := ids[i*room : i*room+len(c) : (i+1)*room]
		copy(moved, c)
		k.cols[i] = moved
	}
	k.budget.release(k.paid)
	k.file.free()
	k.paid, k.room, k.file = 0, room, file
	return nil
}

// reset removes the rows and keeps the room.
func (k *block) reset() {
	room := 8 * len(k.cols) * k.room
	k.budget.release(k.paid - room)
	k.paid, k.n = room, 0
	for i := range k.cols {
		k.cols[i] = k.cols[i][:0]
	}
}

func (k *block) free() {
	k.budget.release(k.paid)
	k.paid, k.n, k.room = 0, 0, 0
	k.cols = nil
	k.file.free()
}

func identity(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
