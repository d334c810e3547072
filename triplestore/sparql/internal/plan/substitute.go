package plan

import (
	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/term"
)

// Reads reports whether the pattern of the EXISTS mentions a slot.
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

// Substituted plans the pattern of an EXISTS with values in the place of variables (§18.6). bound holds the values by
// slot.
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

// substituter puts terms in the place of variables.
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
	if hidesVars(op) {
		return s.join(op)
	}
	switch op := algebra.MapInputs(op, s.op).(type) {
	case algebra.BGP:
		var out algebra.BGP
		for _, t := range op.Patterns {
			out.Patterns = append(out.Patterns, s.triple(t))
		}
		return out
	case algebra.PathPattern:
		return algebra.PathPattern{S: s.node(op.S), Path: op.Path, O: s.node(op.O)}
	case algebra.LeftJoin:
		op.Cond = s.expr(op.Cond)
		return op
	case algebra.Filter:
		op.Cond = s.expr(op.Cond)
		return op
	case algebra.Graph:
		op.Name = s.node(op.Name)
		return op
	case algebra.Extend:
		op.Expr = s.expr(op.Expr)
		return op
	default:
		return op
	}
}

// join joins an operator that hides its variables with their values.
func (s substituter) join(op algebra.Op) algebra.Op {
	var row []term.Key
	var names []algebra.Var
	for _, v := range Vars(op) {
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
	case algebra.Exists:
		return algebra.Exists{Not: e.Not, In: s.op(e.In)}
	}
	return algebra.MapOperands(e, s.expr)
}
