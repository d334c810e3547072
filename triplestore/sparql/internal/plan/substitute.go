package plan

import (
	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/term"
)

// Reads tells whether the pattern of an EXISTS mentions a slot.
func (n *Substitute) Reads(slot int) bool {
	if n.Graph.Slot == slot {
		return true
	}
	for _, v := range mentioned(n.Op) {
		if s, ok := n.Scope[v]; ok && s == slot {
			return true
		}
	}
	return false
}

// Substituted plans the pattern of an EXISTS with values in the place of variables (SPARQL 1.1 §18.6). bound gives the
// terms by slot.
func (p *Plan) Substituted(n *Substitute, bound map[int]term.Key, stats Statistics, opts Options) (*Plan, error) {
	values := map[algebra.Var]term.Key{}
	for v, s := range n.Scope {
		if k, ok := bound[s]; ok {
			values[v] = k
		}
	}
	sub := &Plan{Base: p.Base, prefixes: p.prefixes, terms: map[term.ID]term.Key{}, HasFrom: p.HasFrom, Default: p.Default, Named: p.Named}
	b := &builder{plan: sub, stats: stats, opts: opts, graph: n.Graph}
	if s := n.Graph.Slot; s >= 0 {
		id, _, err := b.lookup(bound[s])
		if err != nil {
			return nil, err
		}
		b.graph = Pos{ID: id, Slot: -1}
	}
	for _, o := range stats.Orders() {
		b.orders[o] = true
	}
	root, err := b.build(algebra.Slice{In: substituter(values).op(n.Op), Limit: 1}, b.newScope())
	if err != nil {
		return nil, err
	}
	return b.finish(root)
}

type substituter map[algebra.Var]term.Key

func (s substituter) node(n algebra.Node) algebra.Node {
	if n.Triple != nil {
		t := s.triple(*n.Triple)
		return algebra.Node{Triple: &t}
	}
	if k, ok := s[n.Var]; ok && n.Var != "" {
		return algebra.Node{Term: k}
	}
	return n
}

func (s substituter) triple(t algebra.TriplePattern) algebra.TriplePattern {
	return algebra.TriplePattern{S: s.node(t.S), P: s.node(t.P), O: s.node(t.O)}
}

func (s substituter) op(op algebra.Op) algebra.Op {
	switch op := op.(type) {
	case algebra.BGP:
		var out algebra.BGP
		for _, t := range op.Patterns {
			out.Patterns = append(out.Patterns, s.triple(t))
		}
		return out
	case algebra.PathPattern:
		return algebra.PathPattern{S: s.node(op.S), Path: op.Path, O: s.node(op.O)}
	case algebra.Join:
		return algebra.Join{L: s.op(op.L), R: s.op(op.R)}
	case algebra.LeftJoin:
		return algebra.LeftJoin{L: s.op(op.L), R: s.op(op.R), Cond: s.expr(op.Cond)}
	case algebra.Minus:
		return algebra.Minus{L: s.op(op.L), R: s.op(op.R)}
	case algebra.Union:
		return algebra.Union{L: s.op(op.L), R: s.op(op.R)}
	case algebra.Filter:
		return algebra.Filter{In: s.op(op.In), Cond: s.expr(op.Cond)}
	case algebra.Graph:
		return algebra.Graph{Name: s.node(op.Name), In: s.op(op.In)}
	case algebra.Extend:
		return algebra.Extend{In: s.op(op.In), Var: op.Var, Expr: s.expr(op.Expr)}
	case algebra.OrderBy:
		return algebra.OrderBy{In: s.op(op.In), Keys: op.Keys}
	case algebra.Distinct:
		return algebra.Distinct{In: s.op(op.In)}
	case algebra.Reduced:
		return algebra.Reduced{In: s.op(op.In)}
	case algebra.Slice:
		return algebra.Slice{In: s.op(op.In), Offset: op.Offset, Limit: op.Limit}
	}
	// Subqueries, inline data, services and groups keep their variables: their values join with the bindings.
	vars := Vars(op)
	var row []term.Key
	var names []algebra.Var
	for _, v := range vars {
		if k, ok := s[v]; ok {
			names, row = append(names, v), append(row, k)
		}
	}
	if len(names) == 0 {
		return op
	}
	return algebra.Join{L: algebra.Values{Vars: names, Rows: [][]term.Key{row}}, R: op}
}

func (s substituter) expr(e algebra.Expr) algebra.Expr {
	switch e := e.(type) {
	case algebra.VarExpr:
		if k, ok := s[e.Var]; ok {
			return algebra.ConstExpr{Term: k}
		}
	case algebra.Call:
		if e.Func == "BOUND" && len(e.Args) == 1 {
			if v, ok := e.Args[0].(algebra.VarExpr); ok {
				if _, ok := s[v.Var]; ok {
					return algebra.ConstExpr{Term: term.Typed("true", "http://www.w3.org/2001/XMLSchema#boolean")}
				}
			}
		}
		args := make([]algebra.Expr, len(e.Args))
		for i, a := range e.Args {
			args[i] = s.expr(a)
		}
		return algebra.Call{Func: e.Func, Args: args}
	case algebra.In:
		list := make([]algebra.Expr, len(e.List))
		for i, a := range e.List {
			list[i] = s.expr(a)
		}
		return algebra.In{Not: e.Not, Expr: s.expr(e.Expr), List: list}
	case algebra.Exists:
		return algebra.Exists{Not: e.Not, In: s.op(e.In)}
	}
	return e
}
