package plan

import (
	"slices"

	"odarchive/triplestore/sparql/internal/algebra"
)

// parallelFrom is the estimated work, in nanoseconds, from which operators run on several processors. A run starts
// helpers only after its first rows, so a wrong estimate costs little.
const parallelFrom = 5e6

func (b *builder) parallelFrom() float64 {
	if b.opts.ParallelFrom > 0 {
		return b.opts.ParallelFrom
	}
	return parallelFrom
}

// parallel puts a Parallel over each chain of operators that process every row independently, if they have enough work.
// early means that possibly only a few rows are needed: a LIMIT follows, and no operator in between needs all rows.
func (b *builder) parallel(n Node, early bool) Node {
	top := n
	work := 0.0
	for {
		in, own, ok := rowwise(n)
		if !ok {
			break
		}
		if h, ok := n.(*HashJoin); ok {
			h.R = b.parallel(h.R, false)
		}
		work += own
		n = in
	}
	source := n
	b.parallelInputs(n, early)
	if source == top || early || work < b.parallelFrom() {
		return top
	}
	return b.newParallel(top, source)
}

// newParallel returns a Parallel that runs the operators from in down to, but not including, source.
func (b *builder) newParallel(in, source Node) *Parallel {
	return &Parallel{In: in, Source: source, Props: *in.Info(), Workers: b.opts.Workers}
}

// parallelInputs applies parallel to the inputs of an operator that is not rowwise.
func (b *builder) parallelInputs(n Node, early bool) {
	switch n := n.(type) {
	case *HashJoin: // with a service
		n.L, n.R = b.parallel(n.L, early), b.parallel(n.R, false)
	case *MergeJoin:
		n.L, n.R = b.parallel(n.L, early), b.parallel(n.R, early)
	case *Union:
		for i := range n.Branches {
			n.Branches[i] = b.parallel(n.Branches[i], early)
		}
	case *Group:
		b.parallelGroup(n)
	case *Sort:
		n.In = b.parallel(n.In, false)
	case *Distinct:
		n.In = b.parallel(n.In, early)
	case *Slice:
		n.In = b.parallel(n.In, early || n.Limit >= 0)
	case *Lateral:
		n.L = b.parallel(n.L, early) // R runs many times, each for few rows
	case *Substitute:
		n.L = b.parallel(n.L, early)
	}
}

// rowsPerGroup is the average number of rows of a group from which on several processors aggregate rows. Each processor
// then has its own groups, and adding them up must cost less than the aggregation.
const rowsPerGroup = 16

// parallelGroup lets the processors that compute the rows of a Group also aggregate them. It does so only for
// aggregates that can be added up with the same result: not for DISTINCT ones nor for GROUP_CONCAT.
func (b *builder) parallelGroup(n *Group) {
	n.In = b.parallel(n.In, false)
	rows := n.In.Info().Rows
	if n.Streaming || len(n.By) > 0 && n.Rows*rowsPerGroup > rows {
		return
	}
	work := 0.0 // of the arguments only: finding the groups costs as much as distributing the rows
	for _, a := range n.Aggs {
		switch a.Func {
		case "MIN", "MAX", "SAMPLE":
		case "COUNT", "SUM", "AVG":
			if a.Distinct {
				return
			}
		default:
			return
		}
		if a.Arg != nil && !a.Arg.IsVar() {
			work += rows * exprCost(a.Arg.Expr)
		}
	}
	p, ok := n.In.(*Parallel)
	if !ok {
		if work < b.parallelFrom() {
			return
		}
		p = b.newParallel(n.In, n.In)
		n.In = p
	}
	p.Groups = true
}

// rowwise reports whether an operator processes each row of one input independently. It returns that input and the
// operator's own work in nanoseconds.
func rowwise(n Node) (in Node, work float64, ok bool) {
	switch n := n.(type) {
	case *Filter:
		for _, c := range n.Conds {
			work += n.In.Info().Rows * exprCost(c.Expr)
		}
		return n.In, work, true
	case *Extend:
		for _, e := range n.Exprs {
			work += n.In.Info().Rows * exprCost(e.Expr)
		}
		return n.In, work, true
	case *Rename:
		return n.In, n.Rows * costRow, true
	case *Project:
		return n.In, 0, true
	case *HashJoin:
		if Federated(n.R) { // the two sides should wait for their endpoints at the same time
			return nil, 0, false
		}
		return n.L, n.L.Info().Rows*costHashProbe + n.Rows*costRow*float64(len(n.Cols)), true
	case *BindJoin:
		return n.L, max(0, n.Cost-n.L.Info().Cost), true
	case *PathJoin:
		return n.L, max(0, n.Cost-n.L.Info().Cost), true
	case *PlacesJoin:
		return n.L, max(0, n.Cost-n.L.Info().Cost), true
	}
	return nil, 0, false
}

// parallelTerms lets several processors look up the terms of a large answer.
func (b *builder) parallelTerms(root Node) Node {
	p := root.Info()
	if p.Rows*float64(len(b.plan.Out))*costTerm < b.parallelFrom() {
		return root
	}
	if x, ok := root.(*Parallel); ok {
		x.Terms = true
		return x
	}
	x := b.newParallel(root, root)
	x.Terms = true
	return x
}

// repeatable reports whether the expressions of a plan have the same value for equal rows, in whatever order they
// come.
func repeatable(n Node) bool {
	volatile := func(e Expr) bool { return algebra.Volatile(e.Expr) }
	once := func(in Node) bool { return !repeatable(in) }
	return !slices.ContainsFunc(n.exprs(), volatile) && !slices.ContainsFunc(Inputs(n), once)
}
