package oracle

import (
	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/sparql/internal/expr"
)

func (o *Oracle) holds(e algebra.Expr, s Solution, d dataset) bool { return o.value(e, s, d).IsTrue() }

// value evaluates an expression on a solution: the solution's terms are written into it, EXISTS is decided, and what is
// left has no variables but unbound ones.
func (o *Oracle) value(e algebra.Expr, s Solution, d dataset) expr.Value {
	o.rowNo++
	p, err := expr.Compile(o.ground(e, s, d), func(algebra.Var) int { return -1 }, o.ctx)
	if err != nil {
		o.fail(err)
		return expr.Value{}
	}
	return p.Eval(&expr.Env{Solution: o.rowNo})
}

func (o *Oracle) ground(e algebra.Expr, s Solution, d dataset) algebra.Expr {
	switch e := e.(type) {
	case algebra.VarExpr:
		if k, ok := s[e.Var]; ok {
			return algebra.ConstExpr{Term: k}
		}
	case algebra.Call:
		if e.Func == "BOUND" {
			_, ok := s[e.Args[0].(algebra.VarExpr).Var]
			return truth(ok)
		}
		c := algebra.Call{Func: e.Func}
		for _, a := range e.Args {
			c.Args = append(c.Args, o.ground(a, s, d))
		}
		return c
	case algebra.In: // what it is short for (§17.4.1.9)
		x := o.ground(e.Expr, s, d)
		if len(e.List) == 0 {
			return algebra.In{Not: e.Not, Expr: x}
		}
		var any algebra.Expr
		for i, a := range e.List {
			equal := algebra.Call{Func: "=", Args: []algebra.Expr{x, o.ground(a, s, d)}}
			if i > 0 {
				equal = algebra.Call{Func: "||", Args: []algebra.Expr{any, equal}}
			}
			any = equal
		}
		if e.Not {
			return algebra.Call{Func: "!", Args: []algebra.Expr{any}}
		}
		return any
	case algebra.Exists:
		found := false
		for _, r := range o.op(substitute(e.In, s), d) {
			found = found || compatible(r, s)
		}
		return truth(found != e.Not)
	}
	return e
}

func truth(b bool) algebra.Expr { return algebra.ConstExpr{Term: expr.NewBool(b).Key()} }

// substitute writes the bindings of a solution into a pattern (§18.6). Variables that a pattern sets itself (VALUES,
// BIND, a subquery) stay: the solutions must then agree with the bindings, which the caller checks.
func substitute(op algebra.Op, s Solution) algebra.Op {
	node := func(n algebra.Node) algebra.Node { return substNode(n, s) }
	switch op := op.(type) {
	case algebra.BGP:
		out := algebra.BGP{}
		for _, t := range op.Patterns {
			out.Patterns = append(out.Patterns, algebra.TriplePattern{S: node(t.S), P: node(t.P), O: node(t.O)})
		}
		return out
	case algebra.PathPattern:
		return algebra.PathPattern{S: node(op.S), Path: op.Path, O: node(op.O)}
	case algebra.Join:
		return algebra.Join{L: substitute(op.L, s), R: substitute(op.R, s)}
	case algebra.LeftJoin:
		return algebra.LeftJoin{L: substitute(op.L, s), R: substitute(op.R, s), Cond: substExpr(op.Cond, s)}
	case algebra.Minus:
		return algebra.Minus{L: substitute(op.L, s), R: substitute(op.R, s)}
	case algebra.Union:
		return algebra.Union{L: substitute(op.L, s), R: substitute(op.R, s)}
	case algebra.Filter:
		return algebra.Filter{In: substitute(op.In, s), Cond: substExpr(op.Cond, s)}
	case algebra.Graph:
		return algebra.Graph{Name: node(op.Name), In: substitute(op.In, s)}
	case algebra.Extend:
		return algebra.Extend{In: substitute(op.In, s), Var: op.Var, Expr: substExpr(op.Expr, s)}
	}
	return op
}

func substNode(n algebra.Node, s Solution) algebra.Node {
	if n.Triple != nil {
		t := algebra.TriplePattern{S: substNode(n.Triple.S, s), P: substNode(n.Triple.P, s), O: substNode(n.Triple.O, s)}
		return algebra.Node{Triple: &t}
	}
	if k, ok := s[n.Var]; ok && n.Var != "" {
		return algebra.Node{Term: k}
	}
	return n
}

func substExpr(e algebra.Expr, s Solution) algebra.Expr {
	switch e := e.(type) {
	case algebra.VarExpr:
		if k, ok := s[e.Var]; ok {
			return algebra.ConstExpr{Term: k}
		}
	case algebra.Call:
		if e.Func == "BOUND" {
			if _, ok := s[e.Args[0].(algebra.VarExpr).Var]; ok {
				return truth(true)
			}
			return e
		}
		c := algebra.Call{Func: e.Func}
		for _, a := range e.Args {
			c.Args = append(c.Args, substExpr(a, s))
		}
		return c
	case algebra.In:
		in := algebra.In{Not: e.Not, Expr: substExpr(e.Expr, s)}
		for _, a := range e.List {
			in.List = append(in.List, substExpr(a, s))
		}
		return in
	case algebra.Exists:
		return algebra.Exists{Not: e.Not, In: substitute(e.In, s)}
	}
	return e
}
