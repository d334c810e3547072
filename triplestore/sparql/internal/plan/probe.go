package plan

import (
	"odarchive/triplestore/term"
)

// probe offers to look a pattern, path or union up for each row of l.
func (c *joiner) probe(l Node, f *factor, filters []Expr) {
	if f.path != nil {
		if n := c.b.pathJoin(l, *f.path); n != nil {
			c.finish(c.b.withFiltersOf(n, l, f, filters))
		}
		return
	}
	if f.seeded != nil && c.b.allows("bind") {
		if n := c.b.lateralUnion(l, f, c.rows); n != nil && c.want(n.Info().Cost+c.extra, n.Info().Sorted) {
			c.finish(c.b.withFiltersOf(n, l, f, filters))
		}
		return
	}
	if f.pos == nil || !c.b.allows("bind") {
		return
	}
	c.probePlaces(l, f, filters)
	p, ok := c.b.planProbe(l, *f.pos, c.rows)
	if ok && c.want(p.cost+c.extra, p.sorted) {
		c.finish(c.b.withFiltersOf(c.b.newBindJoin(l, *f.pos, p, Inner, c.distinct), l, f, filters))
	}
}

// withFiltersOf applies the filters that f covers alone, as a scan of its own would have done.
func (b *builder) withFiltersOf(n, l Node, f *factor, filters []Expr) Node {
	var own []Expr
	have := l.Info().Sure
	for _, e := range filters {
		if s := setOf(e.Slots...); s.In(f.sure) && !s.In(have) {
			own = append(own, e)
		}
	}
	if len(own) == 0 {
		return n
	}
	return b.newFilter(n, own)
}

// probePlan is a way to look a pattern up for the rows of another plan.
type probePlan struct {
	order  term.Order
	keys   []int
	rows   float64
	cost   float64
	sorted []int
}

// planProbe plans the lookup of a pattern for the rows of l. ok is false if l binds nothing of the pattern, or a
// shared variable may be unbound. rows are those of the join; if negative, they are estimated.
func (b *builder) planProbe(l Node, pos [4]Pos, rows float64) (p probePlan, ok bool) {
	lp := l.Info()
	have := setOf(lp.Cols...)
	shared := patternFactor(pos).cols.And(have)
	if shared.Empty() || !shared.In(lp.Sure) {
		return p, false
	}
	if p.order, p.keys, ok = b.probeOrder(pos, shared); !ok {
		return p, false
	}
	if g := pos[3].Slot; g >= 0 && have.Has(g) {
		p.keys = append(p.keys[:len(p.keys):len(p.keys)], g)
	}
	if p.rows = rows; rows < 0 {
		p.rows = joinRows(lp, &newScan(pos, p.order, b.estimate(pattern(pos))).Props, shared.List())
	}
	probes, passes := lp.Rows, 1.0
	if len(lp.Sorted) > 0 && lp.Sorted[0] == p.keys[0] {
		probes = min(probes, distinctOf(lp, p.keys[0])*float64(len(p.keys)))
		if p.sorted = lp.Sorted; len(p.keys) > 1 {
			p.sorted = lp.Sorted[:1]
		}
	} else {
		p.cost = lp.Rows * costSort
		passes += lp.Rows / bindBatch
	}
	walk := b.rangeRows(pos, p.order)*costScan*passes + probes*costProbe
	p.cost += lp.Cost + min(probes*costSeek, walk) + lp.Rows*costRow + p.rows*costScan
	return p, true
}

func (b *builder) newBindJoin(l Node, pos [4]Pos, p probePlan, kind JoinKind, distinct map[int]float64) *BindJoin {
	scan := newScan(pos, p.order, b.estimate(pattern(pos)))
	n := &BindJoin{L: l, R: scan, Keys: p.keys, Kind: kind}
	n.Props = joined(l.Info(), &scan.Props, kind, p.rows, distinct)
	n.Cost, n.Sorted = p.cost, p.sorted
	return n
}
