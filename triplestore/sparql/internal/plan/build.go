package plan

import (
	"fmt"
	"slices"
	"strings"

	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/term"
)

// builder builds one plan.
type builder struct {
	plan   *Plan
	stats  Statistics
	opts   Options
	orders [4]bool
	graph  Pos // the active graph
	prefer Set // slots by one of which rows should be sorted for what follows
	fresh  int
	known  map[term.Pattern]term.Estimate
	spent  int   // bytes of all candidates
	failed error // why planning must end
	given  *Seed // the left row of the innermost LATERAL around the pattern that is being planned
	depth  int
	nest   int // levels of OPTIONAL, MINUS and EXISTS around the pattern that is being planned
	seeded int // unions planned around a Seed so far, at most maxSeeded
	found  map[findKey][]Found
}

// maxSeeded bounds how many unions are planned a second time, around a Seed. Each repeats the work for everything
// nested in it.
const maxSeeded = 32

// scope maps the variables of one query or subquery to slots.
type scope map[algebra.Var]int

func (b *builder) newScope() scope { return scope{} }

// slot returns the slot of a variable, which it adds if needed. The name of a slot is unique within the plan.
func (b *builder) slot(sc scope, v algebra.Var) int {
	if s, ok := sc[v]; ok {
		return s
	}
	name := v
	for b.plan.Slot(name) >= 0 {
		b.fresh++
		name = algebra.Var(fmt.Sprintf(".%d.%s", b.fresh, v))
	}
	s := len(b.plan.Vars)
	b.plan.addVar(name)
	sc[v] = s
	return s
}

// temp adds a slot that no variable of the query names.
func (b *builder) temp(prefix string) int {
	b.fresh++
	b.plan.addVar(algebra.Var(fmt.Sprintf(".%s%d", prefix, b.fresh)))
	return len(b.plan.Vars) - 1
}

// maxDepth is the maximum nesting of patterns.
const maxDepth = 1000

// build plans one operator.
func (b *builder) build(op algebra.Op, sc scope) (Node, error) {
	if b.depth++; b.depth > maxDepth {
		return nil, fmt.Errorf("%w: patterns nested deeper than %d", ErrTooLarge, maxDepth)
	}
	defer func() { b.depth-- }()
	if len(b.plan.Vars) > maxVars {
		return nil, fmt.Errorf("%w: more than %d variables", ErrTooLarge, maxVars)
	}
	switch op := op.(type) {
	case nil:
		return b.unit(), nil
	case algebra.BGP, algebra.Join, algebra.Filter, algebra.Extend, algebra.LeftJoin, algebra.Minus, algebra.Lateral, algebra.PathPattern,
		algebra.Service:
		if s, ok := op.(algebra.Service); ok && s.Name.Var == "" {
			return b.service(s, sc), nil
		}
		g, err := b.flatten(op, sc)
		if err != nil {
			return nil, err
		}
		return b.planGroup(g, sc)
	case algebra.Union:
		return b.union(op, sc)
	case algebra.Graph:
		return b.graphOp(op, sc)
	case algebra.Values:
		return b.values(op, sc)
	case algebra.Given:
		return b.givenSolution(op, sc), nil
	case algebra.Group:
		return b.group(op, sc)
	case algebra.OrderBy:
		return b.orderBy(op, sc)
	case algebra.Project:
		return b.project(op, sc)
	case algebra.Distinct:
		return b.distinct(op.In, sc)
	case algebra.Reduced:
		return b.build(op.In, sc) // keeping duplicates is allowed
	case algebra.Slice:
		in, err := b.build(op.In, sc)
		if err != nil {
			return nil, err
		}
		n := newSlice(in, op.Offset, op.Limit)
		n.Per = b.graph.Slot
		return n, nil
	}
	return nil, fmt.Errorf("plan: unknown operator %T", op)
}

func (b *builder) unit() Node { return &Unit{Props{Rows: 1, Cost: 1}} }

func (b *builder) nothing(cols []int) Node {
	return &Nothing{Props{Cols: cols, Sure: setOf(cols...), Cost: 1}}
}

func (b *builder) group(op algebra.Group, sc scope) (Node, error) {
	in, err := b.preferring(b.slots(sc, op.By), func() (Node, error) { return b.build(op.In, sc) })
	if err != nil {
		return nil, err
	}
	n := &Group{}
	for _, v := range op.By {
		n.By = append(n.By, b.slot(sc, v))
	}
	if g := b.graph.Slot; g >= 0 {
		n.EachGraph = len(n.By) == 0
		n.By = append(n.By, g)
	}
	for _, a := range op.Aggs {
		agg := Aggregate{Func: a.Func, Distinct: a.Distinct, Separator: a.Separator}
		if a.Expr != nil {
			e, marked, err := b.expr(a.Expr, sc, in)
			if err != nil {
				return nil, err
			}
			in, agg.Arg = marked, &e
		} else if a.Distinct {
			agg.Of = b.visible(op.In, sc)
		}
		agg.Slot = b.slot(sc, a.Var)
		n.Aggs = append(n.Aggs, agg)
	}
	n.In = in
	p := in.Info()
	n.Cols = append(n.Cols, n.By...)
	n.Sure = p.Sure.And(setOf(n.By...))
	for _, a := range n.Aggs {
		n.Cols = append(n.Cols, a.Slot)
		if a.Func == "COUNT" {
			n.Sure = n.Sure.With(a.Slot)
		}
	}
	n.Props.Rows, n.Distinct = 1, map[int]float64{}
	for _, s := range n.By {
		d := distinctOf(p, s)
		n.Distinct[s] = d
		n.Props.Rows *= d
	}
	n.Props.Rows = min(n.Props.Rows, max(1, p.Rows))
	n.Streaming = len(n.By) > 0 && sortedBy(p, n.By)
	n.Cost = p.Cost + p.Rows*costGroup
	if n.Streaming {
		n.Sorted = p.Sorted[:len(n.By)]
	}
	return n, nil
}

// visible returns the slots of a pattern's variables, without those that stand for its blank nodes or lie within its
// paths.
func (b *builder) visible(op algebra.Op, sc scope) []int {
	named := slices.DeleteFunc(Vars(op), func(v algebra.Var) bool { return strings.HasPrefix(string(v), ".") })
	return b.slots(sc, named).List()
}

// preferring calls f, which plans an input for an operator that is cheaper on rows sorted by one of slots.
func (b *builder) preferring(slots Set, f func() (Node, error)) (Node, error) {
	outer := b.prefer
	b.prefer = slots
	defer func() { b.prefer = outer }()
	return f()
}

// sortedBy reports whether rows with equal values of slots are neighbours in the input, and all slots are bound.
func sortedBy(p *Props, slots []int) bool {
	if len(p.Sorted) < len(slots) {
		return false
	}
	want := setOf(slots...)
	return setOf(p.Sorted[:len(slots)]...).In(want) && want.In(p.Sure)
}

func (b *builder) orderBy(op algebra.OrderBy, sc scope) (Node, error) {
	in, err := b.build(op.In, sc)
	if err != nil {
		return nil, err
	}
	n := &Sort{Limit: -1}
	for _, k := range op.Keys {
		e, marked, err := b.expr(k.Expr, sc, in)
		if err != nil {
			return nil, err
		}
		in = marked
		key := SortKey{Expr: e, Slot: -1, Desc: k.Desc}
		if v, ok := e.Expr.(algebra.VarExpr); ok {
			key.Slot = b.plan.Slot(v.Var)
		}
		n.Keys = append(n.Keys, key)
	}
	n.In = in
	n.Props = *in.Info()
	n.Sorted = nil
	n.Cost += n.Rows * costSort
	return n, nil
}

// project opens a scope: of a subquery's variables, only the projected ones are those of the outer query.
func (b *builder) project(op algebra.Project, sc scope) (Node, error) {
	inner := b.newScope()
	var cols []int
	for _, v := range op.Vars {
		s := b.slot(sc, v)
		inner[v] = s
		cols = append(cols, s)
	}
	if g := b.graph.Slot; g >= 0 {
		cols = append(cols, g) // every projection keeps the active graph of GRAPH ?g
	}
	in, err := b.build(op.In, inner)
	if err != nil {
		return nil, err
	}
	return newProject(in, cols), nil
}

func newProject(in Node, cols []int) Node {
	p := *in.Info()
	n := &Project{In: in, Props: p}
	have := setOf(p.Cols...)
	n.Cols = nil
	seen := Set{}
	for _, c := range cols {
		if have.Has(c) && !seen.Has(c) {
			n.Cols = append(n.Cols, c)
			seen = seen.With(c)
		}
	}
	n.Sure = p.Sure.And(seen)
	n.Sorted = sortedPrefix(p.Sorted, seen)
	return n
}

// sortedPrefix returns the part of an order that remains with these columns only.
func sortedPrefix(sorted []int, cols Set) []int {
	for i, s := range sorted {
		if !cols.Has(s) {
			return sorted[:i]
		}
	}
	return sorted
}

func (b *builder) distinct(op algebra.Op, sc scope) (Node, error) {
	in, err := b.preferring(b.slots(sc, Vars(op)), func() (Node, error) { return b.build(op, sc) })
	if err != nil {
		return nil, err
	}
	return newDistinct(in), nil
}

func newDistinct(in Node) *Distinct {
	p := in.Info()
	n := &Distinct{In: in, Props: *p}
	rows := 1.0
	for _, s := range p.Cols {
		rows *= distinctOf(p, s)
	}
	n.Rows = min(rows, p.Rows)
	n.Cost += p.Rows * costHashBuild
	return n
}

func newSlice(in Node, offset, limit int64) *Slice {
	n := &Slice{In: in, Props: *in.Info(), Offset: offset, Limit: limit, Per: -1}
	n.Rows = max(0, n.Rows-float64(offset))
	if limit >= 0 {
		n.Rows = min(n.Rows, float64(limit))
	}
	return n
}
