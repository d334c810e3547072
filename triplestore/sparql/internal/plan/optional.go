package plan

import (
	"slices"

	"odarchive/triplestore/sparql/internal/algebra"
)

// leftJoin plans OPTIONAL.
func (b *builder) leftJoin(l Node, op algebra.LeftJoin, sc scope) (Node, error) {
	if _, none := l.(*Nothing); none {
		return l, nil
	}
	g, err := b.flatten(op.R, sc)
	if err != nil {
		return nil, err
	}
	b.nest++
	defer func() { b.nest-- }()
	lp := l.Info()
	have := setOf(lp.Cols...)
	var rest []algebra.Expr // conditions that need both sides, or an EXISTS
	if op.Cond != nil {
		for _, c := range conjuncts(op.Cond, nil) {
			if len(existsIn(c)) == 0 && len(g.steps) == 0 && b.slots(sc, exprVars(c)).In(g.sure()) {
				g.filters = append(g.filters, b.rename(c, sc))
			} else {
				rest = append(rest, c)
			}
		}
	}
	if g.empty {
		return b.outerNothing(l, g.cols()), nil
	}
	var cands []Node
	if len(rest) == 0 {
		cands = b.lookups(l, g, Outer, cands)
	}
	needsLateral := false
	for _, c := range rest {
		needsLateral = needsLateral || len(existsIn(c)) > 0
	}
	if seeds, ok := b.seedsForOptional(lp, g, op, rest, sc); ok || needsLateral {
		if !ok { // EXISTS in the condition, and operands that cannot be seeded: join all columns of the left side
			seeds = have
		}
		n, err := b.lateral(l, g, seeds, rest, Outer, -1, sc)
		if err != nil {
			return nil, err
		}
		if g.calls() { // joined with the rows, so that endpoints are asked for what these need
			return n, nil
		}
		cands = append(cands, n)
	}
	if !needsLateral && !(b.tooNested() && len(cands) > 0) {
		n, err := b.hashOuter(l, g, rest, sc)
		if err != nil {
			return nil, err
		}
		cands = append(cands, n)
	}
	return b.choose(cands), nil
}

// tooNested reports whether patterns are nested so deeply (OPTIONAL in OPTIONAL, EXISTS in EXISTS) that they are
// planned in one way only. Comparing two ways doubles the work with each level.
func (b *builder) tooNested() bool { return b.nest > 5 }

// choose returns the cheapest plan, or the one of the forced method.
func (b *builder) choose(cands []Node) Node {
	if b.opts.Join != "" {
		for _, n := range cands {
			switch n.(type) {
			case *HashJoin:
				if b.opts.Join == "hash" {
					return n
				}
			case *MergeJoin:
				if b.opts.Join == "merge" {
					return n
				}
			case *BindJoin, *Lateral:
				if b.opts.Join == "bind" {
					return n
				}
			}
		}
	}
	return cheapest(cands)
}

// outerNothing plans an OPTIONAL whose right side has no solution.
func (b *builder) outerNothing(l Node, cols Set) Node {
	p := *l.Info()
	have := setOf(p.Cols...)
	if cols.In(have) {
		return l
	}
	// A union of one branch adds the columns of the right side, unbound.
	n := &Union{Branches: []Node{l}, Props: p}
	n.Cols = append(append([]int(nil), p.Cols...), cols.Minus(have).List()...)
	return n
}

// lookups adds bind and merge joins to cands if the right side is one pattern.
func (b *builder) lookups(l Node, g *group, kind JoinKind, cands []Node) []Node {
	if len(g.factors) != 1 || g.factors[0].pos == nil || len(g.steps) > 0 {
		return cands
	}
	lp := l.Info()
	f := &g.factors[0]
	shared := f.cols.And(setOf(lp.Cols...))
	if shared.Empty() || !shared.In(lp.Sure) {
		return cands
	}
	if len(g.filters) == 0 {
		if p, ok := b.planProbe(l, *f.pos, -1); ok {
			cands = append(cands, b.newBindJoin(l, *f.pos, p, kind, nil))
		}
	}
	for _, leaf := range b.leaves(f, g.filters) {
		if keys := mergeKeys(lp, leaf.Info(), shared); len(keys) > 0 && len(keys) == len(shared.List()) {
			cands = append(cands, newMergeJoin(l, leaf, keys, kind, joinRows(lp, leaf.Info(), keys), nil))
		}
	}
	return cands
}

// hashOuter plans the right side on its own and joins by hash. Conditions over both sides are checked for each pair.
func (b *builder) hashOuter(l Node, g *group, rest []algebra.Expr, sc scope) (Node, error) {
	r, err := b.planGroup(g.clone(), sc)
	if err != nil {
		return nil, err
	}
	lp, rp := l.Info(), r.Info()
	shared := setOf(lp.Cols...).And(setOf(rp.Cols...))
	sure := shared.And(lp.Sure).And(rp.Sure)
	if keys := mergeKeys(lp, rp, sure); len(rest) == 0 && len(keys) > 0 && shared.In(setOf(keys...)) && b.allows("merge") {
		return newMergeJoin(l, r, keys, Outer, joinRows(lp, rp, keys), nil), nil
	}
	n := newHashJoin(l, r, sure.List(), shared.Minus(sure).List(), Outer, joinRows(lp, rp, shared.List()), nil)
	if len(rest) > 0 {
		e := b.rename(conjunction(rest), sc)
		n.Cond = &e
		n.Sorted = nil
	}
	return n, nil
}

func conjunction(list []algebra.Expr) algebra.Expr {
	e := list[0]
	for _, x := range list[1:] {
		e = algebra.Call{Func: "&&", Args: []algebra.Expr{e, x}}
	}
	return e
}

// clone copies a group, so that it can be planned in several ways.
func (g *group) clone() *group {
	return &group{
		factors: append([]factor(nil), g.factors...),
		filters: append([]Expr(nil), g.filters...),
		steps:   append([]step(nil), g.steps...),
		empty:   g.empty,
	}
}

// seedsForOptional returns the columns of the left side that the right side may read through a Seed without changing
// the answer. ok is false if the right side must be evaluated on its own.
func (b *builder) seedsForOptional(lp *Props, g *group, op algebra.LeftJoin, rest []algebra.Expr, sc scope) (Set, bool) {
	have := setOf(lp.Cols...)
	shared := g.cols().And(have)
	if shared.Empty() || !shared.In(lp.Sure) || !g.absorbs(shared) {
		return Set{}, false
	}
	inner := b.slots(sc, mentioned(op.R))
	seeds := shared
	for _, c := range rest {
		reads := b.slots(sc, deepVars(c)).And(have)
		if !reads.Minus(shared).And(inner).Empty() {
			return Set{}, false // a filter inside must not read the outer variable
		}
		seeds = seeds.Or(reads)
	}
	return seeds, true
}

// lateral plans the right side with a Seed for the left rows.
func (b *builder) lateral(l Node, g *group, seeds Set, rest []algebra.Expr, kind JoinKind, mark int, sc scope) (Node, error) {
	lp := l.Info()
	nr := b.temp("row")
	seed := newSeed(lp, seeds, nr)
	rg := g.clone()
	rg.factors = append(rg.factors, nodeFactor(seed))
	r, err := b.planGroup(rg, sc)
	if err != nil {
		return nil, err
	}
	for _, c := range rest {
		if r, err = b.filterStep(r, c, sc); err != nil {
			return nil, err
		}
	}
	rp := r.Info()
	n := &Lateral{L: l, R: r, Seed: seed, Kind: kind, Mark: mark}
	n.Props = joined(lp, rp, kind, rp.Rows, nil)
	n.Cols = without(n.Cols, nr)
	n.Sorted = lp.Sorted
	n.Cost = lp.Cost + rp.Cost + costLateral + (lp.Rows+rp.Rows)*costRow*4
	addMark(&n.Props, kind, mark)
	return n, nil
}

// lateralUnion plans a union around the rows of l if those are few compared to the cost of the whole union. Otherwise
// it returns nil.
func (b *builder) lateralUnion(l Node, f *factor, rows float64) Node {
	lp, up := l.Info(), f.node.Info()
	shared := f.cols.And(setOf(lp.Cols...))
	forced := b.opts.Join == "bind"
	if shared.Empty() || !shared.In(lp.Sure) || b.seeded >= maxSeeded || !forced && lp.Rows*costSeek > up.Cost/4 {
		return nil
	}
	b.seeded++
	nr := b.temp("row")
	seed := newSeed(lp, shared, nr)
	r, err := f.seeded(seed)
	if err != nil {
		return nil // planning it as a whole was no error: the other ways remain
	}
	n := &Lateral{L: l, R: r, Seed: seed, Kind: Inner, Mark: -1}
	if rows < 0 {
		rows = r.Info().Rows
	}
	n.Props = joined(lp, r.Info(), Inner, rows, nil)
	n.Cols = without(n.Cols, nr)
	n.Sorted = lp.Sorted
	n.Cost = lp.Cost + r.Info().Cost + costLateral + (lp.Rows+rows)*costRow*4
	return n
}

// newSeed returns the Seed for the slots seeds of rows with properties lp, numbered in slot nr.
func newSeed(lp *Props, seeds Set, nr int) *Seed {
	seed := &Seed{RowNr: nr}
	seed.Cols = append(seeds.List(), nr)
	seed.Sure = lp.Sure.And(seeds).With(nr)
	seed.Rows = max(1, lp.Rows)
	seed.Cost = seed.Rows * costRow
	seed.Distinct = map[int]float64{nr: seed.Rows}
	for _, s := range seeds.List() {
		seed.Distinct[s] = distinctOf(lp, s)
	}
	if len(lp.Sorted) > 0 && seeds.Has(lp.Sorted[0]) && lp.Sure.Has(lp.Sorted[0]) {
		seed.Sorted = lp.Sorted[:1]
	}
	return seed
}

// without returns cols without slot.
func without(cols []int, slot int) []int {
	return slices.DeleteFunc(slices.Clone(cols), func(c int) bool { return c == slot })
}

// addMark adds the boolean column of a Mark join to p.
func addMark(p *Props, kind JoinKind, mark int) {
	if kind == Mark {
		p.Cols = append(append([]int(nil), p.Cols...), mark)
		p.Sure = p.Sure.With(mark)
	}
}
