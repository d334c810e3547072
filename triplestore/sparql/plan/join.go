package plan

import (
	"math/bits"
	"sort"
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
	b       *builder
	g       *group
	plans   map[uint][]Node
	rows    map[uint]float64
	covered map[uint]Set
}

func (b *builder) dynamic(g *group) Node {
	n := len(g.factors)
	t := &table{b: b, g: g, plans: map[uint][]Node{}, rows: map[uint]float64{}, covered: map[uint]Set{}}
	for i := range g.factors {
		mask := uint(1) << i
		t.covered[mask] = g.factors[i].cols
		for _, leaf := range b.leaves(&g.factors[i], g.filters) {
			t.keep(mask, leaf)
		}
		if len(t.plans[mask]) > 0 {
			t.rows[mask] = t.plans[mask][0].Info().Rows
		}
	}
	full := uint(1)<<n - 1
	for mask := uint(1); mask <= full; mask++ {
		if bits.OnesCount(mask) < 2 {
			continue
		}
		t.fill(mask, n <= maxBushy, true)
		if len(t.plans[mask]) == 0 {
			t.fill(mask, n <= maxBushy, false)
		}
	}
	return cheapest(t.plans[full])
}

// fill finds the plans of one set from its splits; connected leaves cartesian products out.
func (t *table) fill(mask uint, bushy, connected bool) {
	for sub := (mask - 1) & mask; sub > 0; sub = (sub - 1) & mask {
		rest := mask &^ sub
		if bits.OnesCount(rest) > 1 && !bushy || len(t.plans[sub]) == 0 {
			continue
		}
		single := bits.OnesCount(rest) == 1
		if connected && t.coveredBy(sub).And(t.coveredBy(rest)).Empty() {
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

func (t *table) joinSets(mask, sub, rest uint, f *factor) {
	filters := t.b.newlyCovered(t.g.filters, t.coveredBy(sub), t.coveredBy(rest))
	add := func(n Node) {
		if len(filters) > 0 {
			n = t.b.newFilter(n, filters)
		}
		if rows, ok := t.rows[mask]; ok {
			n.Info().Rows = rows // one estimate for a set, whatever its tree
		} else {
			t.rows[mask] = n.Info().Rows
		}
		t.keep(mask, n)
	}
	for _, l := range t.plans[sub] {
		for _, r := range t.plans[rest] {
			t.b.joinPair(l, r, add)
		}
		if f != nil {
			t.b.probeFactor(l, f, t.g.filters, add)
		}
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

// newlyCovered are the filters that can be applied on a join of two sets and on neither alone.
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

// leaves are the plans of one factor, with the filters that it covers alone.
func (b *builder) leaves(f *factor, filters []Expr) []Node {
	var own []Expr
	for _, e := range filters {
		if setOf(e.Slots...).In(f.cols) {
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

// joinPair offers the joins of two plans: merge where both are sorted alike, hash with either side as the table.
func (b *builder) joinPair(l, r Node, add func(Node)) {
	lp, rp := l.Info(), r.Info()
	shared := setOf(lp.Cols...).And(setOf(rp.Cols...))
	sure := shared.And(lp.Sure).And(rp.Sure)
	keys := sure.List()
	maybe := shared.Minus(sure).List()
	rows := joinRows(lp, rp, shared.List())
	merge := mergeKeys(lp, rp, sure)
	if len(merge) == len(keys) && len(keys) > 0 && len(maybe) == 0 && b.allows("merge") {
		add(newMergeJoin(l, r, merge, Inner, rows))
		if b.opts.Join == "merge" {
			return
		}
	}
	add(newHashJoin(l, r, keys, maybe, Inner, rows))
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

func newMergeJoin(l, r Node, keys []int, kind JoinKind, rows float64) *MergeJoin {
	lp, rp := l.Info(), r.Info()
	n := &MergeJoin{L: l, R: r, Keys: keys, Kind: kind}
	n.Props = joined(lp, rp, kind, rows)
	n.Cost = lp.Cost + rp.Cost + (lp.Rows+rp.Rows)*costMerge + n.Rows*costRow
	n.Sorted = lp.Sorted
	return n
}

func newHashJoin(l, r Node, keys, maybe []int, kind JoinKind, rows float64) *HashJoin {
	lp, rp := l.Info(), r.Info()
	n := &HashJoin{L: l, R: r, Keys: keys, Maybe: maybe, Kind: kind, Mark: -1}
	n.Props = joined(lp, rp, kind, rows)
	n.Cost = lp.Cost + rp.Cost + rp.Rows*costHashBuild + lp.Rows*costHashProbe + n.Rows*costRow*2
	if len(keys) == 0 { // every pair is looked at
		n.Cost += lp.Rows * rp.Rows * costRow
	}
	n.Sorted = lp.Sorted
	return n
}

// joined are the properties of a join's output, but for cost and order.
func joined(lp, rp *Props, kind JoinKind, rows float64) Props {
	p := Props{Rows: rows}
	switch kind {
	case Inner:
		p.Cols, p.Sure = joinCols(lp, rp)
		p.Distinct = joinDistinct(lp, rp, rows)
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

// probeFactor offers to look a pattern or path up for each row of l.
func (b *builder) probeFactor(l Node, f *factor, filters []Expr, add func(Node)) {
	if f.path != nil {
		if n := b.pathJoin(l, *f.path); n != nil {
			add(b.withOwn(n, l, f, filters))
		}
		return
	}
	if f.pos == nil || !b.allows("bind") {
		return
	}
	if n := b.newBindJoin(l, *f.pos, Inner); n != nil {
		add(b.withOwn(n, l, f, filters))
	}
}

// withOwn applies the filters that f covers alone, which a scan of its own would have applied.
func (b *builder) withOwn(n, l Node, f *factor, filters []Expr) Node {
	var own []Expr
	have := setOf(l.Info().Cols...)
	for _, e := range filters {
		if s := setOf(e.Slots...); s.In(f.cols) && !s.In(have) {
			own = append(own, e)
		}
	}
	if len(own) == 0 {
		return n
	}
	return b.newFilter(n, own)
}

// newBindJoin is nil where l binds nothing of the pattern, or a shared variable may be unbound.
func (b *builder) newBindJoin(l Node, pos [4]Pos, kind JoinKind) *BindJoin {
	lp := l.Info()
	have := setOf(lp.Cols...)
	shared := patternFactor(pos).cols.And(have)
	if shared.Empty() || !shared.In(lp.Sure) {
		return nil
	}
	order, keys, ok := b.probeOrder(pos, shared)
	if !ok {
		return nil
	}
	if g := pos[3].Slot; g >= 0 && have.Has(g) {
		keys = append(keys[:len(keys):len(keys)], g)
	}
	est := b.estimate(pattern(pos))
	scan := newScan(pos, order, est)
	n := &BindJoin{L: l, R: scan, Keys: keys, Kind: kind}
	rows := joinRows(lp, &scan.Props, shared.List())
	n.Props = joined(lp, &scan.Props, kind, rows)
	sorted := len(lp.Sorted) > 0 && lp.Sorted[0] == keys[0]
	probes := lp.Rows
	passes := 1.0
	cost := 0.0
	if sorted {
		probes = min(probes, distinctOf(lp, keys[0])*float64(len(keys)))
		n.Sorted = lp.Sorted
		if len(keys) > 1 {
			n.Sorted = lp.Sorted[:1]
		}
	} else {
		cost = lp.Rows * costSort
		passes = 1 + lp.Rows/bindBatch
	}
	walk := b.rangeRows(pos, order)*costScan*passes + probes*costProbe
	n.Cost = lp.Cost + cost + min(probes*costSeek, walk) + lp.Rows*costRow + rows*costScan
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
		for pass := 0; pass < 2 && best == nil; pass++ { // connected factors first
			for i, fi := range left {
				f := &g.factors[fi]
				have := setOf(cur.Info().Cols...)
				if pass == 0 && f.cols.And(have).Empty() {
					continue
				}
				newly := b.newlyCovered(g.filters, have, f.cols)
				add := func(n Node) {
					if len(newly) > 0 {
						n = b.newFilter(n, newly)
					}
					p := n.Info()
					if best == nil || p.Cost+p.Rows*costScan < best.Info().Cost+best.Info().Rows*costScan {
						best, at = n, i
					}
				}
				for _, leaf := range leaves[fi] {
					b.joinPair(cur, leaf, add)
				}
				b.probeFactor(cur, f, g.filters, add)
				if b.opts.NoReorder && best != nil {
					break
				}
				if len(left) > 64 && best != nil && pass == 0 {
					break // very many factors: take the first that is connected
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
