package plan

import (
	"fmt"

	"odarchive/triplestore/sparql/internal/algebra"
)

// group is a flattened tree of joins: factors, which may be joined in any order, filters, which may be applied as soon
// as their variables are bound, and steps, which follow the joins in order.
type group struct {
	factors []factor
	filters []Expr
	steps   []step
	empty   bool // some pattern has a term that the store does not have
}

// factor is one operand of the joins: a triple pattern, a path or a planned operator. Exactly one of pos, path and
// node is set.
type factor struct {
	pos  *[4]Pos // a triple pattern
	path *PathScan
	node Node
	cols Set
	sure Set
	// seeded plans the operator again around the rows of a Seed. It is nil if that is not possible.
	seeded func(*Seed) (Node, error)
	// around plans the operator again, joined with other factors that conditions hold for. It is nil if that is not
	// possible.
	around func(others []factor, filters []Expr) (Node, error)
}

// step is an operator over the joins of a group. Exactly one of its first six fields is set.
type step struct {
	left   *algebra.LeftJoin
	minus  algebra.Op
	filter algebra.Expr
	extend *algebra.Extend
	call   *algebra.Service // joined last, so that it is asked for what is needed only
	each   *algebra.Lateral
	reads  Set // slots it depends on: nothing that binds one of them later may be joined before it
	binds  Set // slots that it may bind
	graph  Pos // the graph that is active for it
}

// cols returns the slots that the group may bind.
func (g *group) cols() (s Set) {
	for _, f := range g.factors {
		s = s.Or(f.cols)
	}
	for _, p := range g.steps {
		s = s.Or(p.binds)
	}
	return s
}

// sure returns the slots that the factors bind in every row.
func (g *group) sure() (s Set) {
	for _, f := range g.factors {
		s = s.Or(f.sure)
	}
	return s
}

// absorbs reports whether another operand with these columns may be joined to g's factors, before its steps, without a
// step being affected.
func (g *group) absorbs(other Set) bool {
	sure := g.sure()
	for _, p := range g.steps {
		if p.call != nil {
			continue // a join: anything may come before it
		}
		if !other.And(p.reads.Or(p.binds)).In(sure.Minus(p.binds)) {
			return false
		}
	}
	return true
}

// nodeFactor makes a planned operator a factor.
func nodeFactor(n Node) factor {
	p := n.Info()
	return factor{node: n, cols: setOf(p.Cols...), sure: p.Sure}
}

// flatten gathers the joins of op into one group.
func (b *builder) flatten(op algebra.Op, sc scope) (*group, error) {
	if b.depth++; b.depth > maxDepth {
		return nil, fmt.Errorf("%w: patterns nested too deep", ErrTooLarge)
	}
	defer func() { b.depth-- }()
	switch op := op.(type) {
	case nil:
		return &group{}, nil
	case algebra.BGP:
		return b.patterns(op, sc)
	case algebra.PathPattern:
		return b.path(op, sc)
	case algebra.Join:
		return b.flattenJoin(op, sc)
	case algebra.Filter:
		g, err := b.flatten(op.In, sc)
		if err != nil {
			return nil, err
		}
		for _, c := range conjuncts(op.Cond, nil) {
			b.addFilter(g, c, sc)
		}
		return g, nil
	case algebra.Extend:
		g, err := b.flatten(op.In, sc)
		if err != nil {
			return nil, err
		}
		if done, err := b.bindGeometry(g, op, sc); done || err != nil {
			return g, err
		}
		p := step{extend: &op, binds: setOf(b.slot(sc, op.Var))}
		p.reads = b.slots(sc, deepVars(op.Expr)).Or(p.binds)
		b.addStep(g, p)
		return g, nil
	case algebra.LeftJoin:
		g, err := b.flatten(op.L, sc)
		if err != nil {
			return nil, err
		}
		p := step{left: &op, reads: b.slots(sc, mentioned(op.R))}
		if op.Cond != nil {
			p.reads = p.reads.Or(b.slots(sc, deepVars(op.Cond)))
		}
		p.binds = b.slots(sc, Vars(op.R)).Minus(g.sure())
		b.addStep(g, p)
		return g, nil
	case algebra.Lateral:
		g, err := b.flatten(op.L, sc)
		if err != nil {
			return nil, err
		}
		if hasMinus(op.R) && g.sure().Empty() { // a variable that is joined later would be shared by both sides of the MINUS
			n, err := b.planGroup(g, sc)
			if err == nil {
				n, err = b.lateralStep(n, op, sc)
			}
			if err != nil {
				return nil, err
			}
			return groupOf(n), nil
		}
		binds := b.slots(sc, Vars(op.R))
		b.addStep(g, step{each: &op, reads: b.slots(sc, mentioned(op.R)).Or(binds), binds: binds})
		return g, nil
	case algebra.Minus:
		g, err := b.flatten(op.L, sc)
		if err != nil {
			return nil, err
		}
		b.addStep(g, step{minus: op.R, reads: b.slots(sc, Vars(op.R))})
		return g, nil
	case algebra.Service:
		g := &group{}
		p := step{call: &op, binds: b.slots(sc, Vars(op))}
		if op.Name.Var != "" {
			p.reads = setOf(b.slot(sc, op.Name.Var))
		}
		b.addStep(g, p)
		return g, nil
	case algebra.Graph:
		if op.Name.Var == "" {
			return b.inGraph(op, sc, func() (*group, error) { return b.flatten(op.In, sc) })
		}
	}
	n, err := b.build(op, sc)
	if err != nil {
		return nil, err
	}
	g := groupOf(n)
	if u, ok := op.(algebra.Union); ok && len(g.factors) == 1 {
		g.factors[0].around, g.factors[0].seeded = b.unionAround(u, sc), b.seededUnion(u, sc)
	}
	return g, nil
}

// seededUnion returns a function that joins each branch of a union with a Seed.
func (b *builder) seededUnion(op algebra.Union, sc scope) func(*Seed) (Node, error) {
	around := b.unionAround(op, sc)
	return func(seed *Seed) (Node, error) { return around([]factor{nodeFactor(seed)}, nil) }
}

// unionAround returns a function that joins each branch of a union with other factors: Join(X, Union(A, B)) is
// Union(Join(X, A), Join(X, B)).
func (b *builder) unionAround(op algebra.Union, sc scope) func([]factor, []Expr) (Node, error) {
	graph := b.graph
	return func(others []factor, filters []Expr) (Node, error) {
		outer := b.graph
		b.graph = graph
		defer func() { b.graph = outer }()
		var cols Set
		for _, f := range others {
			cols = cols.Or(f.cols)
		}
		var branches []Node
		for _, o := range unionBranches(op) {
			g, err := b.flatten(o, sc)
			if err != nil {
				return nil, err
			}
			if !g.absorbs(cols) {
				n, err := b.planGroup(g, sc)
				if err != nil {
					return nil, err
				}
				g = groupOf(n)
			}
			for _, f := range others {
				if f.pos != nil {
					f = patternFactor(*f.pos) // planning changes it
				}
				g.factors = append(g.factors, f)
			}
			var late []Expr
			for _, e := range filters {
				if setOf(e.Slots...).In(g.sure()) {
					g.filters = append(g.filters, e)
				} else {
					late = append(late, e)
				}
			}
			n, err := b.planGroup(g, sc)
			if err != nil {
				return nil, err
			}
			if len(late) > 0 {
				n = b.newFilter(n, late)
			}
			branches = append(branches, n)
		}
		return newUnion(branches), nil
	}
}

func groupOf(n Node) *group {
	switch n.(type) {
	case *Unit:
		return &group{}
	case *Nothing:
		return &group{factors: []factor{nodeFactor(n)}, empty: true}
	}
	return &group{factors: []factor{nodeFactor(n)}}
}

func (b *builder) slots(sc scope, vars []algebra.Var) (s Set) {
	for _, v := range vars {
		s = s.With(b.slot(sc, v))
	}
	return s
}

// flattenJoin merges the groups of both sides unless a step of one side depends on columns of the other. Such a side
// is planned on its own and joined as one factor.
func (b *builder) flattenJoin(op algebra.Join, sc scope) (*group, error) {
	// Long chains of joins lean to the left, so they are followed without recursion.
	var parts []algebra.Op
	var cur algebra.Op = op
	for {
		j, ok := cur.(algebra.Join)
		if !ok {
			break
		}
		parts = append(parts, j.R)
		cur = j.L
	}
	g, err := b.flatten(cur, sc)
	if err != nil {
		return nil, err
	}
	for i := len(parts) - 1; i >= 0; i-- {
		r, err := b.flatten(parts[i], sc)
		if err != nil {
			return nil, err
		}
		if g, err = b.mergeGroups(g, r, sc); err != nil {
			return nil, err
		}
	}
	return g, nil
}

func (b *builder) mergeGroups(l, r *group, sc scope) (*group, error) {
	lc, rc := l.cols(), r.cols()
	if !l.absorbs(rc) {
		n, err := b.planGroup(l, sc)
		if err != nil {
			return nil, err
		}
		l = groupOf(n)
	}
	if !r.absorbs(lc) {
		n, err := b.planGroup(r, sc)
		if err != nil {
			return nil, err
		}
		r = groupOf(n)
	}
	return &group{
		factors: append(l.factors, r.factors...),
		filters: append(l.filters, r.filters...),
		steps:   append(l.steps, r.steps...),
		empty:   l.empty || r.empty,
	}, nil
}

// conjuncts splits a && b && c.
func conjuncts(e algebra.Expr, out []algebra.Expr) []algebra.Expr {
	if c, ok := e.(algebra.Call); ok && c.Func == "&&" && len(c.Args) == 2 {
		return conjuncts(c.Args[1], conjuncts(c.Args[0], out))
	}
	return append(out, alternatives(e))
}

// alternatives turns ?x = a || ?x = b || … into the IN that means the same (§17.4.1.9). IN looks its list up instead
// of comparing each row with each member. Other expressions are returned as they are.
func alternatives(e algebra.Expr) algebra.Expr {
	if c, ok := e.(algebra.Call); !ok || c.Func != "||" {
		return e
	}
	var in algebra.In
	todo := []algebra.Expr{e}
	for len(todo) > 0 {
		leaf := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		x, list := leaf, []algebra.Expr(nil)
		switch leaf := leaf.(type) {
		case algebra.Call:
			if len(leaf.Args) != 2 || leaf.Func != "||" && leaf.Func != "=" {
				return e
			}
			if leaf.Func == "||" {
				todo = append(todo, leaf.Args[1], leaf.Args[0])
				continue
			}
			x, list = leaf.Args[0], leaf.Args[1:]
			if _, ok := x.(algebra.ConstExpr); ok {
				x, list = leaf.Args[1], leaf.Args[:1]
			}
		case algebra.In:
			if leaf.Not {
				return e
			}
			x, list = leaf.Expr, leaf.List
		default:
			return e
		}
		v, ok := x.(algebra.VarExpr)
		if !ok || in.Expr != nil && in.Expr != v {
			return e
		}
		for _, k := range list {
			if _, ok := k.(algebra.ConstExpr); !ok {
				return e
			}
		}
		in.Expr = v
		in.List = append(in.List, list...)
	}
	return in
}

// addFilter places a condition as early as possible: among the filters of the factors if they bind everything that it
// reads, else after the steps so far.
func (b *builder) addFilter(g *group, cond algebra.Expr, sc scope) {
	reads := b.slots(sc, deepVars(cond))
	if len(existsIn(cond)) == 0 && reads.In(g.sure()) {
		g.filters = append(g.filters, b.rename(cond, sc))
		return
	}
	b.addStep(g, step{filter: cond, reads: reads})
}

func (b *builder) addStep(g *group, s step) {
	s.graph = b.graph
	g.steps = append(g.steps, s)
}

// unifyFunc marks an Extend that is a join: the variable must be unbound or already have this value.
const unifyFunc = ".unify"
