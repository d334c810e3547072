package exec

import (
	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// pairs gathers the output of a join as numbers of rows of a left and a right batch, -1 for no right row, and turns
// them into columns at once.
type pairs struct {
	l, r []int32
	// For each output column, its column on either side, or -1. If it has both, the value is the left one, or the
	// right one if the left one is unbound.
	lc, rc []int
	out    batch
	own    [][]term.ID // made when there are pairs, and counted against the budget
	budget *budget
	max    int
}

// maxCells bounds the values of a batch, so that the buffers of very wide rows stay small.
const maxCells = 1 << 17

func (q *query) newPairs(out, left, right []int) *pairs {
	size := min(q.opts.BatchSize, max(16, maxCells/max(1, len(out))))
	return &pairs{lc: indexes(left, out), rc: indexes(right, out), own: make([][]term.ID, len(out)), budget: q.budget, max: size}
}

// newJoinPairs returns the pairs of a join, with right columns only for Inner and Outer. The slots in sure are always
// bound on the left, so their right columns are not read.
func (q *query) newJoinPairs(kind plan.JoinKind, out, left, right []int, sure plan.Set) *pairs {
	if kind != plan.Inner && kind != plan.Outer {
		return q.newPairs(out, left, nil)
	}
	p := q.newPairs(out, left, right)
	for i, s := range out {
		if p.lc[i] >= 0 && sure.Has(s) {
			p.rc[i] = -1
		}
	}
	return p
}

// free gives back the memory of the buffers. The pairs may be used again.
func (p *pairs) free() {
	if len(p.own) > 0 {
		p.budget.release(8 * len(p.own) * len(p.own[0]))
	}
	for i := range p.own {
		p.own[i] = nil
	}
}

func (p *pairs) add(l, r int32) { p.l, p.r = append(p.l, l), append(p.r, r) }
func (p *pairs) full() bool     { return len(p.l) >= p.max }
func (p *pairs) empty() bool    { return len(p.l) == 0 }

// flush returns the pairs as a batch and forgets them.
func (p *pairs) flush(left, right [][]term.ID) *batch {
	n := len(p.l)
	if len(p.own) > 0 && len(p.own[0]) < n {
		size := max(n, p.max)
		p.budget.charge(8 * len(p.own) * (size - len(p.own[0])))
		p.own = newCols(len(p.own), size)
	}
	for i, dst := range p.own {
		dst = dst[:n]
		lc, rc := p.lc[i], p.rc[i]
		if lc >= 0 {
			col := left[lc]
			for k, x := range p.l {
				dst[k] = col[x]
			}
			if rc < 0 {
				continue
			}
			col = right[rc]
			for k, x := range p.r {
				if dst[k] == 0 && x >= 0 {
					dst[k] = col[x]
				}
			}
			continue
		}
		if rc < 0 {
			clear(dst)
			continue
		}
		col := right[rc]
		for k, x := range p.r {
			if x >= 0 {
				dst[k] = col[x]
			} else {
				dst[k] = 0
			}
		}
	}
	p.out.n, p.out.cols = n, p.own
	p.l, p.r = p.l[:0], p.r[:0]
	return &p.out
}

// rowsOf copies the rows in l, without a right side.
func (p *pairs) rowsOf(left [][]term.ID) *batch {
	p.r = p.r[:0]
	for range p.l {
		p.r = append(p.r, -1)
	}
	return p.flush(left, nil)
}
