package plan

import (
	"math"
	"math/bits"
	"sort"

	"odarchive/triplestore/term"
)

// Beyond these numbers of factors the planner looks at fewer join trees: every tree, left-deep trees, the
// cheapest next step.
const (
	maxBushy    = 6
	maxLeftDeep = 9
)

// joinFactors joins the factors of a group in the cheapest order found, filters applied as early as possible.
func (b *builder) joinFactors(g *group) (Node, error) {
	var all Set
	for _, f := range g.factors {
		all = all.Or(f.cols)
	}
	if g.empty {
		return b.nothing(all.List()), nil
	}
	consts, err := b.substituteConstants(g)
	if err != nil {
		return nil, err
	}
	n := b.orderJoins(g)
	for _, c := range consts {
		n = newExtend(n, c.slot, c.expr)
	}
	return n, nil
}

func (b *builder) orderJoins(g *group) Node {
	switch {
	case len(g.factors) == 0:
		if len(g.filters) > 0 {
			return b.newFilter(b.unit(), g.filters)
		}
		return b.unit()
	case len(g.factors) > maxLeftDeep || b.opts.NoReorder:
		return b.greedy(g)
	}
	return b.dynamic(g)
}

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

// joiner offers the joins of two sets of factors; it builds only those that are wanted.
type joiner struct {
	b        *builder
	filters  []Expr
	rows     float64 // of the join; negative: not known yet
	extra    float64 // cost of the filters
	distinct map[int]float64
	want     func(cost float64, sorted []int) bool
	add      func(Node)
	keys     []int
	maybe    []int
	shared   []int
	sure     Set
}

// shape finds the shared variables: they are the same for all plans of two sets.
func (c *joiner) shape(lp, rp *Props) {
	shared := setOf(lp.Cols...).And(setOf(rp.Cols...))
	c.sure = shared.And(lp.Sure).And(rp.Sure)
	c.keys, c.maybe, c.shared = c.sure.List(), shared.Minus(c.sure).List(), shared.List()
}

func (c *joiner) finish(n Node) {
	if len(c.filters) > 0 {
		n = c.b.newFilter(n, c.filters)
	}
	c.add(n)
}

// pair offers the joins of two plans: merge where both are sorted alike, hash with the right one as the table.
func (c *joiner) pair(l, r Node) {
	lp, rp := l.Info(), r.Info()
	rows := c.rows
	if rows < 0 {
		rows = joinRows(lp, rp, c.shared)
	}
	if c.b.allows("merge") && len(c.keys) > 0 && len(c.maybe) == 0 && len(lp.Sorted) > 0 && len(rp.Sorted) > 0 && lp.Sorted[0] == rp.Sorted[0] {
		if merge := mergeKeys(lp, rp, c.sure); len(merge) == len(c.keys) && c.want(mergeCost(lp, rp, rows)+c.extra, lp.Sorted) {
			c.finish(newMergeJoin(l, r, merge, Inner, rows, c.distinct))
			if c.b.opts.Join == "merge" {
				return
			}
		}
	}
	if c.want(hashCost(lp, rp, len(c.keys), rows)+c.extra, lp.Sorted) {
		c.finish(newHashJoin(l, r, c.keys, c.maybe, Inner, rows, c.distinct))
	}
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

func cheapest(list []Node) Node {
	var best Node
	for _, n := range list {
		if best == nil || n.Info().Cost < best.Info().Cost {
			best = n
		}
	}
	return best
}

// newlyCovered are the filters that can be applied on a join of two sets and on neither alone; l and r are what they
// surely bind.
func (b *builder) newlyCovered(filters []Expr, l, r Set) []Expr {
	var out []Expr
	both := l.Or(r)
	for _, f := range filters {
		need := setOf(f.Slots...)
		if need.In(both) && !need.In(l) && !need.In(r) {
			out = append(out, f)
		}
	}
	return out
}

// leaves are the plans of one factor, with the filters that it covers alone: whose slots it surely binds.
func (b *builder) leaves(f *factor, filters []Expr) []Node {
	var own []Expr
	for _, e := range filters {
		if setOf(e.Slots...).In(f.sure) { // where a slot may be unbound, the condition would see less than it should
			own = append(own, e)
		}
	}
	var out []Node
	switch {
	case f.pos != nil:
		for _, s := range b.scans(*f.pos) {
			var n Node = s
			if len(own) > 0 {
				n = b.filterScan(s, own)
			}
			out = append(out, n)
		}
		return out
	case f.path != nil:
		if n := b.pathScan(*f.path); n != nil {
			out = append(out, n)
		}
	default:
		out = append(out, f.node)
	}
	if len(own) > 0 {
		for i, n := range out {
			out[i] = b.newFilter(n, own)
		}
	}
	return out
}

// allows tells whether a join method may be chosen.
func (b *builder) allows(method string) bool { return b.opts.Join == "" || b.opts.Join == method }

// mergeKeys is the longest common beginning of two orders within the join keys.
func mergeKeys(l, r *Props, keys Set) []int {
	var out []int
	for i := 0; i < len(l.Sorted) && i < len(r.Sorted); i++ {
		if l.Sorted[i] != r.Sorted[i] || !keys.Has(l.Sorted[i]) {
			break
		}
		out = append(out, l.Sorted[i])
	}
	return out
}

func mergeCost(lp, rp *Props, rows float64) float64 {
	return lp.Cost + rp.Cost + (lp.Rows+rp.Rows)*costMerge + rows*costRow
}

func hashCost(lp, rp *Props, keys int, rows float64) float64 {
	cost := lp.Cost + rp.Cost + rp.Rows*costHashBuild + lp.Rows*costHashProbe + rows*costRow*2
	if keys == 0 { // every pair is looked at
		cost += lp.Rows * rp.Rows * costRow
	}
	return cost
}

// newMergeJoin and its kin take the distinct counts of their output where they are known already; nil: not.
func newMergeJoin(l, r Node, keys []int, kind JoinKind, rows float64, distinct map[int]float64) *MergeJoin {
	lp, rp := l.Info(), r.Info()
	n := &MergeJoin{L: l, R: r, Keys: keys, Kind: kind}
	n.Props = joined(lp, rp, kind, rows, distinct)
	n.Cost = mergeCost(lp, rp, n.Rows)
	n.Sorted = lp.Sorted
	return n
}

func newHashJoin(l, r Node, keys, maybe []int, kind JoinKind, rows float64, distinct map[int]float64) *HashJoin {
	lp, rp := l.Info(), r.Info()
	n := &HashJoin{L: l, R: r, Keys: keys, Maybe: maybe, Kind: kind, Mark: -1}
	n.Props = joined(lp, rp, kind, rows, distinct)
	n.Cost = hashCost(lp, rp, len(keys), n.Rows)
	n.Sorted = lp.Sorted
	return n
}

// joined are the properties of a join's output, but for cost and order.
func joined(lp, rp *Props, kind JoinKind, rows float64, distinct map[int]float64) Props {
	p := Props{Rows: rows}
	switch kind {
	case Inner:
		p.Cols, p.Sure = joinCols(lp, rp)
		if p.Distinct = distinct; distinct == nil {
			p.Distinct = joinDistinct(lp, rp, rows)
		}
	case Outer:
		p.Cols, _ = joinCols(lp, rp)
		p.Sure = lp.Sure
		p.Rows = max(rows, lp.Rows)
		p.Distinct = joinDistinct(lp, rp, p.Rows)
		for s, d := range lp.Distinct {
			p.Distinct[s] = d
		}
	default:
		p.Cols, p.Sure, p.Distinct = lp.Cols, lp.Sure, lp.Distinct
		p.Rows = lp.Rows / 2
		if kind == Mark {
			p.Rows = lp.Rows
		}
	}
	return p
}

// probe offers to look a pattern or path up for each row of l.
func (c *joiner) probe(l Node, f *factor, filters []Expr) {
	if f.path != nil {
		if n := c.b.pathJoin(l, *f.path); n != nil {
			c.finish(c.b.withOwn(n, l, f, filters))
		}
		return
	}
	if f.seeded != nil && c.b.allows("bind") {
		if n := c.b.lateralUnion(l, f, c.rows); n != nil && c.want(n.Info().Cost+c.extra, n.Info().Sorted) {
			c.finish(c.b.withOwn(n, l, f, filters))
		}
		return
	}
	if f.pos == nil || !c.b.allows("bind") {
		return
	}
	p, ok := c.b.planProbe(l, *f.pos, c.rows)
	if ok && c.want(p.cost+c.extra, p.sorted) {
		c.finish(c.b.withOwn(c.b.newBindJoin(l, *f.pos, p, Inner, c.distinct), l, f, filters))
	}
}

// withOwn applies the filters that f covers alone, which a scan of its own would have applied.
func (b *builder) withOwn(n, l Node, f *factor, filters []Expr) Node {
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

// probePlan is how a pattern is looked up for the rows of another plan.
type probePlan struct {
	order  term.Order
	keys   []int
	rows   float64
	cost   float64
	sorted []int
}

// planProbe is not ok where l binds nothing of the pattern, or a shared variable may be unbound. rows are those of the
// join; negative: to be estimated.
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

// greedy joins the cheapest pair of leaves first and then, step by step, what is cheapest to add.
func (b *builder) greedy(g *group) Node {
	left := make([]int, 0, len(g.factors))
	leaves := make([][]Node, len(g.factors))
	for i := range g.factors {
		leaves[i] = b.leaves(&g.factors[i], g.filters)
		left = append(left, i)
	}
	if !b.opts.NoReorder {
		sort.SliceStable(left, func(x, y int) bool { return leafRows(leaves[left[x]]) < leafRows(leaves[left[y]]) })
	}
	start := 0
	for start < len(left)-1 && len(leaves[left[start]]) == 0 {
		start++
	}
	cur := cheapest(leaves[left[start]])
	left = append(left[:start:start], left[start+1:]...)
	for len(left) > 0 {
		var best Node
		at := -1
		have := setOf(cur.Info().Cols...)
		for pass := 0; pass < 2 && best == nil; pass++ { // connected factors first
			for i, fi := range left {
				f := &g.factors[fi]
				if pass == 0 && f.cols.And(have).Empty() {
					continue
				}
				c := &joiner{b: b, rows: -1, filters: b.newlyCovered(g.filters, cur.Info().Sure, f.sure)}
				c.want = func(cost float64, _ []int) bool { return best == nil || cost < best.Info().Cost }
				c.add = func(n Node) {
					p := n.Info()
					if best == nil || p.Cost+p.Rows*costScan < best.Info().Cost+best.Info().Rows*costScan {
						best, at = n, i
					}
				}
				for k, leaf := range leaves[fi] {
					if k == 0 {
						c.shape(cur.Info(), leaf.Info())
					}
					c.pair(cur, leaf)
				}
				c.probe(cur, f, g.filters)
				if b.opts.NoReorder && best != nil {
					break
				}
				if len(left) > 64 && best != nil {
					break // very many factors: take the first that is connected, or just the first
				}
			}
		}
		cur = best
		left = append(left[:at:at], left[at+1:]...)
	}
	return cur
}

func leafRows(list []Node) float64 {
	if len(list) == 0 {
		return 1e18
	}
	return list[0].Info().Rows
}
