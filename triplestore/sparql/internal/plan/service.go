package plan

import "odarchive/triplestore/sparql/internal/algebra"

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

// serviceStep joins l with the services that its rows name. For each group of rows, it asks each name once.
func (b *builder) serviceStep(l Node, op algebra.Service, sc scope) (Node, error) {
	if _, none := l.(*Nothing); none {
		return l, nil
	}
	lp := l.Info()
	name := b.slot(sc, op.Name.Var)
	s := b.service(op, sc)
	s.Name.Slot = name
	if !setOf(s.Out...).Has(name) {
		s.Cols = append(s.Cols, name)
	}
	seed := &Seed{RowNr: b.temp("row")}
	seed.Cols = append(append([]int(nil), lp.Cols...), seed.RowNr)
	seed.Sure = lp.Sure.With(seed.RowNr)
	seed.Rows = lp.Rows
	s.L = seed
	shared := setOf(s.Cols...).And(setOf(lp.Cols...))
	sure := setOf(name).And(lp.Sure)
	s.Sure = setOf(name)
	r := newHashJoin(seed, s, sure.List(), shared.Minus(sure).List(), Inner, lp.Rows, nil)
	n := &Lateral{L: l, R: r, Seed: seed, Kind: Inner, Mark: -1}
	n.Props = joined(lp, r.Info(), Inner, r.Rows, nil)
	n.Cols = without(n.Cols, seed.RowNr)
	n.Cost = lp.Cost + r.Cost
	return n, nil
}
