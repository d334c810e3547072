package algebra

import "fmt"

// rewriter copies a tree, asking what becomes of its terms and triples. Nil functions keep what they would change.
type rewriter struct {
	node   func(Node) Node                // every position of patterns, names of graphs, constants
	path   func(Path) Path                // every path
	triple func(TriplePattern) (Op, bool) // true: the triple becomes this operator
	call   func(Call) Call                // every function call, once its arguments are copied
}

func (r rewriter) op(op Op) Op {
	switch op := op.(type) {
	case nil:
		return nil
	case BGP:
		return r.bgp(op)
	case PathPattern:
		return PathPattern{S: r.node(op.S), Path: r.path(op.Path), O: r.node(op.O)}
	case Join:
		return Join{r.op(op.L), r.op(op.R)}
	case LeftJoin:
		return LeftJoin{L: r.op(op.L), R: r.op(op.R), Cond: r.expr(op.Cond)}
	case Minus:
		return Minus{r.op(op.L), r.op(op.R)}
	case Union:
		return Union{r.op(op.L), r.op(op.R)}
	case Filter:
		return Filter{In: r.op(op.In), Cond: r.expr(op.Cond)}
	case Graph:
		return Graph{Name: r.node(op.Name), In: r.op(op.In)}
	case Extend:
		return Extend{In: r.op(op.In), Var: op.Var, Expr: r.expr(op.Expr)}
	case Group:
		aggs := make([]Aggregate, len(op.Aggs))
		for i, a := range op.Aggs {
			a.Expr = r.expr(a.Expr)
			aggs[i] = a
		}
		return Group{In: r.op(op.In), By: op.By, Aggs: aggs}
	case OrderBy:
		keys := make([]OrderKey, len(op.Keys))
		for i, k := range op.Keys {
			keys[i] = OrderKey{Expr: r.expr(k.Expr), Desc: k.Desc}
		}
		return OrderBy{In: r.op(op.In), Keys: keys}
	case Project:
		return Project{In: r.op(op.In), Vars: op.Vars}
	case Distinct:
		return Distinct{r.op(op.In)}
	case Reduced:
		return Reduced{r.op(op.In)}
	case Slice:
		return Slice{In: r.op(op.In), Offset: op.Offset, Limit: op.Limit}
	case Values, Service: // data is data; another endpoint is asked in the words of the query
		return op
	}
	panic(fmt.Sprintf("algebra: rewrite of %T", op))
}

func (r rewriter) bgp(b BGP) Op {
	var out Op = BGP{}
	var run []TriplePattern
	for _, t := range b.Patterns {
		t = r.nodes(t)
		if op, ok := r.triple(t); ok {
			out = join(join(out, BGP{run}), op)
			run = nil
			continue
		}
		run = append(run, t)
	}
	return join(out, BGP{run})
}

func (r rewriter) nodes(t TriplePattern) TriplePattern {
	return TriplePattern{r.node(t.S), r.node(t.P), r.node(t.O)}
}

func (r rewriter) expr(e Expr) Expr {
	switch e := e.(type) {
	case nil:
		return nil
	case VarExpr:
		return e
	case ConstExpr:
		return ConstExpr{r.node(Node{Term: e.Term}).Term}
	case Call:
		return r.call(Call{Func: e.Func, Args: r.exprs(e.Args)})
	case In:
		return In{Not: e.Not, Expr: r.expr(e.Expr), List: r.exprs(e.List)}
	case Exists:
		return Exists{Not: e.Not, In: r.op(e.In)}
	}
	panic(fmt.Sprintf("algebra: rewrite of %T", e))
}

func (r rewriter) exprs(list []Expr) []Expr {
	out := make([]Expr, len(list))
	for i, e := range list {
		out[i] = r.expr(e)
	}
	return out
}
