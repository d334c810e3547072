package plan

import (
	"slices"

	"odarchive/triplestore/sparql/internal/algebra"
)

// service plans asking one endpoint for all its solutions.
func (b *builder) service(op algebra.Service, sc scope) *Service {
	n := &Service{Op: op, Name: Pos{Slot: -1}}
	for _, v := range Vars(op.In) {
		n.Vars = append(n.Vars, v)
		n.Out = append(n.Out, b.slot(sc, v))
	}
	n.Cols = append(n.Cols, n.Out...)
	n.Rows, n.Cost = 1000, 1e8
	return n
}

// serviceStep joins l with a service, or with the services that its rows name. For each group of rows, it asks each
// service for the solutions that the rows have use for.
func (b *builder) serviceStep(l Node, op algebra.Service, sc scope) (Node, error) {
	lp := l.Info()
	s := b.service(op, sc)
	shared := setOf(s.Cols...).And(setOf(lp.Cols...))
	switch l.(type) {
	case *Nothing:
		return l, nil
	case *Unit:
		if op.Name.Var == "" {
			return s, nil
		}
	}
	if op.Name.Var == "" && shared.Empty() {
		return newHashJoin(l, s, nil, nil, Inner, lp.Rows*s.Rows, nil), nil // asked once
	}
	s.Keys = b.slots(sc, certain(op.In)).And(shared).List()
	if op.Name.Var != "" {
		name := b.slot(sc, op.Name.Var)
		s.Name.Slot = name
		if !setOf(s.Out...).Has(name) {
			s.Cols = append(s.Cols, name)
		}
		s.Keys = slices.DeleteFunc(s.Keys, func(k int) bool { return k == name })
		s.Sure = setOf(name)
		shared = setOf(s.Cols...).And(setOf(lp.Cols...))
	}
	seed := &Seed{RowNr: b.temp("row")}
	seed.Cols = append(append([]int(nil), lp.Cols...), seed.RowNr)
	seed.Sure = lp.Sure.With(seed.RowNr)
	seed.Rows = lp.Rows
	s.L = seed
	sure := shared.And(lp.Sure).And(s.Sure)
	r := newHashJoin(seed, s, sure.List(), shared.Minus(sure).List(), Inner, lp.Rows, nil)
	n := &Lateral{L: l, R: r, Seed: seed, Kind: Inner, Mark: -1}
	n.Props = joined(lp, r.Info(), Inner, r.Rows, nil)
	n.Cols = without(n.Cols, seed.RowNr)
	n.Cost = lp.Cost + r.Cost
	return n, nil
}

// certain returns the variables that every solution of a pattern binds.
func certain(op algebra.Op) []algebra.Var {
	both := func(a, b []algebra.Var) []algebra.Var {
		return slices.DeleteFunc(slices.Clone(a), func(v algebra.Var) bool { return !slices.Contains(b, v) })
	}
	switch op := op.(type) {
	case algebra.BGP, algebra.PathPattern:
		return Vars(op)
	case algebra.Join:
		return append(certain(op.L), certain(op.R)...)
	case algebra.LeftJoin:
		return certain(op.L)
	case algebra.Minus:
		return certain(op.L)
	case algebra.Union:
		return both(certain(op.L), certain(op.R))
	case algebra.Filter:
		return certain(op.In)
	case algebra.Graph:
		if op.Name.Var != "" {
			return append(certain(op.In), op.Name.Var)
		}
		return certain(op.In)
	case algebra.Extend:
		return certain(op.In)
	case algebra.Group:
		return both(op.By, certain(op.In))
	case algebra.OrderBy:
		return certain(op.In)
	case algebra.Project:
		return both(op.Vars, certain(op.In))
	case algebra.Distinct:
		return certain(op.In)
	case algebra.Reduced:
		return certain(op.In)
	case algebra.Slice:
		return certain(op.In)
	case algebra.Values:
		var out []algebra.Var
		for i, v := range op.Vars {
			bound := true
			for _, row := range op.Rows {
				bound = bound && row[i] != ""
			}
			if bound {
				out = append(out, v)
			}
		}
		return out
	case algebra.Lateral:
		return append(certain(op.L), certain(op.R)...)
	case algebra.Service:
		if op.Silent {
			return nil
		}
		return certain(op.In)
	}
	return nil
}
