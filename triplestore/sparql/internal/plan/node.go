package plan

import (
	"slices"

	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/term"
)

// Node is one operator of a plan. The set is closed: the node types of this package.
type Node interface {
	// Info returns the properties of the operator's output, which the caller may change.
	Info() *Props
	// children returns pointers to the inputs that a rewrite may replace, in the order Explain prints them.
	children() []*Node
	// exprs returns the expressions that the operator evaluates.
	exprs() []Expr
	// prune drops the columns that are not in need from the operator and from all below it. The number of rows stays.
	prune(need Set)
	// label returns the operator's line in the printed plan.
	label(p *Plan) string
}

// Inputs returns the inputs of n in the order Explain prints them.
func Inputs(n Node) []Node {
	var out []Node
	for _, c := range n.children() {
		out = append(out, *c)
	}
	if b, ok := n.(*BindJoin); ok {
		out = append(out, b.R) // printed, but never replaced
	}
	return out
}

// Props describes the output of an operator.
type Props struct {
	Cols     []int           // slots of its columns, in order
	Sure     Set             // slots bound in every row
	Sorted   []int           // rows ascend by the ids of these slots, most significant first
	Rows     float64         // estimated
	Cost     float64         // estimated nanoseconds, inputs included
	Distinct map[int]float64 // estimated distinct values by slot; a missing slot is unknown
	Nr       int             // number in the printed plan, in preorder, from 1
}

// Info returns p itself, for the nodes that embed it.
func (p *Props) Info() *Props { return p }

func (p *Props) exprs() []Expr { return nil }

// pruneTo drops p's columns that are not in need. The inputs keep need and what the operator itself reads.
func (p *Props) pruneTo(need, reads Set, inputs ...Node) {
	for _, in := range inputs {
		in.prune(need.Or(reads))
	}
	p.Cols = slices.DeleteFunc(slices.Clone(p.Cols), func(c int) bool { return !need.Has(c) })
	p.Sorted = sortedPrefix(p.Sorted, setOf(p.Cols...))
}

// Pos is one position of a scan: a constant id, a slot, or neither for any value, which is dropped.
type Pos struct {
	ID   term.ID
	Slot int // -1: none
}

// slotsOf returns the slots of positions.
func slotsOf(list ...Pos) (s Set) {
	for _, p := range list {
		if p.Slot >= 0 {
			s = s.With(p.Slot)
		}
	}
	return s
}

// Range is a closed interval of ids.
type Range struct{ From, To term.ID }

// Expr is an expression whose variables have the names of Plan.Vars, and the slots it reads.
type Expr struct {
	Expr  algebra.Expr
	Slots []int
}

// readBy returns the slots that expressions read.
func readBy(exprs []Expr) (s Set) {
	for _, e := range exprs {
		s = s.Or(setOf(e.Slots...))
	}
	return s
}

// IsVar reports whether e is a variable and nothing else.
func (e Expr) IsVar() bool {
	_, ok := e.Expr.(algebra.VarExpr)
	return ok
}

// rewrite applies f to every node, inputs first.
func rewrite(n Node, f func(Node) Node) Node {
	for _, c := range n.children() {
		*c = rewrite(*c, f)
	}
	return f(n)
}
