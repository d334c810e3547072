package plan

import (
	"math"
	"math/bits"
	"slices"
)

// table holds the plans worth keeping for each set of factors: the cheapest, and the cheapest of each order.
type table struct {
	bound    float64 // no plan that costs more is kept
	b        *builder
	g        *group
	plans    map[uint][]Node
	rows     map[uint]float64
	distinct map[uint]map[int]float64
	slots    map[uint]slotSets
}

// slotSets are the slots that a set of factors binds, and those it binds in every row.
type slotSets struct{ covered, sure Set }

// maxDynamic is how many bytes the candidates for one group may allocate before its joins are ordered greedily.
const maxDynamic = maxSpent / 8

// dynamic orders the joins of a group by dynamic programming. The greedy plan comes first: what costs clearly more
// than all of it is dropped at once, which leaves little to do for a query about a few rows.
func (b *builder) dynamic(g *group) Node {
	n := len(g.factors)
	bound := math.Inf(1)
	var quick Node
	if n > 2 && b.opts.Join == "" {
		quick = b.greedy(g)
		bound = quick.Info().Cost*1.2 + 1000
	}
	t := &table{b: b, g: g, bound: bound, plans: map[uint][]Node{}, rows: map[uint]float64{}, distinct: map[uint]map[int]float64{},
		slots: map[uint]slotSets{}}
	for i := range g.factors {
		mask := uint(1) << i
		for _, leaf := range b.leaves(&g.factors[i], g.filters) {
			t.rows[mask] = leaf.Info().Rows
			if leaf.Info().Cost <= bound {
				t.keep(mask, leaf)
			}
		}
	}
	full := uint(1)<<n - 1
	spent := b.spent
	for mask := uint(1); mask <= full; mask++ {
		if bits.OnesCount(mask) < 2 {
			continue
		}
		if b.spent-spent > maxDynamic { // patterns that are all connected, in many orders
			return b.greedy(g)
		}
		if !t.joinSplits(mask, n <= maxBushy, true) {
			t.joinSplits(mask, n <= maxBushy, false)
		}
	}
	if len(t.plans[full]) == 0 {
		return quick
	}
	return b.choosePlan(t.plans[full])
}

// choosePlan returns the cheapest plan. A preferred order counts as what it saves later.
func (b *builder) choosePlan(list []Node) Node {
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

// joinSplits adds the plans of one set of factors from its splits into two. If connected, it leaves cartesian products
// out. It reports whether it saw any split.
func (t *table) joinSplits(mask uint, bushy, connected bool) (any bool) {
	for sub := (mask - 1) & mask; sub > 0; sub = (sub - 1) & mask {
		rest := mask &^ sub
		if bits.OnesCount(rest) > 1 && !bushy {
			continue
		}
		single := bits.OnesCount(rest) == 1
		if connected && t.slotsOf(sub).covered.And(t.slotsOf(rest).covered).Empty() &&
			!t.g.near(t.slotsOf(sub).sure, t.slotsOf(rest).sure) {
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

// slotsOf returns the slots of a set of factors, and those it surely binds.
func (t *table) slotsOf(mask uint) slotSets {
	s, ok := t.slots[mask]
	if !ok {
		for i, f := range t.g.factors {
			if mask>>i&1 != 0 {
				s.covered, s.sure = s.covered.Or(f.cols), s.sure.Or(f.sure)
			}
		}
		t.slots[mask] = s
	}
	return s
}

func (t *table) joinSets(mask, sub, rest uint, f *factor) {
	b := t.b
	c := &joiner{b: b, filters: b.newlyCovered(t.g.filters, t.slotsOf(sub).sure, t.slotsOf(rest).sure)}
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
	if c.rows < 0 && bits.OnesCount(mask) == 2 {
		one, two := bits.TrailingZeros(sub), bits.TrailingZeros(rest)
		c.rows = max(b.listedRows(t.g.factors[one].node, &t.g.factors[two]), b.listedRows(t.g.factors[two].node, &t.g.factors[one]))
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

// wants reports whether keep would keep a plan.
func (t *table) wants(mask uint, cost float64, sorted []int) bool {
	if cost > t.bound {
		return false
	}
	return !slices.ContainsFunc(t.plans[mask], func(o Node) bool {
		q := o.Info()
		return beats(q.Cost, q.Sorted, cost, sorted)
	})
}

// keep adds a plan unless another one beats it, and drops the plans that it beats.
func (t *table) keep(mask uint, n Node) {
	p := n.Info()
	for _, o := range t.plans[mask] {
		if q := o.Info(); beats(q.Cost, q.Sorted, p.Cost, p.Sorted) {
			return
		}
	}
	kept := slices.DeleteFunc(t.plans[mask], func(o Node) bool {
		q := o.Info()
		return beats(p.Cost, p.Sorted, q.Cost, q.Sorted)
	})
	t.plans[mask] = append(kept, n)
}

// beats reports whether a plan with this cost and order makes another one pointless: it costs no more and is sorted as
// well. Of an order, the first two slots count.
func beats(cost float64, sorted []int, otherCost float64, otherSorted []int) bool {
	n := min(len(otherSorted), 2)
	return cost <= otherCost && len(sorted) >= n && slices.Equal(otherSorted[:n], sorted[:n])
}
