package plan

import (
	"slices"

	"odarchive/triplestore/sparql/internal/algebra"
)

// service plans a request to one endpoint for all solutions of a pattern.
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

// maxTogether is the estimated number of rows up to which several services are asked at the same time for the solutions
// that the rows need. With more rows, each service is asked only after the rows were joined with the services before
// it, which may leave fewer rows.
const maxTogether = 100

// serviceSteps joins l with the first service and with those after it that can be asked at the same time. done is the
// number of services joined.
func (b *builder) serviceSteps(l Node, ops []algebra.Service, sc scope) (n Node, done int, err error) {
	lp := l.Info()
	done = 1
	if alone(l) || lp.Rows > maxTogether {
		n, err = b.serviceStep(l, ops[:1], sc)
		return n, done, err
	}
	have, bound := setOf(lp.Cols...), b.slots(sc, Vars(ops[0]))
	for _, op := range ops[1:] {
		cols := b.slots(sc, Vars(op))
		if !cols.Overlaps(have) || !cols.And(bound).In(lp.Sure) || op.Name.Var != "" && !have.Has(b.slot(sc, op.Name.Var)) {
			break
		}
		bound = bound.Or(cols)
		done++
	}
	n, err = b.serviceStep(l, ops[:done], sc)
	return n, done, err
}

// alone reports whether l has no values with which a request could be restricted.
func alone(l Node) bool {
	switch l.(type) {
	case *Nothing, *Unit:
		return true
	}
	return false
}

// serviceStep joins l with services. An endpoint may be named by a variable of l's rows. Rows are joined in groups: for
// each group, each service is asked for the solutions that agree with one of its rows.
func (b *builder) serviceStep(l Node, ops []algebra.Service, sc scope) (Node, error) {
	lp := l.Info()
	switch l.(type) {
	case *Nothing:
		return l, nil
	case *Unit:
		if ops[0].Name.Var == "" {
			return b.service(ops[0], sc), nil
		}
	}
	if s := b.service(ops[0], sc); len(ops) == 1 && ops[0].Name.Var == "" && !setOf(s.Cols...).Overlaps(setOf(lp.Cols...)) {
		return newHashJoin(l, s, nil, nil, Inner, lp.Rows*s.Rows, nil), nil // asked once
	}
	seed, inside := l.(*Seed)
	if !inside {
		seed = &Seed{RowNr: b.temp("row")}
		seed.Cols = append(append([]int(nil), lp.Cols...), seed.RowNr)
		seed.Sure = lp.Sure.With(seed.RowNr)
		seed.Rows = lp.Rows
	}
	var r Node = seed
	for _, op := range ops {
		s := b.boundService(op, seed, sc)
		rp := r.Info()
		shared := setOf(s.Cols...).And(setOf(rp.Cols...))
		sure := shared.And(rp.Sure).And(s.Sure)
		r = newHashJoin(r, s, sure.List(), shared.Minus(sure).List(), Inner, lp.Rows, nil)
	}
	if inside { // a Lateral that asks for groups of rows is around it
		return r, nil
	}
	n := &Lateral{L: l, R: r, Seed: seed, Kind: Inner, Mark: -1}
	n.Props = joined(lp, r.Info(), Inner, r.Info().Rows, nil)
	n.Cols = without(n.Cols, seed.RowNr)
	n.Cost = lp.Cost + r.Info().Cost
	return n, nil
}

// boundService plans a request to a service for the solutions that agree with a row of a Seed.
func (b *builder) boundService(op algebra.Service, seed *Seed, sc scope) *Service {
	s := b.service(op, sc)
	s.L = seed
	s.Cost *= min(1, 0.2+seed.Rows/2000) // few rows ask for less
	s.Keys = b.slots(sc, certain(op.In)).And(setOf(s.Cols...)).And(setOf(seed.Cols...)).List()
	if !op.Silent { // which may answer an empty solution
		s.Sure = setOf(s.Keys...)
	}
	if op.Name.Var == "" {
		return s
	}
	name := b.slot(sc, op.Name.Var)
	s.Name.Slot = name
	if !setOf(s.Out...).Has(name) {
		s.Cols = append(s.Cols, name)
	}
	s.Keys = slices.DeleteFunc(s.Keys, func(k int) bool { return k == name })
	s.Sure = s.Sure.With(name)
	return s
}

// calls reports whether a step of the group is a SERVICE.
func (g *group) calls() bool {
	return slices.ContainsFunc(g.steps, func(s step) bool { return s.call != nil })
}

// Federated reports whether a plan asks other endpoints.
func Federated(n Node) bool {
	if _, ok := n.(*Service); ok {
		return true
	}
	return slices.ContainsFunc(Inputs(n), Federated)
}

// localFirst moves the branches of a union that ask no endpoint before the others. It is for queries that end with
// their first solution, such as ASK: they may then not need an endpoint that is slow or fails.
func localFirst(n Node) {
	switch n := n.(type) {
	case *Slice:
		if n.Offset == 0 {
			localFirst(n.In)
		}
	case *Project:
		localFirst(n.In)
	case *Filter:
		localFirst(n.In)
	case *Parallel:
		localFirst(n.In)
	case *Union:
		slices.SortStableFunc(n.Branches, func(a, b Node) int {
			switch fa, fb := Federated(a), Federated(b); {
			case fa == fb:
				return 0
			case fa:
				return 1
			}
			return -1
		})
	}
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
