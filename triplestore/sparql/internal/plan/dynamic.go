package plan

import (
	"math"
	"math/bits"
)

// table holds the plans worth keeping for each set of factors: the cheapest, and the cheapest of each order.
type table struct {
	bound    float64 // cost of a whole plan that is known
	b        *builder
	g        *group
	plans    map[uint][]Node
	rows     map[uint]float64
	distinct map[uint]map[int]float64
	covered  map[uint]Set // slots of each set of factors
	sure     map[uint]Set // those it surely binds
}

// The greedy plan comes first: nothing that already costs clearly more than all of it is looked at further, which leaves
// next to nothing of a query that is about a few rows.
func (b *builder) dynamic(g *group) Node {
	n := len(g.factors)
	bound := math.Inf(1)
	var quick Node
	if n > 2 && b.opts.Join == "" {
		quick = b.greedy(g)
		bound = quick.Info().Cost*1.2 + 1000
	}
	t := &table{b: b, g: g, bound: bound, plans: map[uint][]Node{}, rows: map[uint]float64{}, distinct: map[uint]map[int]float64{}, covered: map[uint]Set{}, sure: map[uint]Set{}}
	for i := range g.factors {
		mask := uint(1) << i
		t.covered[mask] = g.factors[i].cols
		for _, leaf := range b.leaves(&g.factors[i], g.filters) {
			t.rows[mask] = leaf.Info().Rows
			if leaf.Info().Cost <= bound {
				t.keep(mask, leaf)
			}
		}
	}
	full := uint(1)<<n - 1
	for mask := uint(1); mask <= full; mask++ {
		if bits.OnesCount(mask) < 2 {
			continue
		}
		if !t.fill(mask, n <= maxBushy, true) {
			t.fill(mask, n <= maxBushy, false)
		}
	}
	if len(t.plans[full]) == 0 {
		return quick
	}
	return b.favourite(t.plans[full])
}

// favourite is the cheapest plan, a wanted order counting as what it saves.
func (b *builder) favourite(list []Node) Node {
	var best Node
	cost := 0.0
	for _, n := range list {
		p := n.Info()
		c := p.Cost
		if len(p.Sorted) > 0 && b.prefer.Has(p.Sorted[0]) {
			c -= p.Rows * (costHashProbe - costMerge)
		}
		if best == nil || c < cost {
			best, cost = n, c
		}
	}
	return best
}

// fill finds the plans of one set from its splits; connected leaves cartesian products out. It tells whether there was a
// split to look at.
func (t *table) fill(mask uint, bushy, connected bool) (any bool) {
	for sub := (mask - 1) & mask; sub > 0; sub = (sub - 1) & mask {
		rest := mask &^ sub
		if bits.OnesCount(rest) > 1 && !bushy {
			continue
		}
		single := bits.OnesCount(rest) == 1
		if connected && t.coveredBy(sub).And(t.coveredBy(rest)).Empty() {
			continue
		}
		any = true
		if len(t.plans[sub]) == 0 {
			continue
		}
		var f *factor
		if single {
			f = &t.g.factors[bits.TrailingZeros(rest)]
		}
		if len(t.plans[rest]) == 0 && f == nil {
			continue
		}
		t.joinSets(mask, sub, rest, f)
	}
	return any
}

func (t *table) coveredBy(mask uint) Set {
	if s, ok := t.covered[mask]; ok {
		return s
	}
	var s Set
	for i := range t.g.factors {
		if mask>>i&1 != 0 {
			s = s.Or(t.g.factors[i].cols)
		}
	}
	t.covered[mask] = s
	return s
}

// sureOf are the slots that a set of factors surely binds.
func (t *table) sureOf(mask uint) Set {
	if s, ok := t.sure[mask]; ok {
		return s
	}
	var s Set
	for i := range t.g.factors {
		if mask>>i&1 != 0 {
			s = s.Or(t.g.factors[i].sure)
		}
	}
	t.sure[mask] = s
	return s
}

func (t *table) joinSets(mask, sub, rest uint, f *factor) {
	b := t.b
	c := &joiner{b: b, filters: b.newlyCovered(t.g.filters, t.sureOf(sub), t.sureOf(rest))}
	c.rows, c.distinct = -1, t.distinct[mask]
	if rows, ok := t.rows[mask]; ok {
		c.rows = rows // one estimate for a set, whatever its tree
		for _, e := range c.filters {
			c.extra += rows * exprCost(e.Expr)
		}
	}
	c.want = func(cost float64, sorted []int) bool { return t.wants(mask, cost, sorted) }
	c.add = func(n Node) {
		if c.rows < 0 {
			c.rows = n.Info().Rows
			t.rows[mask] = c.rows
			c.distinct = n.Info().Distinct
			t.distinct[mask] = c.distinct
		}
		n.Info().Rows = c.rows
		t.keep(mask, n)
	}
	for i, l := range t.plans[sub] {
		for k, r := range t.plans[rest] {
			if i == 0 && k == 0 {
				c.shape(l.Info(), r.Info())
			}
			c.pair(l, r)
		}
		if f != nil {
			c.probe(l, f, t.g.filters)
		}
	}
}

// wants tells whether keep would keep a plan.
func (t *table) wants(mask uint, cost float64, sorted []int) bool {
	if cost > t.bound {
		return false
	}
	for _, o := range t.plans[mask] {
		q := o.Info()
		if q.Cost <= cost && (len(sorted) == 0 || samePrefix(sorted, q.Sorted)) {
			return false
		}
	}
	return true
}

// keep adds a plan unless another is cheaper and as well sorted.
func (t *table) keep(mask uint, n Node) {
	p := n.Info()
	list := t.plans[mask]
	for _, o := range list {
		q := o.Info()
		if q.Cost <= p.Cost && (len(p.Sorted) == 0 || samePrefix(p.Sorted, q.Sorted)) {
			return
		}
	}
	kept := list[:0:0]
	for _, o := range list {
		q := o.Info()
		if !(p.Cost <= q.Cost && (len(q.Sorted) == 0 || samePrefix(q.Sorted, p.Sorted))) {
			kept = append(kept, o)
		}
	}
	t.plans[mask] = append(kept, n)
}

// samePrefix tells whether being sorted by have is as good as being sorted by want (two slots deep).
func samePrefix(want, have []int) bool {
	n := min(len(want), 2)
	if len(have) < n {
		return false
	}
	for i := range n {
		if want[i] != have[i] {
			return false
		}
	}
	return true
}
