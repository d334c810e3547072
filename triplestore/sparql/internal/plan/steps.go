package plan

import (
	"odarchive/triplestore/sparql/internal/algebra"
)

// rename replaces the variables of an expression by their names in the plan.
func (b *builder) rename(e algebra.Expr, sc scope) Expr {
	out := Expr{Expr: b.renamed(e, sc)}
	for _, v := range exprVars(out.Expr) {
		out.Slots = append(out.Slots, b.plan.Slot(v))
	}
	return out
}

func (b *builder) renamed(e algebra.Expr, sc scope) algebra.Expr {
	if v, ok := e.(algebra.VarExpr); ok {
		return algebra.VarExpr{Var: b.plan.Vars[b.slot(sc, v.Var)]}
	}
	return algebra.MapOperands(e, func(x algebra.Expr) algebra.Expr { return b.renamed(x, sc) })
}

// wantedOrder returns the slots by one of which the first join among the steps prefers its input sorted. If no step is
// a join, it is the preference of what follows the group.
func (b *builder) wantedOrder(g *group, sc scope) Set {
	for _, p := range g.steps {
		switch {
		case p.left != nil:
			return b.slots(sc, Vars(p.left.R))
		case p.minus != nil:
			return b.slots(sc, Vars(p.minus))
		case p.filter != nil:
			if list := existsIn(p.filter); len(list) > 0 {
				return b.slots(sc, Vars(list[0].In))
			}
		}
	}
	return b.prefer
}

// planGroup orders the joins of a group and puts its steps on top.
func (b *builder) planGroup(g *group, sc scope) (Node, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	if s := b.graph.Slot; s >= 0 && !g.sure().Has(s) {
		g.factors = append(g.factors, nodeFactor(b.allGraphs(s)))
	}
	n, err := b.preferring(b.wantedOrder(g, sc), func() (Node, error) { return b.joinFactors(g) })
	if err != nil {
		return nil, err
	}
	outer := b.graph
	defer func() { b.graph = outer }()
	for i := 0; i < len(g.steps); i++ {
		p := g.steps[i]
		b.graph = p.graph
		switch {
		case p.filter != nil:
			n, err = b.filterStep(n, p.filter, sc)
		case p.extend != nil:
			n, err = b.extendStep(n, *p.extend, sc)
		case p.call != nil:
			ops := []algebra.Service{*p.call}
			for k := i + 1; k < len(g.steps) && g.steps[k].call != nil; k++ {
				ops = append(ops, *g.steps[k].call)
			}
			var done int
			n, done, err = b.serviceSteps(n, ops, sc)
			i += done - 1
		case p.each != nil:
			n, err = b.lateralStep(n, *p.each, sc)
		case p.left != nil:
			n, err = b.leftJoin(n, *p.left, sc)
		default:
			n, err = b.minus(n, p.minus, sc)
		}
		if err != nil {
			return nil, err
		}
	}
	return n, nil
}

func (b *builder) extendStep(in Node, op algebra.Extend, sc scope) (Node, error) {
	to := b.slot(sc, op.Var)
	if c, ok := op.Expr.(algebra.Call); ok && c.Func == unifyFunc {
		from := b.slot(sc, c.Args[0].(algebra.VarExpr).Var)
		return newRename(in, []int{from}, []int{to}), nil
	}
	e, in, err := b.expr(op.Expr, sc, in)
	if err != nil {
		return nil, err
	}
	return newExtend(in, to, e), nil
}

func newExtend(in Node, slot int, e Expr) Node {
	p := in.Info()
	if x, ok := in.(*Extend); ok { // one node for consecutive ones
		n := &Extend{In: x.In, Props: x.Props}
		n.Slots = append(append([]int(nil), x.Slots...), slot)
		n.Exprs = append(append([]Expr(nil), x.Exprs...), e)
		n.Cols = append(append([]int(nil), x.Cols...), slot)
		return n
	}
	n := &Extend{In: in, Slots: []int{slot}, Exprs: []Expr{e}, Props: *p}
	n.Cols = append(append([]int(nil), p.Cols...), slot)
	n.Cost += n.Rows * costExpr
	if c, ok := e.Expr.(algebra.ConstExpr); ok && c.Term != "" {
		n.Sure = n.Sure.With(slot)
	}
	return n
}

func newRename(in Node, from, to []int) Node {
	p := in.Info()
	n := &Rename{In: in, From: from, To: to, Props: *p}
	n.Cols = append([]int(nil), p.Cols...)
	n.Distinct = map[int]float64{}
	for s, d := range p.Distinct {
		n.Distinct[s] = d
	}
	have := setOf(n.Cols...)
	for i, t := range to {
		if !have.Has(t) {
			n.Cols = append(n.Cols, t)
			have = have.With(t)
		} else {
			n.Rows *= 0.1
		}
		if p.Sure.Has(from[i]) {
			n.Sure = n.Sure.With(t)
		}
		if d, ok := p.Distinct[from[i]]; ok {
			n.Distinct[t] = d
		}
	}
	return n
}

// expr prepares an expression over in. Each EXISTS in it becomes a boolean column, which the returned node adds to in.
func (b *builder) expr(e algebra.Expr, sc scope, in Node) (Expr, Node, error) {
	for range existsIn(e) {
		x := existsIn(e)[0]
		mark := b.temp("exists")
		name := b.plan.Vars[mark]
		var err error
		if in, err = b.exists(in, x.In, sc, Mark, mark); err != nil {
			return Expr{}, nil, err
		}
		v := algebra.Expr(algebra.VarExpr{Var: name})
		if x.Not {
			v = algebra.Call{Func: "!", Args: []algebra.Expr{v}}
		}
		sc[name] = mark
		e = replaceFirstExists(e, v)
	}
	return b.rename(e, sc), in, nil
}

// replaceFirstExists puts an expression in the place of the first EXISTS.
func replaceFirstExists(e, with algebra.Expr) algebra.Expr {
	done := false
	var walk func(algebra.Expr) algebra.Expr
	walk = func(e algebra.Expr) algebra.Expr {
		if _, ok := e.(algebra.Exists); ok && !done {
			done = true
			return with
		}
		return algebra.MapOperands(e, walk)
	}
	return walk(e)
}

// filterStep applies a condition. EXISTS and NOT EXISTS become a semi or anti join.
func (b *builder) filterStep(in Node, cond algebra.Expr, sc scope) (Node, error) {
	not := false
	e := cond
	for {
		if c, ok := e.(algebra.Call); ok && c.Func == "!" && len(c.Args) == 1 {
			not, e = !not, c.Args[0]
			continue
		}
		break
	}
	if x, ok := e.(algebra.Exists); ok {
		kind := Semi
		if x.Not != not {
			kind = Anti
		}
		return b.exists(in, x.In, sc, kind, -1)
	}
	ex, in, err := b.expr(cond, sc, in)
	if err != nil {
		return nil, err
	}
	return b.newFilter(in, []Expr{ex}), nil
}
