package oracle

import (
	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/sparql/internal/expr"
)

func (o *Oracle) holds(e algebra.Expr, s Solution, d dataset) bool { return o.value(e, s, d).IsTrue() }

// value evaluates an expression on a solution. It replaces variables by their terms and EXISTS by its result first, so
// the remaining variables are unbound.
func (o *Oracle) value(e algebra.Expr, s Solution, d dataset) expr.Value {
	o.rowNo++
	p, err := expr.Compile(o.ground(e, s, d), func(algebra.Var) int { return -1 }, o.ctx)
	if err != nil {
		o.fail(err)
		return expr.Value{}
	}
	return p.Eval(&expr.Env{Solution: o.rowNo})
}

// ground replaces the variables of e by their terms in s, and EXISTS by its result.
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
	case algebra.In: // an abbreviation (§17.4.1.9)
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
		outer := o.given
		o.given = nil
		defer func() { o.given = outer }()
		for _, r := range o.op(substitute(e.In, s), d) {
			found = found || compatible(r, s)
		}
		return truth(found != e.Not)
	}
	return e
}

func truth(b bool) algebra.Expr { return algebra.ConstExpr{Term: expr.NewBool(b).Key()} }

// substitute replaces the variables of a pattern by their terms in s (§18.6). It keeps variables that the pattern binds
// itself (VALUES, BIND, subqueries); the caller must check that their values agree with s.
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
	case algebra.Lateral:
		return algebra.Lateral{L: substitute(op.L, s), R: substitute(op.R, s)}
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
