package plan

import (
	"odarchive/triplestore/sparql/internal/algebra"
)

// patterns makes a factor of each triple pattern.
func (b *builder) patterns(op algebra.BGP, sc scope) (*group, error) {
	g := &group{}
	rest, calls, err := b.propertyCalls(op, sc)
	if err != nil {
		return nil, err
	}
	g.factors = append(g.factors, calls...)
	for _, t := range rest {
		var pos [4]Pos
		for i, n := range [3]algebra.Node{t.S, t.P, t.O} {
			p, extra, ok, err := b.position(n, sc)
			if err != nil {
				return nil, err
			}
			if !ok {
				g.empty = true
			}
			pos[i] = p
			for _, p := range extra {
				b.addStep(g, p)
			}
		}
		pos[3] = b.graph
		f := patternFactor(pos)
		g.factors = append(g.factors, f)
	}
	return g, nil
}

func patternFactor(pos [4]Pos) factor {
	f := factor{pos: &pos}
	for _, p := range pos {
		if p.Slot >= 0 {
			f.cols = f.cols.With(p.Slot)
		}
	}
	f.sure = f.cols
	return f
}

// position resolves one node of a pattern. A triple term with variables becomes a variable, and extra are the steps
// that take it apart after the joins. ok is false if no quad can match.
func (b *builder) position(n algebra.Node, sc scope) (p Pos, extra []step, ok bool, err error) {
	switch {
	case n.Triple != nil:
		s := b.temp("t")
		name := b.plan.Vars[s]
		sc[name] = s
		extra = b.takeApart(algebra.VarExpr{Var: name}, *n.Triple, sc)
		return Pos{Slot: s}, extra, true, nil
	case n.Var != "":
		return Pos{Slot: b.slot(sc, n.Var)}, nil, true, nil
	}
	id, ok, err := b.lookup(n.Term)
	return Pos{ID: id, Slot: -1}, nil, ok, err
}

// takeApart returns the conditions and bindings of a triple term pattern (SPARQL 1.2). Each part must equal a
// constant, or it is bound to its variable as by BIND, or must equal it if it is bound already.
func (b *builder) takeApart(whole algebra.Expr, t algebra.TriplePattern, sc scope) []step {
	steps := []step{{filter: algebra.Call{Func: "ISTRIPLE", Args: []algebra.Expr{whole}}, reads: b.slots(sc, exprVars(whole))}}
	for _, part := range []struct {
		fn string
		n  algebra.Node
	}{{"SUBJECT", t.S}, {"PREDICATE", t.P}, {"OBJECT", t.O}} {
		value := algebra.Expr(algebra.Call{Func: part.fn, Args: []algebra.Expr{whole}})
		switch {
		case part.n.Triple != nil:
			steps = append(steps, b.takeApart(value, *part.n.Triple, sc)...)
		case part.n.Var != "":
			s := b.temp("part")
			name := b.plan.Vars[s]
			sc[name] = s
			to := b.slot(sc, part.n.Var)
			steps = append(steps,
				step{extend: &algebra.Extend{Var: name, Expr: value}, binds: setOf(s), reads: b.slots(sc, exprVars(whole)).With(s)},
				step{
					extend: &algebra.Extend{Var: part.n.Var,
						Expr: algebra.Call{Func: unifyFunc, Args: []algebra.Expr{algebra.VarExpr{Var: name}}}},
					binds: setOf(to), reads: setOf(s, to)})
		default:
			steps = append(steps, step{reads: b.slots(sc, exprVars(whole)),
				filter: algebra.Call{Func: "SAMETERM", Args: []algebra.Expr{value, algebra.ConstExpr{Term: part.n.Term}}}})
		}
	}
	return steps
}
