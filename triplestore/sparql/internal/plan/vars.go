package plan

import "odarchive/triplestore/sparql/internal/algebra"

// Vars returns the variables in scope of a pattern (§18.2.1), in order of appearance.
func Vars(op algebra.Op) []algebra.Var {
	c := varCollector{seen: map[algebra.Var]bool{}}
	c.op(op)
	return c.list
}

// exprVars returns the variables of an expression, without those of EXISTS patterns.
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
	case algebra.Minus:
		c.op(op.L)
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
	case algebra.Project:
		c.add(op.Vars...)
	case algebra.Values:
		c.add(op.Vars...)
	case algebra.Given:
		c.add(op.Vars...)
	case algebra.Service:
		c.node(op.Name)
		c.op(op.In)
	default:
		for _, in := range algebra.Inputs(op) {
			c.op(in)
		}
	}
}

func (c *varCollector) expr(e algebra.Expr) {
	if v, ok := e.(algebra.VarExpr); ok {
		c.add(v.Var)
	}
	for _, x := range algebra.Operands(e) {
		c.expr(x)
	}
}

// mentioned returns every variable that a substitution of bindings could reach in a pattern (§18.6): those of filters
// and of EXISTS too, but of a subquery only those it projects.
func mentioned(op algebra.Op) []algebra.Var {
	c := varCollector{seen: map[algebra.Var]bool{}}
	c.everything(op)
	return c.list
}

func (c *varCollector) everything(op algebra.Op) {
	c.op(op)
	if hidesVars(op) {
		return
	}
	for _, in := range algebra.Inputs(op) {
		c.everything(in)
	}
	switch op := op.(type) {
	case algebra.LeftJoin:
		c.deepExpr(op.Cond)
	case algebra.Filter:
		c.deepExpr(op.Cond)
	case algebra.Extend:
		c.deepExpr(op.Expr)
	}
}

// hidesVars reports whether bindings from outside are joined with an operator, not substituted in it.
func hidesVars(op algebra.Op) bool {
	switch op.(type) {
	case algebra.Project, algebra.Group, algebra.Values, algebra.Service:
		return true
	}
	return false
}

// deepVars returns the variables of an expression, those of its EXISTS patterns included.
func deepVars(e algebra.Expr) []algebra.Var {
	c := varCollector{seen: map[algebra.Var]bool{}}
	c.deepExpr(e)
	return c.list
}

func (c *varCollector) deepExpr(e algebra.Expr) {
	c.expr(e)
	for _, x := range existsIn(e) {
		c.everything(x.In)
	}
}

// existsIn returns the EXISTS of an expression, without those inside their patterns.
func existsIn(e algebra.Expr) []algebra.Exists {
	if x, ok := e.(algebra.Exists); ok {
		return []algebra.Exists{x}
	}
	var out []algebra.Exists
	for _, x := range algebra.Operands(e) {
		out = append(out, existsIn(x)...)
	}
	return out
}
