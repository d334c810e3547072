package plan

import "odarchive/triplestore/sparql/internal/algebra"

// Vars lists the variables in scope of a pattern (§18.2.1), in order of appearance.
func Vars(op algebra.Op) []algebra.Var {
	c := varCollector{seen: map[algebra.Var]bool{}}
	c.op(op)
	return c.list
}

// exprVars lists the variables of an expression, those of EXISTS patterns not included.
func exprVars(e algebra.Expr) []algebra.Var {
	c := varCollector{seen: map[algebra.Var]bool{}}
	c.expr(e)
	return c.list
}

type varCollector struct {
	seen map[algebra.Var]bool
	list []algebra.Var
}

func (c *varCollector) add(vs ...algebra.Var) {
	for _, v := range vs {
		if v != "" && !c.seen[v] {
			c.seen[v] = true
			c.list = append(c.list, v)
		}
	}
}

func (c *varCollector) node(n algebra.Node) {
	c.add(n.Var)
	if n.Triple != nil {
		c.pattern(*n.Triple)
	}
}

func (c *varCollector) pattern(t algebra.TriplePattern) {
	c.node(t.S)
	c.node(t.P)
	c.node(t.O)
}

func (c *varCollector) op(op algebra.Op) {
	switch op := op.(type) {
	case algebra.BGP:
		for _, t := range op.Patterns {
			c.pattern(t)
		}
	case algebra.PathPattern:
		c.node(op.S)
		c.node(op.O)
	case algebra.Join:
		c.op(op.L)
		c.op(op.R)
	case algebra.LeftJoin:
		c.op(op.L)
		c.op(op.R)
	case algebra.Minus:
		c.op(op.L)
	case algebra.Union:
		c.op(op.L)
		c.op(op.R)
	case algebra.Filter:
		c.op(op.In)
	case algebra.Graph:
		c.node(op.Name)
		c.op(op.In)
	case algebra.Extend:
		c.op(op.In)
		c.add(op.Var)
	case algebra.Group:
		c.add(op.By...)
		for _, a := range op.Aggs {
			c.add(a.Var)
		}
	case algebra.OrderBy:
		c.op(op.In)
	case algebra.Project:
		c.add(op.Vars...)
	case algebra.Distinct:
		c.op(op.In)
	case algebra.Reduced:
		c.op(op.In)
	case algebra.Slice:
		c.op(op.In)
	case algebra.Values:
		c.add(op.Vars...)
	case algebra.Service:
		c.node(op.Name)
		c.op(op.In)
	}
}

func (c *varCollector) expr(e algebra.Expr) {
	switch e := e.(type) {
	case algebra.VarExpr:
		c.add(e.Var)
	case algebra.Call:
		for _, a := range e.Args {
			c.expr(a)
		}
	case algebra.In:
		c.expr(e.Expr)
		for _, a := range e.List {
			c.expr(a)
		}
	}
}

// mentioned lists every variable that occurs anywhere in a pattern, in filters and EXISTS too: what a
// substitution could reach (§18.6). Variables that a subquery does not project are its own.
func mentioned(op algebra.Op) []algebra.Var {
	c := varCollector{seen: map[algebra.Var]bool{}}
	c.everything(op)
	return c.list
}

func (c *varCollector) everything(op algebra.Op) {
	c.op(op)
	switch op := op.(type) {
	case algebra.Join:
		c.everything(op.L)
		c.everything(op.R)
	case algebra.LeftJoin:
		c.everything(op.L)
		c.everything(op.R)
		c.deepExpr(op.Cond)
	case algebra.Minus:
		c.everything(op.L)
		c.everything(op.R)
	case algebra.Union:
		c.everything(op.L)
		c.everything(op.R)
	case algebra.Filter:
		c.everything(op.In)
		c.deepExpr(op.Cond)
	case algebra.Graph:
		c.everything(op.In)
	case algebra.Extend:
		c.everything(op.In)
		c.deepExpr(op.Expr)
	}
}

func (c *varCollector) deepExpr(e algebra.Expr) {
	c.expr(e)
	for _, x := range existsIn(e) {
		c.everything(x.In)
	}
}

// existsIn lists the EXISTS of an expression, outermost ones only.
func existsIn(e algebra.Expr) []algebra.Exists {
	switch e := e.(type) {
	case algebra.Exists:
		return []algebra.Exists{e}
	case algebra.Call:
		var out []algebra.Exists
		for _, a := range e.Args {
			out = append(out, existsIn(a)...)
		}
		return out
	case algebra.In:
		out := existsIn(e.Expr)
		for _, a := range e.List {
			out = append(out, existsIn(a)...)
		}
		return out
	}
	return nil
}
