package plan

import (
	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/term"
)

// minus plans MINUS (§18.5): a right row removes the left rows that are compatible with it and share a bound variable
// with it.
func (b *builder) minus(l Node, r algebra.Op, sc scope) (Node, error) {
	if _, none := l.(*Nothing); none {
		return l, nil
	}
	g, err := b.flatten(r, sc)
	if err != nil {
		return nil, err
	}
	lp := l.Info()
	graph := Set{}
	if b.graph.Slot >= 0 {
		graph = setOf(b.graph.Slot)
	}
	shared := g.cols().And(setOf(lp.Cols...)).Minus(graph)
	if g.empty || shared.Empty() {
		return l, nil
	}
	b.nest++
	defer func() { b.nest-- }()
	var cands []Node
	if shared.In(lp.Sure) && shared.In(g.sure()) {
		// All shared variables are bound: a plain anti join.
		cands = b.lookups(l, g, Anti, cands)
		if g.absorbs(shared) {
			n, err := b.lateral(l, g, shared.Or(graph), nil, Anti, -1, sc)
			if err != nil {
				return nil, err
			}
			cands = append(cands, n)
		}
		if b.tooNested() && len(cands) > 0 {
			return b.choose(cands), nil
		}
		n, err := b.below(l, shared.Or(graph), func(l Node) (Node, error) { return b.minus(l, r, sc) })
		if err != nil {
			return nil, err
		}
		if n != nil {
			cands = append(cands, n)
		}
		n, err = b.hashSemi(l, g, Anti, -1, sc)
		if err != nil {
			return nil, err
		}
		return b.choose(append(cands, n)), nil
	}
	rn, err := b.planGroup(g, sc)
	if err != nil {
		return nil, err
	}
	rp := rn.Info()
	shared = shared.And(setOf(rp.Cols...)) // a step may turn out not to bind what it could
	if shared.Empty() {
		return l, nil
	}
	sure := shared.Or(graph).And(lp.Sure).And(rp.Sure)
	n := newHashJoin(l, rn, sure.List(), shared.Minus(sure).List(), Minus, lp.Rows/2, nil)
	if sure.Minus(graph).Empty() {
		return n, nil
	}
	n.Kind = Anti // a key is bound on both sides, so each partner shares a bound variable
	return n, nil
}

// hashSemi plans the right side on its own and keeps or drops left rows by their keys.
func (b *builder) hashSemi(l Node, g *group, kind JoinKind, mark int, sc scope) (Node, error) {
	r, err := b.planGroup(g.clone(), sc)
	if err != nil {
		return nil, err
	}
	lp, rp := l.Info(), r.Info()
	shared := setOf(lp.Cols...).And(setOf(rp.Cols...))
	sure := shared.And(lp.Sure).And(rp.Sure)
	if keys := mergeKeys(lp, rp, sure); kind != Mark && len(keys) > 0 && shared.In(setOf(keys...)) && b.allows("merge") {
		return newMergeJoin(l, r, keys, kind, 0, nil), nil
	}
	n := newHashJoin(l, r, sure.List(), shared.Minus(sure).List(), kind, 0, nil)
	n.Mark = mark
	addMark(&n.Props, kind, mark)
	return n, nil
}

// exists plans EXISTS over in by substitution (§18.6), or by a semi join if the pattern allows.
func (b *builder) exists(in Node, r algebra.Op, sc scope, kind JoinKind, mark int) (Node, error) {
	if _, none := in.(*Nothing); none && kind != Mark {
		return in, nil
	}
	ip := in.Info()
	have := setOf(ip.Cols...)
	correlated := b.slots(sc, mentioned(r)).And(have)
	inner := b.slots(sc, Vars(r))
	if g := b.graph.Slot; g >= 0 {
		correlated = correlated.With(g)
	}
	transparent := b.transparent(r, correlated, sc) && correlated.And(inner).In(ip.Sure)
	if !transparent || b.startsOutsideGraph(r, correlated, b.graph, in, sc) {
		n := &Substitute{L: in, Op: r, Scope: sc, Graph: b.graph, Kind: kind, Mark: mark}
		n.Props = joined(ip, ip, kind, ip.Rows/2, nil)
		n.Sorted = ip.Sorted
		n.Cost = ip.Cost + ip.Rows*costLateral*10
		addMark(&n.Props, kind, mark)
		return n, nil
	}
	g, err := b.flatten(r, sc)
	if err != nil {
		return nil, err
	}
	if g.empty {
		return b.existsNothing(in, kind, mark), nil
	}
	b.nest++
	defer func() { b.nest-- }()
	var cands []Node
	if kind != Mark {
		cands = b.lookups(in, g, kind, cands)
		if !b.tooNested() {
			n, err := b.below(in, correlated, func(in Node) (Node, error) { return b.exists(in, r, sc, kind, mark) })
			if err != nil {
				return nil, err
			}
			if n != nil {
				cands = append(cands, n)
			}
		}
	}
	if correlated.In(g.sure()) && !b.tooNested() { // no filter inside reads a variable that only the outside binds
		n, err := b.hashSemi(in, g, kind, mark, sc)
		if err != nil {
			return nil, err
		}
		cands = append(cands, n)
	}
	n, err := b.lateral(in, g, correlated, nil, kind, mark, sc)
	if err != nil {
		return nil, err
	}
	return b.choose(append(cands, n)), nil
}

// existsNothing plans an EXISTS whose pattern has no solution.
func (b *builder) existsNothing(in Node, kind JoinKind, mark int) Node {
	switch kind {
	case Anti:
		return in
	case Mark:
		f := term.Typed("false", "http://www.w3.org/2001/XMLSchema#boolean")
		return newExtend(in, mark, Expr{Expr: algebra.ConstExpr{Term: f}})
	}
	return b.nothing(in.Info().Cols)
}

// transparent reports whether joining a pattern with rows that bind seeds gives the same rows as substituting their
// values in it.
func (b *builder) transparent(op algebra.Op, seeds Set, sc scope) bool {
	return b.seesThrough(op, seeds, sc, true)
}

// seesThrough is transparent for a part of the pattern. top is true if filters of this part are filters of the whole
// pattern.
func (b *builder) seesThrough(op algebra.Op, seeds Set, sc scope, top bool) bool {
	bound := func(op algebra.Op) Set { return b.slots(sc, sureVars(op)) }
	exprOK := func(e algebra.Expr, in algebra.Op) bool {
		if len(existsIn(e)) > 0 && !top {
			return b.slots(sc, deepVars(e)).And(seeds).Empty()
		}
		return top || b.slots(sc, deepVars(e)).And(seeds).In(bound(in))
	}
	switch op := op.(type) {
	case nil, algebra.BGP, algebra.PathPattern, algebra.Values:
		return true
	case algebra.Join:
		// Filters on either side see only that side: they are no longer at the top.
		return b.seesThrough(op.L, seeds, sc, false) && b.seesThrough(op.R, seeds, sc, false)
	case algebra.Filter:
		return b.seesThrough(op.In, seeds, sc, top) && exprOK(op.Cond, op.In)
	case algebra.Extend:
		return b.seesThrough(op.In, seeds, sc, top) && exprOK(op.Expr, op.In) && !seeds.Has(b.slot(sc, op.Var))
	case algebra.LeftJoin:
		return b.seesThrough(op.L, seeds, sc, top) && b.slots(sc, mentioned(op.R)).And(seeds).In(bound(op.L)) &&
			b.seesThrough(op.R, seeds, sc, false) &&
			(op.Cond == nil || b.slots(sc, deepVars(op.Cond)).And(seeds).In(bound(op.L)))
	case algebra.Union:
		return b.seesThrough(op.L, seeds, sc, false) && b.seesThrough(op.R, seeds, sc, false)
	case algebra.Graph:
		return b.seesThrough(op.In, seeds, sc, false)
	case algebra.Minus:
		return b.seesThrough(op.L, seeds, sc, top) && b.slots(sc, mentioned(op.R)).And(seeds).Empty()
	}
	return b.slots(sc, Vars(op)).And(seeds).Empty() // subqueries: only if nothing is correlated
}

// sureVars returns the variables that every solution of a pattern binds.
func sureVars(op algebra.Op) []algebra.Var {
	switch op := op.(type) {
	case algebra.BGP, algebra.PathPattern:
		return Vars(op)
	case algebra.Join:
		return append(sureVars(op.L), sureVars(op.R)...)
	case algebra.LeftJoin:
		return sureVars(op.L)
	case algebra.Minus:
		return sureVars(op.L)
	case algebra.Filter:
		return sureVars(op.In)
	case algebra.Extend:
		return sureVars(op.In)
	case algebra.Graph:
		if op.Name.Var != "" {
			return append(sureVars(op.In), op.Name.Var)
		}
		return sureVars(op.In)
	case algebra.Union:
		l, out := map[algebra.Var]bool{}, []algebra.Var(nil)
		for _, v := range sureVars(op.L) {
			l[v] = true
		}
		for _, v := range sureVars(op.R) {
			if l[v] {
				out = append(out, v)
			}
		}
		return out
	}
	return nil
}
