package exec

import (
	"odarchive/triplestore/sparql/internal/expr"
	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// hashJoin builds a table of its right input and looks the left rows up in it.
type hashJoin struct {
	q         *query
	node      *plan.HashJoin
	l         op
	side      *hashSide
	shared    bool // the side belongs to a Parallel
	lkeys     []int
	lmaybe    []int
	rmaybe    []int
	table     *hashTable // of the side
	rows      *block     // of the side
	built     bool
	p         *pairs
	cond      *condition
	order     []int // with cond: the node's columns among those of p
	lb        *batch
	li        int
	chain     int32 // next candidate of row li, plus 1; 0: none left
	fresh     bool  // row li has not been looked up yet
	found     bool  // row li has a partner
	hit       []bool
	unmatched int // with cond: next row of lb to check for the lack of a partner; -1 before that
	marks     []term.ID
	out       batch
	ended     bool
}

func (q *query) openHash(n *plan.HashJoin) (op, error) {
	l, err := q.open(n.L)
	if err != nil {
		return nil, err
	}
	side, shared := q.sides[n]
	if !shared {
		if side, err = q.openSide(n); err != nil {
			l.close()
			return nil, err
		}
	}
	lcols, rcols := n.L.Info().Cols, n.R.Info().Cols
	h := &hashJoin{q: q, node: n, l: l, side: side, shared: shared, unmatched: -1}
	h.lkeys = indexes(lcols, n.Keys)
	h.lmaybe, h.rmaybe = indexes(lcols, n.Maybe), indexes(rcols, n.Maybe)
	h.rows, h.table = side.rows, &side.table
	h.p = q.newJoinPairs(n.Kind, n.Cols, lcols, rcols, n.L.Info().Sure)
	if n.Cond != nil {
		all := append([]int(nil), lcols...)
		for _, c := range rcols {
			if index(all, c) < 0 {
				all = append(all, c)
			}
		}
		h.order = indexes(all, n.Cols)
		h.p = q.newPairs(all, lcols, rcols)
		if h.cond, err = q.condition([]plan.Expr{*n.Cond}, all); err != nil {
			h.close()
			return nil, err
		}
	}
	return h, nil
}

func (h *hashJoin) next() (*batch, error) {
	if h.ended {
		return nil, nil
	}
	if !h.built {
		if err := h.side.build(); err != nil {
			return nil, err
		}
		h.built = true
		if h.rows.n == 0 && (h.node.Kind == plan.Inner || h.node.Kind == plan.Semi) {
			h.ended = true
			return nil, nil
		}
	}
	if h.side.mapped() {
		defer guardMapped()()
	}
	for {
		if err := h.q.check(); err != nil {
			return nil, err
		}
		if h.lb == nil {
			b, err := h.l.next()
			if err != nil {
				return nil, err
			}
			if b == nil {
				h.ended = true
				return nil, nil
			}
			h.lb, h.li, h.fresh = b, 0, true
			if h.cond != nil {
				h.hit = append(h.hit[:0], make([]bool, b.n)...)
			}
		}
		var out *batch
		var err error
		switch {
		case h.cond != nil:
			out, err = h.conditional()
		case h.table.dense == 0 && len(h.lkeys) == 1 && h.node.Kind == plan.Inner && len(h.lmaybe) == 0:
			out = h.pairUpDense()
		case h.node.Kind == plan.Inner || h.node.Kind == plan.Outer:
			out = h.pairUp()
		default:
			out = h.filterLeft()
		}
		if out != nil || err != nil {
			return out, err
		}
	}
}

// pairUp pairs left rows with their partners until the output is full or the batch ends.
func (h *hashJoin) pairUp() *batch {
	outer := h.node.Kind == plan.Outer
	for h.li < h.lb.n {
		if h.fresh {
			h.chain, h.found, h.fresh = h.table.first(h.lb.cols, h.lkeys, h.li), false, false
		}
		for h.chain != 0 {
			r := h.chain
			if h.table.same(r, h.lb.cols, h.lkeys, h.li) && h.compatible(r) {
				if h.p.full() {
					return h.p.flush(h.lb.cols, h.rows.cols)
				}
				h.p.add(int32(h.li), r-1)
				h.found = true
			}
			h.chain = h.table.link[r-1]
		}
		if outer && !h.found {
			if h.p.full() {
				return h.p.flush(h.lb.cols, h.rows.cols)
			}
			h.p.add(int32(h.li), -1)
		}
		h.li++
		h.fresh = true
	}
	var out *batch
	if !h.p.empty() {
		out = h.p.flush(h.lb.cols, h.rows.cols)
	}
	h.lb = nil
	return out
}

// pairUpDense is pairUp for an inner join on one key with a dense table.
func (h *hashJoin) pairUpDense() *batch {
	keys, link := h.lb.cols[h.lkeys[0]][:h.lb.n], h.table.link
	for ; h.li < len(keys); h.li++ {
		if h.fresh {
			h.chain = h.table.firstOf(keys[h.li])
		}
		r := h.chain
		for h.fresh = true; r != 0; r = link[r-1] {
			if h.p.full() {
				h.chain, h.fresh = r, false
				return h.p.flush(h.lb.cols, h.rows.cols)
			}
			h.p.add(int32(h.li), r-1)
		}
	}
	var out *batch
	if !h.p.empty() {
		out = h.p.flush(h.lb.cols, h.rows.cols)
	}
	h.lb = nil
	return out
}

// compatible checks the shared variables that may be unbound.
func (h *hashJoin) compatible(r int32) bool {
	for i, c := range h.lmaybe {
		a, b := h.lb.cols[c][h.li], h.rows.cols[h.rmaybe[i]][r-1]
		if a != 0 && b != 0 && a != b {
			return false
		}
	}
	return true
}

// overlaps reports whether a shared variable is bound on both sides, as MINUS requires.
func (h *hashJoin) overlaps(r int32) bool {
	for i, c := range h.lmaybe {
		if h.lb.cols[c][h.li] != 0 && h.rows.cols[h.rmaybe[i]][r-1] != 0 {
			return true
		}
	}
	return false
}

// filterLeft keeps, drops or marks the rows of a left batch.
func (h *hashJoin) filterLeft() *batch {
	minus := h.node.Kind == plan.Minus
	if h.node.Kind == plan.Mark {
		h.marks = h.marks[:0]
	}
	for h.li = 0; h.li < h.lb.n; h.li++ {
		found := false
		for r := h.table.first(h.lb.cols, h.lkeys, h.li); r != 0 && !found; r = h.table.link[r-1] {
			found = h.table.same(r, h.lb.cols, h.lkeys, h.li) && h.compatible(r) && (!minus || h.overlaps(r))
		}
		switch {
		case h.node.Kind == plan.Mark:
			h.marks = append(h.marks, booleanID(found))
		case found == (h.node.Kind == plan.Semi):
			h.p.add(int32(h.li), -1)
		}
	}
	lb := h.lb
	h.lb = nil
	if h.node.Kind == plan.Mark {
		return markBatch(&h.out, lb, h.node.Cols, h.node.L.Info().Cols, h.node.Mark, h.marks)
	}
	if h.p.empty() {
		return nil
	}
	return h.p.flush(lb.cols, nil)
}

// falseID and trueID are the ids of the booleans.
var (
	falseID, _ = expr.NewBool(false).InlineID()
	trueID, _  = expr.NewBool(true).InlineID()
)

func booleanID(b bool) term.ID {
	if b {
		return trueID
	}
	return falseID
}

// markBatch returns a left batch with one more column.
func markBatch(out, left *batch, cols, lcols []int, slot int, marks []term.ID) *batch {
	out.n = left.n
	out.cols = out.cols[:0]
	for _, c := range cols {
		if c == slot {
			out.cols = append(out.cols, marks)
		} else {
			out.cols = append(out.cols, left.cols[index(lcols, c)])
		}
	}
	return out
}

// conditional is OPTIONAL with a condition over both sides. It gathers candidates and tests them. At the end of each
// left batch, the rows without a partner follow.
func (h *hashJoin) conditional() (*batch, error) {
	for h.unmatched < 0 {
		if err := h.q.check(); err != nil {
			return nil, err
		}
		for h.li < h.lb.n && !h.p.full() {
			if h.fresh {
				h.chain, h.fresh = h.table.first(h.lb.cols, h.lkeys, h.li), false
			}
			for h.chain != 0 && !h.p.full() {
				r := h.chain
				if h.table.same(r, h.lb.cols, h.lkeys, h.li) && h.compatible(r) {
					h.p.add(int32(h.li), r-1)
				}
				h.chain = h.table.link[r-1]
			}
			if h.chain == 0 {
				h.li++
				h.fresh = true
			}
		}
		if h.p.empty() {
			h.unmatched = 0
			break
		}
		left := append([]int32(nil), h.p.l...)
		b := h.p.flush(h.lb.cols, h.rows.cols)
		keep, err := h.cond.keep(b)
		if err != nil {
			return nil, err
		}
		for _, k := range keep {
			h.hit[left[k]] = true
		}
		if len(keep) > 0 {
			return h.project(compact(b, keep)), nil
		}
	}
	for h.unmatched < h.lb.n && !h.p.full() {
		if !h.hit[h.unmatched] {
			h.p.add(int32(h.unmatched), -1)
		}
		h.unmatched++
	}
	var out *batch
	if !h.p.empty() {
		out = h.project(h.p.flush(h.lb.cols, h.rows.cols))
	}
	if h.unmatched >= h.lb.n {
		h.unmatched = -1
		h.lb = nil
	}
	return out, nil
}

// project selects the node's columns from those that the condition needed.
func (h *hashJoin) project(b *batch) *batch { return h.out.setColumns(b.n, b.cols, h.order) }

// compact keeps some rows of a batch that the caller owns, in place.
func compact(b *batch, keep []int32) *batch {
	if len(keep) == b.n {
		return b
	}
	for _, col := range b.cols {
		for i, k := range keep {
			col[i] = col[k]
		}
	}
	b.n = len(keep)
	return b
}

func (h *hashJoin) close() {
	h.ended = true
	h.l.close()
	h.p.free()
	if !h.shared {
		h.side.close()
	}
}
