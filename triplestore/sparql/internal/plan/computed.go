package plan

import (
	"odarchive/triplestore/sparql/internal/algebra"
)

// joinOnComputed finds a filter f(?a) = g(?b) between patterns that share no variable. Both sides get a column with the
// value, and are joined by it instead of pair by pair. It applies only where equal values are the same term: strings,
// IRIs, and integers that functions return.
func (b *builder) joinOnComputed(g *group) error {
	if b.disabled("computed-keys") || b.opts.NoReorder {
		return nil
	}
	for i := 0; i < len(g.filters) && len(g.factors) > 1; i++ {
		c, ok := g.filters[i].Expr.(algebra.Call)
		if !ok || c.Func != "=" || len(c.Args) != 2 || !sameWhenEqual(c.Args[0], c.Args[1]) {
			continue
		}
		parts := g.components()
		l, r := b.partOf(c.Args[0], parts, g), b.partOf(c.Args[1], parts, g)
		if l < 0 || r < 0 || l == r {
			continue
		}
		filters := append(g.filters[:i:i], g.filters[i+1:]...)
		key := b.temp("key")
		var factors []factor
		for n, part := range parts {
			side := c.Args[0]
			switch n {
			case l:
			case r:
				side = c.Args[1]
			default:
				factors = append(factors, part.factors...)
				continue
			}
			rest := filters[:0:0]
			for _, f := range filters {
				if len(f.Slots) > 0 && setOf(f.Slots...).In(part.sure()) {
					part.filters = append(part.filters, f)
				} else {
					rest = append(rest, f)
				}
			}
			filters = rest
			in := b.orderJoins(part)
			if err := b.check(); err != nil {
				return err
			}
			keyed := newExtend(in, key, b.exprOf(side))
			name := algebra.VarExpr{Var: b.plan.Vars[key]}
			bound := Expr{Expr: algebra.Call{Func: "BOUND", Args: []algebra.Expr{name}}, Slots: []int{key}}
			n := b.newFilter(keyed, []Expr{bound})
			p := n.Info()
			p.Sure = p.Sure.With(key)
			factors = append(factors, nodeFactor(n))
		}
		g.factors, g.filters = factors, filters
		i = -1 // the places have changed
	}
	return nil
}

// components divides the factors of a group into groups that share no variable.
func (g *group) components() []*group {
	var out []*group
	for _, f := range g.factors {
		joined := &group{factors: []factor{f}}
		kept := out[:0]
		for _, c := range out {
			if c.cols().Overlaps(joined.cols()) {
				joined.factors = append(c.factors, joined.factors...)
			} else {
				kept = append(kept, c)
			}
		}
		out = append(kept, joined)
	}
	return out
}

// partOf returns the number of the part that binds all variables of e in every row, or -1.
func (b *builder) partOf(e algebra.Expr, parts []*group, g *group) int {
	slots := setOf(b.exprOf(e).Slots...)
	for i, p := range parts {
		if !slots.Empty() && slots.In(p.sure()) {
			return i
		}
	}
	return -1
}

// exprOf returns a part of an expression whose variables have the names of the plan already.
func (b *builder) exprOf(e algebra.Expr) Expr {
	out := Expr{Expr: e}
	for _, v := range exprVars(e) {
		out.Slots = append(out.Slots, b.plan.Slot(v))
	}
	return out
}

// sameWhenEqual reports whether two values of these expressions are equal only if they are the same term.
func sameWhenEqual(x, y algebra.Expr) bool {
	kx, ky := resultOf(x), resultOf(y)
	return kx != unsure && ky != unsure && (kx == ky && kx != anything || kx == text || ky == text)
}

// Kinds of results, as far as equality is concerned.
const (
	unsure   = iota // an expression that is not understood, or that differs between evaluations
	anything        // a variable
	text            // strings with or without a language, or IRIs: equal to themselves only
	integer         // xsd:integer in its canonical form
)

func resultOf(e algebra.Expr) int {
	switch e := e.(type) {
	case algebra.VarExpr:
		return anything
	case algebra.Call:
		if algebra.Volatile(e) || len(existsIn(e)) > 0 {
			return unsure
		}
		switch e.Func {
		case "STR", "LCASE", "UCASE", "SUBSTR", "STRBEFORE", "STRAFTER", "REPLACE", "CONCAT", "LANG", "ENCODE_FOR_URI", "IRI", "DATATYPE",
			"MD5", "SHA1", "SHA256", "SHA384", "SHA512":
			return text
		case "STRLEN", "YEAR", "MONTH", "DAY", "HOURS", "MINUTES":
			return integer
		}
	}
	return unsure
}
