package plan

import (
	"maps"
	"slices"

	"odarchive/triplestore/sparql/internal/algebra"
)

// lateralStep plans LATERAL: the right side runs once for each row of l, and its leaves are joined with the values of
// the row. If the result is the same when the right side is joined with many rows at once, it plans that instead.
func (b *builder) lateralStep(l Node, op algebra.Lateral, sc scope) (Node, error) {
	lp := l.Info()
	if _, none := l.(*Nothing); none {
		return b.nothing(setOf(lp.Cols...).Or(b.slots(sc, Vars(op.R))).List()), nil
	}
	have := setOf(lp.Cols...)
	subtracts := hasMinus(op.R)
	names, read := []algebra.Var(nil), mentioned(op.R)
	if subtracts {
		read = slices.Sorted(maps.Keys(sc))
	}
	correlated := Set{}
	for _, v := range read {
		if s := b.slot(sc, v); have.Has(s) {
			names = append(names, v)
			correlated = correlated.With(s)
		}
	}
	if g := b.graph.Slot; g >= 0 && have.Has(g) {
		correlated = correlated.With(g)
	}
	inner := b.slots(sc, Vars(op.R))
	b.nest++
	defer func() { b.nest-- }()
	if !subtracts && b.transparent(op.R, correlated, sc) && correlated.And(inner).In(lp.Sure) &&
		!b.startsOutsideGraph(op.R, correlated, b.graph, l, sc) {
		g, err := b.flatten(op.R, sc)
		if err != nil {
			return nil, err
		}
		if g.empty {
			return b.nothing(have.Or(inner).List()), nil
		}
		if g.absorbs(correlated) {
			return b.lateral(l, g, correlated, nil, Inner, -1, sc)
		}
	}
	seed := &Seed{RowNr: -1}
	seed.Cols = correlated.List()
	seed.Sure = lp.Sure.And(correlated)
	seed.Rows, seed.Cost = 1, costRow
	outer := b.given
	b.given = seed
	defer func() { b.given = outer }()
	r, err := b.build(b.inject(op.R, names), sc)
	if err != nil {
		return nil, err
	}
	rp := r.Info()
	n := &Lateral{L: l, R: r, Seed: seed, Kind: Inner, Mark: -1, Each: true}
	n.Props = joined(lp, rp, Inner, lp.Rows*rp.Rows, nil)
	n.Cost = lp.Cost + lp.Rows*(rp.Cost+costLateral)
	return n, nil
}

// hasMinus reports whether the right side of a LATERAL has a MINUS that is not inside a subquery. Both sides of the
// MINUS are joined with the left row, so they share all variables of the row, including those that neither side
// mentions.
func hasMinus(op algebra.Op) bool {
	switch op.(type) {
	case algebra.Minus:
		return true
	case algebra.Project:
		return false // a subquery shares only the variables that it projects, and mentions all of them
	}
	return slices.ContainsFunc(algebra.Inputs(op), hasMinus)
}

// givenSolution returns the leaf for a Given: a Seed with the variables of the left row.
func (b *builder) givenSolution(op algebra.Given, sc scope) Node {
	cols := b.slots(sc, op.Vars).And(setOf(b.given.Cols...))
	if g := b.graph.Slot; g >= 0 && slices.Contains(b.given.Cols, g) {
		cols = cols.With(g)
	}
	n := &Seed{RowNr: -1, Of: b.given}
	n.Cols, n.Sure = cols.List(), b.given.Sure.And(cols)
	n.Rows, n.Cost = 1, costRow
	n.Distinct = map[int]float64{}
	for _, s := range n.Cols {
		n.Distinct[s] = 1
	}
	return n
}

// inject joins the leaves of op, the right side of a LATERAL, with the left row. names are the variables of the row.
func (b *builder) inject(op algebra.Op, names []algebra.Var) algebra.Op {
	if len(names) == 0 && b.graph.Slot < 0 {
		return op
	}
	given := algebra.Given{Vars: names}
	in := func(op algebra.Op) algebra.Op { return b.inject(op, names) }
	switch op := op.(type) {
	case nil:
		return given
	case algebra.BGP:
		if len(op.Patterns) == 0 {
			return given
		}
		return algebra.Join{L: given, R: op}
	case algebra.PathPattern, algebra.Values, algebra.Service, algebra.Given:
		return algebra.Join{L: given, R: op}
	case algebra.Lateral:
		return algebra.Lateral{L: algebra.Join{L: given, R: in(op.L)}, R: op.R}
	case algebra.Project:
		op.In = b.inject(op.In, slices.DeleteFunc(slices.Clone(names), func(v algebra.Var) bool { return !slices.Contains(op.Vars, v) }))
		return op
	case algebra.Graph:
		if v := op.Name.Var; v != "" && slices.Contains(names, v) {
			op.In = b.inject(op.In, slices.DeleteFunc(slices.Clone(names), func(n algebra.Var) bool { return n == v }))
			return algebra.Join{L: given, R: op}
		}
		op.In = in(op.In)
		return op
	case algebra.Extend:
		if slices.Contains(names, op.Var) { // the value must be that of the left row
			value := algebra.Var(b.plan.Vars[b.temp("value")])
			op.In = algebra.Extend{In: in(op.In), Var: value, Expr: op.Expr}
			op.Expr = algebra.Call{Func: unifyFunc, Args: []algebra.Expr{algebra.VarExpr{Var: value}}}
			return op
		}
		op.In = in(op.In)
		return op
	}
	return algebra.MapInputs(op, in)
}
