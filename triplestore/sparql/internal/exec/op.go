package exec

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"odarchive/triplestore/sparql/internal/expr"
	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// op is one running operator. next gives a batch with at least one row, nil at the end; the batch is valid until the
// next call and its columns are those of the node's Cols. close may be called more than once and at any time.
type op interface {
	next() (*batch, error)
	close()
}

// batch is n rows; columns may be longer than n and may be shared: they are never written after they were handed out,
// until the operator that owns them is asked again.
type batch struct {
	n    int
	cols [][]term.ID
	keys [][]term.Key // the terms of the columns; nil: not fetched
}

// query is one run.
type query struct {
	ctx    context.Context
	plan   *plan.Plan
	ds     term.Dataset
	opts   Options
	budget *budget
	terms  *terms
	exprs  *expr.Context
	seeds  map[*plan.Seed]*block
	trace  *trace
	solved uint64 // solutions numbered so far, for BNODE
	// Within a chain of a Parallel: where it ends, what stands there, and the right sides of its hash joins.
	leaf  plan.Node
	feed  op
	sides map[*plan.HashJoin]*hashSide
}

// open makes the operator of a node.
func (q *query) open(n plan.Node) (op, error) {
	if n == q.leaf {
		return q.feed, nil
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
	case *plan.Counts:
		return &counts{q: q, node: n}, nil
	case *plan.PathScan:
		return q.openPathScan(n), nil
	case *plan.Union:
		return q.openUnion(n)
	case *plan.MergeJoin:
		return q.openMerge(n)
	case *plan.HashJoin:
		return q.openHash(n)
	case *plan.Lateral:
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
			o, err = openSliceEach(n, in, cols, q.opts.BatchSize), nil
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

// measured is what all copies of an operator did.
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

// index of a slot among columns; -1 if it is not there.
func index(cols []int, slot int) int {
	for i, c := range cols {
		if c == slot {
			return i
		}
	}
	return -1
}

func indexes(cols, slots []int) []int {
	out := make([]int, len(slots))
	for i, s := range slots {
		out[i] = index(cols, s)
	}
	return out
}

// newCols makes k columns of n rows in one piece.
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

// block is rows kept in memory, paid for from the budget.
type block struct {
	n      int
	cols   [][]term.ID
	budget *budget
	paid   int
}

func newBlock(k int, b *budget) *block { return &block{cols: make([][]term.ID, k), budget: b} }

// add copies the given columns (-1: unbound) of a batch.
func (k *block) add(b *batch, from []int) error {
	need := 8 * len(k.cols) * b.n
	if err := k.budget.take(need); err != nil {
		k.paid += need
		return err
	}
	k.paid += need
	for i, c := range from {
		if c < 0 {
			for range b.n {
				k.cols[i] = append(k.cols[i], 0)
			}
			continue
		}
		k.cols[i] = append(k.cols[i], b.cols[c][:b.n]...)
	}
	k.n += b.n
	return nil
}

func (k *block) reset() {
	k.budget.give(k.paid)
	k.paid, k.n = 0, 0
	for i := range k.cols {
		k.cols[i] = k.cols[i][:0]
	}
}

func (k *block) free() {
	k.budget.give(k.paid)
	k.paid, k.n = 0, 0
	k.cols = nil
}

func identity(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
