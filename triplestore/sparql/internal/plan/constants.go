package plan

import (
	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/term"
)

// fixedSlot is a variable whose value a filter fixes.
type fixedSlot struct {
	slot int
	expr Expr
}

// substituteConstants replaces ?x by a constant if a filter says ?x = constant and equal terms are the same term:
// IRIs, strings with and without a language, and any literal of SAMETERM. If only patterns bind the variable, it is
// replaced in them; else the constant is joined as data.
func (b *builder) substituteConstants(g *group) ([]fixedSlot, error) {
	if b.disabled("constants") {
		return nil, nil
	}
	var out []fixedSlot
	var kept []Expr
	done := Set{}
	for _, f := range g.filters {
		slot, keys, ok := b.identities(f.Expr)
		if !ok || done.Has(slot) {
			kept = append(kept, f)
			continue
		}
		done = done.With(slot)
		patterns := len(keys) == 1
		for _, fa := range g.factors {
			if fa.cols.Has(slot) && fa.pos == nil {
				patterns = false
			}
			if fa.pos != nil && fa.pos[3].Slot == slot {
				patterns = false
			}
		}
		if !patterns {
			n := &Values{Props: Props{Cols: []int{slot}, Sure: setOf(slot), Cost: 1}}
			for _, k := range keys {
				id, err := b.constant(k)
				if err != nil {
					return nil, err
				}
				n.Rows = append(n.Rows, []term.ID{id})
			}
			n.Props.Rows = float64(len(n.Rows))
			n.Distinct = map[int]float64{slot: n.Props.Rows}
			g.factors = append(g.factors, nodeFactor(n))
			continue
		}
		id, found, err := b.lookup(keys[0])
		if err != nil {
			return nil, err
		}
		for i, fa := range g.factors {
			if !fa.cols.Has(slot) {
				continue
			}
			if !found {
				n := b.nothing(fa.cols.List())
				g.factors[i] = nodeFactor(n)
				continue
			}
			pos := *fa.pos
			for j := range pos {
				if pos[j].Slot == slot {
					pos[j] = Pos{ID: id, Slot: -1}
				}
			}
			g.factors[i] = patternFactor(pos)
		}
		if found {
			out = append(out, fixedSlot{slot, Expr{Expr: algebra.ConstExpr{Term: keys[0]}}})
		}
	}
	// Other filters that read a fixed variable get the constant in its place.
	for i, f := range kept {
		for _, c := range out {
			kept[i] = replaceVar(f, b.plan.Vars[c.slot], c.slot, c.expr.Expr)
			f = kept[i]
		}
	}
	g.filters = kept
	return out, nil
}

// identities recognises ?x = c, SAMETERM(?x, c) and ?x IN (c, …) for constants that are equal only to themselves.
func (b *builder) identities(e algebra.Expr) (slot int, keys []term.Key, ok bool) {
	identity := func(k term.Key, same bool) bool {
		return k.Kind() == term.KindIRI || k.Kind() == term.KindLiteral && (same || k[0] != '^')
	}
	switch e := e.(type) {
	case algebra.Call:
		if e.Func != "=" && e.Func != "SAMETERM" || len(e.Args) != 2 {
			return 0, nil, false
		}
		for i := range 2 {
			v, vok := e.Args[i].(algebra.VarExpr)
			k, kok := e.Args[1-i].(algebra.ConstExpr)
			if vok && kok && identity(k.Term, e.Func == "SAMETERM") {
				return b.plan.Slot(v.Var), []term.Key{k.Term}, true
			}
		}
	case algebra.In:
		v, vok := e.Expr.(algebra.VarExpr)
		if !vok || e.Not || len(e.List) == 0 {
			return 0, nil, false
		}
		seen := map[term.Key]bool{}
		for _, x := range e.List {
			k, kok := x.(algebra.ConstExpr)
			if !kok || !identity(k.Term, false) {
				return 0, nil, false
			}
			if !seen[k.Term] {
				seen[k.Term] = true
				keys = append(keys, k.Term)
			}
		}
		return b.plan.Slot(v.Var), keys, true
	}
	return 0, nil, false
}

// replaceVar puts an expression in the place of the variable with this name and slot.
func replaceVar(e Expr, name algebra.Var, slot int, with algebra.Expr) Expr {
	if !setOf(e.Slots...).Has(slot) {
		return e
	}
	var walk func(algebra.Expr) algebra.Expr
	walk = func(x algebra.Expr) algebra.Expr {
		if v, ok := x.(algebra.VarExpr); ok && v.Var == name {
			return with
		}
		return algebra.MapOperands(x, walk)
	}
	return Expr{Expr: walk(e.Expr), Slots: without(e.Slots, slot)}
}
