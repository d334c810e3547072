package algebra

import (
	"slices"

	"odarchive/triplestore/term"
)

// rewriter copies a tree and applies its functions, which must not be nil, to the parts.
type rewriter struct {
	node   func(Node) Node                // applied to every position of patterns, name of a graph, constant, and term of VALUES
	path   func(Path) Path                // applied to every path
	triple func(TriplePattern) (Op, bool) // if true, the triple becomes this operator
	call   func(Call) Call                // applied to every function call, after its arguments
}

func (r rewriter) op(op Op) Op {
	if _, ok := op.(Service); ok { // another endpoint is asked in the words of the query
		return op
	}
	switch op := MapInputs(op, r.op).(type) {
	case BGP:
		return r.bgp(op)
	case PathPattern:
		return PathPattern{S: r.node(op.S), Path: r.path(op.Path), O: r.node(op.O)}
	case LeftJoin:
		op.Cond = r.expr(op.Cond)
		return op
	case Filter:
		op.Cond = r.expr(op.Cond)
		return op
	case Graph:
		op.Name = r.node(op.Name)
		return op
	case Extend:
		op.Expr = r.expr(op.Expr)
		return op
	case Group:
		op.Aggs = slices.Clone(op.Aggs)
		for i, a := range op.Aggs {
			op.Aggs[i].Expr = r.expr(a.Expr)
		}
		return op
	case Values:
		rows := make([][]term.Key, len(op.Rows))
		for i, row := range op.Rows {
			rows[i] = make([]term.Key, len(row))
			for j, key := range row {
				if key != "" { // UNDEF stays
					rows[i][j] = r.node(Node{Term: key}).Term
				}
			}
		}
		op.Rows = rows
		return op
	case OrderBy:
		op.Keys = slices.Clone(op.Keys)
		for i, k := range op.Keys {
			op.Keys[i].Expr = r.expr(k.Expr)
		}
		return op
	default:
		return op
	}
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
	switch e := MapOperands(e, r.expr).(type) {
	case ConstExpr:
		return ConstExpr{r.node(Node{Term: e.Term}).Term}
	case Call:
		return r.call(e)
	case Exists:
		return Exists{Not: e.Not, In: r.op(e.In)}
	default:
		return e
	}
}
