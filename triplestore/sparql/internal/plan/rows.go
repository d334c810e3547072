package plan

import (
	"fmt"
	"strings"
)

// Filter keeps the rows for which all conditions are true.
type Filter struct {
	Props
	In    Node
	Conds []Expr
}

func (n *Filter) children() []*Node { return []*Node{&n.In} }
func (n *Filter) exprs() []Expr     { return n.Conds }
func (n *Filter) prune(need Set)    { n.pruneTo(need, readBy(n.Conds), n.In) }

func (n *Filter) label(p *Plan) string {
	var list []string
	for _, c := range n.Conds {
		list = append(list, p.expr(c.Expr))
	}
	return "Filter " + strings.Join(list, " && ")
}

// Extend computes columns, in order.
type Extend struct {
	Props
	In    Node
	Slots []int
	Exprs []Expr
}

func (n *Extend) children() []*Node { return []*Node{&n.In} }
func (n *Extend) exprs() []Expr     { return n.Exprs }

func (n *Extend) prune(need Set) {
	in := need
	for i := len(n.Slots) - 1; i >= 0; i-- {
		if !in.Has(n.Slots[i]) {
			n.Slots = append(n.Slots[:i:i], n.Slots[i+1:]...)
			n.Exprs = append(n.Exprs[:i:i], n.Exprs[i+1:]...)
			continue
		}
		in = in.Or(setOf(n.Exprs[i].Slots...))
	}
	n.pruneTo(need, in, n.In)
}

func (n *Extend) label(p *Plan) string {
	var list []string
	for i, e := range n.Exprs {
		list = append(list, "?"+string(p.Vars[n.Slots[i]])+" := "+p.expr(e.Expr))
	}
	return "Extend " + strings.Join(list, ", ")
}

// Rename copies columns. It drops the rows whose To is bound to another value than From.
type Rename struct {
	Props
	In       Node
	From, To []int
}

func (n *Rename) children() []*Node    { return []*Node{&n.In} }
func (n *Rename) prune(need Set)       { n.pruneTo(need, setOf(n.From...).Or(setOf(n.To...)), n.In) }
func (n *Rename) label(p *Plan) string { return "Rename " + p.slots(n.From) + " to " + p.slots(n.To) }

// Union concatenates its branches. A column that a branch lacks is unbound in its rows.
type Union struct {
	Props
	Branches []Node
}

func (n *Union) children() []*Node {
	var out []*Node
	for i := range n.Branches {
		out = append(out, &n.Branches[i])
	}
	return out
}

func (n *Union) prune(need Set)       { n.pruneTo(need, Set{}, n.Branches...) }
func (n *Union) label(p *Plan) string { return "Union" }

// Group partitions rows by slots and aggregates each part.
type Group struct {
	Props
	In        Node
	By        []int
	Aggs      []Aggregate
	Streaming bool // the input is sorted by By
	EachGraph bool // one group for each named graph, which By is, even if it has no row
}

// Aggregate is one set function over a group.
type Aggregate struct {
	Func      string
	Distinct  bool
	Arg       *Expr // nil: COUNT(*)
	Of        []int // for COUNT(DISTINCT *), the slots whose values tell solutions apart
	Separator string
	Slot      int
}

func (n *Group) children() []*Node { return []*Node{&n.In} }

func (n *Group) exprs() (out []Expr) {
	for _, a := range n.Aggs {
		if a.Arg != nil {
			out = append(out, *a.Arg)
		}
	}
	return out
}

func (n *Group) prune(Set) {
	in := setOf(n.By...).Or(readBy(n.exprs()))
	for _, a := range n.Aggs {
		if a.Arg == nil && a.Distinct { // COUNT(DISTINCT *): every column counts
			in = in.Or(setOf(n.In.Info().Cols...))
		}
	}
	n.In.prune(in)
}

func (n *Group) label(p *Plan) string {
	s := "Group"
	if len(n.By) > 0 {
		s += " by " + p.slots(n.By)
	}
	if n.Streaming {
		s += " of neighbours"
	}
	var list []string
	for _, a := range n.Aggs {
		arg := "*"
		if a.Arg != nil {
			arg = p.expr(a.Arg.Expr)
		}
		if a.Distinct {
			arg = "distinct " + arg
		}
		list = append(list, a.Func+"("+arg+")")
	}
	if len(list) > 0 {
		s += ": " + strings.Join(list, ", ")
	}
	return s
}

// Sort orders rows by expressions. If Limit is not negative, only that many first rows are kept.
type Sort struct {
	Props
	In    Node
	Keys  []SortKey
	Limit int64
}

// SortKey is one ORDER BY condition.
type SortKey struct {
	Expr Expr
	Slot int // of the variable that the expression is; -1 if it is something else
	Desc bool
}

func (n *Sort) children() []*Node { return []*Node{&n.In} }

func (n *Sort) exprs() (out []Expr) {
	for _, k := range n.Keys {
		out = append(out, k.Expr)
	}
	return out
}

func (n *Sort) prune(need Set) {
	n.In.prune(need.Or(readBy(n.exprs())))
	n.Cols = n.In.Info().Cols
}

func (n *Sort) label(p *Plan) string {
	var list []string
	for _, k := range n.Keys {
		s := p.expr(k.Expr.Expr)
		if k.Desc {
			s = "desc(" + s + ")"
		}
		list = append(list, s)
	}
	by := " by " + strings.Join(list, ", ")
	if n.Limit >= 0 {
		return fmt.Sprintf("Top %d", n.Limit) + by
	}
	return "Sort" + by
}

// Project drops columns.
type Project struct {
	Props
	In Node
}

func (n *Project) children() []*Node { return []*Node{&n.In} }

func (n *Project) prune(need Set) {
	n.pruneTo(need, Set{})
	n.In.prune(setOf(n.Cols...))
}

func (n *Project) label(p *Plan) string { return "Project " + p.slots(n.Cols) }

// Distinct drops repeated rows.
type Distinct struct {
	Props
	In        Node
	Streaming bool // the input is sorted by all columns
}

func (n *Distinct) children() []*Node { return []*Node{&n.In} }
func (n *Distinct) prune(Set)         { n.In.prune(setOf(n.Cols...)) }

func (n *Distinct) label(p *Plan) string {
	if n.Streaming {
		return "Distinct of neighbours"
	}
	return "Distinct"
}

// Slice is OFFSET and LIMIT.
type Slice struct {
	Props
	In            Node
	Offset, Limit int64 // Limit -1: none
	Per           int   // rows are counted for each value of this slot; -1: all together
}

func (n *Slice) children() []*Node { return []*Node{&n.In} }

func (n *Slice) prune(need Set) {
	if n.Per >= 0 {
		need = need.With(n.Per)
	}
	n.In.prune(need)
	n.Cols = n.In.Info().Cols
}

func (n *Slice) label(p *Plan) string {
	s := "Slice"
	if n.Offset > 0 {
		s += fmt.Sprintf(" offset %d", n.Offset)
	}
	if n.Limit >= 0 {
		s += fmt.Sprintf(" limit %d", n.Limit)
	}
	return s
}

// Parallel runs In on several processors: each runs a copy of the operators down to Source, which runs once and hands
// its batches out. The order of the rows stays.
type Parallel struct {
	Props
	In, Source Node
	Terms      bool // look up the terms of the columns, too
	Groups     bool // the Group above aggregates rows where they are made
	Workers    int  // at most
}

func (n *Parallel) children() []*Node { return []*Node{&n.In} }
func (n *Parallel) prune(Set)         {} // added after pruning

func (n *Parallel) label(p *Plan) string {
	s := fmt.Sprintf("Parallel %d", n.Workers)
	if n.Terms {
		s += " with terms"
	}
	if n.Groups {
		s += " with groups"
	}
	return s
}
