package exec

import (
	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// pairs gathers the output of a join: numbers of rows of a left batch and of a right one (-1: none), turned into columns
// at once.
type pairs struct {
	l, r []int32
	// For each output column: where it comes from, -1 if not from that side. Both: the left one, or the right one where
	// the left is unbound.
	lc, rc []int
	out    batch
	own    [][]term.ID
	max    int
}

func newPairs(out, left, right []int, size int) *pairs {
	p := &pairs{lc: indexes(left, out), rc: indexes(right, out), max: size}
	p.own = newCols(len(out), size)
	p.l, p.r = make([]int32, 0, size), make([]int32, 0, size)
	return p
}

// sureLeft tells that these slots are always bound on the left: their right columns need not be looked at.
func (p *pairs) sureLeft(out []int, sure plan.Set) {
	for i, s := range out {
		if p.lc[i] >= 0 && sure.Has(s) {
			p.rc[i] = -1
		}
	}
}

func (p *pairs) add(l, r int32) { p.l, p.r = append(p.l, l), append(p.r, r) }
func (p *pairs) full() bool     { return len(p.l) >= p.max }
func (p *pairs) empty() bool    { return len(p.l) == 0 }

// flush makes a batch of the pairs.
func (p *pairs) flush(left, right [][]term.ID) *batch {
	n := len(p.l)
	if len(p.own) > 0 && len(p.own[0]) < n {
		p.own = newCols(len(p.own), n)
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

// rowsOf copies some rows of a batch, without a right side.
func (p *pairs) rowsOf(left [][]term.ID) *batch {
	p.r = p.r[:0]
	for range p.l {
		p.r = append(p.r, -1)
	}
	return p.flush(left, nil)
}
