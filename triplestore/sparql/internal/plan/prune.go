package plan

import (
	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/term"
)

// IsVar tells whether the expression is just a variable.
func IsVar(e Expr) bool {
	_, ok := e.Expr.(algebra.VarExpr)
	return ok
}

// prune drops every column that nobody above reads. Rows stay as many as they were.
func prune(n Node, need Set) {
	p := n.Info()
	keep := func() {
		cols := p.Cols[:0:0]
		for _, c := range p.Cols {
			if need.Has(c) {
				cols = append(cols, c)
			}
		}
		p.Cols = cols
		p.Sorted = sortedPrefix(p.Sorted, setOf(cols...))
	}
	switch n := n.(type) {
	case *Scan:
		if n.OneEach {
			return
		}
		for i, q := range n.Pos {
			if q.Slot >= 0 && !need.Has(q.Slot) && countSlot(n.Pos, q.Slot) == 1 {
				n.Pos[i].Slot = -1
			}
		}
		keep()
		if n.Pos[3].ID == 0 && n.Pos[3].Slot < 0 {
			n.Pos[3].ID = term.AnyNamed
		}
	case *MergeJoin:
		in := need.Or(setOf(n.Keys...))
		prune(n.L, in)
		prune(n.R, in)
		keep()
	case *HashJoin:
		in := need.Or(setOf(n.Keys...)).Or(setOf(n.Maybe...))
		if n.Cond != nil {
			in = in.Or(setOf(n.Cond.Slots...))
		}
		prune(n.L, in)
		prune(n.R, in)
		keep()
	case *BindJoin:
		prune(n.L, need.Or(setOf(n.Keys...)))
		prune(n.R, need.Or(setOf(n.Keys...)))
		keep()
	case *Lateral:
		seeds := setOf(n.Seed.Cols...)
		prune(n.R, need.Or(setOf(n.Seed.RowNr)))
		prune(n.L, need.Or(seeds))
		keep()
	case *Seed:
		// A seed's columns are what its Lateral hands it.
	case *PathJoin:
		in := need
		for _, q := range []Pos{n.From, n.To, n.Graph} {
			if q.Slot >= 0 {
				in = in.With(q.Slot)
			}
		}
		prune(n.L, in)
		keep()
	case *PathScan:
		keep()
	case *Filter:
		in := need
		for _, c := range n.Conds {
			in = in.Or(setOf(c.Slots...))
		}
		prune(n.In, in)
		keep()
	case *Extend:
		in := need
		for i := len(n.Slots) - 1; i >= 0; i-- {
			if !in.Has(n.Slots[i]) {
				n.Slots = append(n.Slots[:i:i], n.Slots[i+1:]...)
				n.Exprs = append(n.Exprs[:i:i], n.Exprs[i+1:]...)
				continue
			}
			in = in.Or(setOf(n.Exprs[i].Slots...))
		}
		prune(n.In, in)
		keep()
	case *Rename:
		prune(n.In, need.Or(setOf(n.From...)).Or(setOf(n.To...)))
		keep()
	case *Union:
		keep()
		for _, x := range n.Branches {
			prune(x, need)
		}
	case *Values, *Graphs, *Counts, *Unit, *Nothing:
		// Their columns are what they are.
	case *Group:
		in := setOf(n.By...)
		for _, a := range n.Aggs {
			switch {
			case a.Arg != nil:
				in = in.Or(setOf(a.Arg.Slots...))
			case a.Distinct: // COUNT(DISTINCT *): every column counts
				in = in.Or(setOf(n.In.Info().Cols...))
			}
		}
		prune(n.In, in)
	case *Sort:
		in := need
		for _, k := range n.Keys {
			in = in.Or(setOf(k.Expr.Slots...))
		}
		prune(n.In, in)
		p.Cols = n.In.Info().Cols
	case *Project:
		keep()
		prune(n.In, setOf(p.Cols...))
	case *Distinct:
		prune(n.In, setOf(p.Cols...))
	case *Slice:
		if n.Per >= 0 {
			need = need.With(n.Per)
		}
		prune(n.In, need)
		p.Cols = n.In.Info().Cols
	case *Substitute:
		in := need
		for _, s := range n.Scope {
			in = in.With(s)
		}
		prune(n.L, in)
		keep()
	case *Service:
		// All that the endpoint gives is read: rows repeat as often as it says.
	}
}

func countSlot(pos [4]Pos, slot int) int {
	n := 0
	for _, p := range pos {
		if p.Slot == slot {
			n++
		}
	}
	return n
}
