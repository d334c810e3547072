package plan

// Beyond these numbers of factors the planner considers fewer join trees: first all, then only left-deep ones, then
// only the cheapest next step.
const (
	maxBushy    = 6
	maxLeftDeep = 9
)

// joinFactors joins the factors of a group in the cheapest order it finds and applies filters as early as possible.
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
	if err := b.joinOnComputed(g); err != nil {
		return nil, err
	}
	spread, err := b.distribute(g) // before orderJoins, which may change the patterns
	if err != nil {
		return nil, err
	}
	n := b.orderJoins(g)
	if _, few := n.(*Lateral); !few && spread != nil && spread.Info().Cost < n.Info().Cost {
		n = spread
	}
	if err := b.check(); err != nil {
		return nil, err
	}
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

// joiner offers the joins of two sets of factors, and builds those that are wanted.
type joiner struct {
	b        *builder
	filters  []Expr
	rows     float64 // of the join; negative if not yet known
	extra    float64 // cost of the filters
	distinct map[int]float64
	want     func(cost float64, sorted []int) bool
	add      func(Node)
	keys     []int
	maybe    []int
	shared   []int
	sure     Set
}

// shape finds the shared variables, which are the same for all plans of two sets.
func (c *joiner) shape(lp, rp *Props) {
	shared := setOf(lp.Cols...).And(setOf(rp.Cols...))
	c.sure = shared.And(lp.Sure).And(rp.Sure)
	c.keys, c.maybe, c.shared = c.sure.List(), shared.Minus(c.sure).List(), shared.List()
}

func (c *joiner) finish(n Node) {
	if len(c.filters) > 0 {
		n = c.b.newFilter(n, c.filters)
	}
	c.b.spend(n)
	c.add(n)
}

// pair offers the joins of two plans: a merge join if both are sorted alike, and a hash join with a table of r.
func (c *joiner) pair(l, r Node) {
	lp, rp := l.Info(), r.Info()
	rows := c.rows
	if rows < 0 {
		rows = joinRows(lp, rp, c.shared)
	}
	if c.b.allows("merge") && len(c.keys) > 0 && len(c.maybe) == 0 && len(lp.Sorted) > 0 && len(rp.Sorted) > 0 &&
		lp.Sorted[0] == rp.Sorted[0] {
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

func cheapest(list []Node) Node {
	var best Node
	for _, n := range list {
		if best == nil || n.Info().Cost < best.Info().Cost {
			best = n
		}
	}
	return best
}

// newlyCovered returns the filters that can be applied after joining two sets, but to neither alone. l and r are the
// slots that the sets bind in every row.
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

// leaves returns the plans of one factor. They include the filters that it covers alone: those whose slots it binds in
// every row.
func (b *builder) leaves(f *factor, filters []Expr) []Node {
	var own []Expr
	for _, e := range filters {
		if setOf(e.Slots...).In(f.sure) { // if a slot may still be unbound, the condition would be decided too early
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
		return b.withPlaces(out, *f.pos, own)
	case f.path != nil:
		return b.pathLeaves(f.path, own)
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

// allows reports whether a join method may be chosen.
func (b *builder) allows(method string) bool { return b.opts.Join == "" || b.opts.Join == method }

// mergeKeys returns the longest common prefix of two orders that consists of join keys.
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
	if keys == 0 { // every pair is compared
		cost += lp.Rows * rp.Rows * costRow
	}
	return cost
}

// newMergeJoin joins two inputs that are sorted by keys. distinct are the distinct counts of the output, nil if they
// are not yet known; so it is in newHashJoin and joined.
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

// joined returns the properties of a join's output, except cost and order.
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
