package plan

import (
	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/term"
)

// inGraph calls f with a constant active graph.
func (b *builder) inGraph(op algebra.Graph, sc scope, f func() (*group, error)) (*group, error) {
	id, ok, err := b.lookup(op.Name.Term)
	if err != nil {
		return nil, err
	}
	if b.plan.HasFrom && ok {
		ok = false
		for _, g := range b.plan.Named {
			ok = ok || g == id
		}
	}
	size := term.Estimate{}
	if ok {
		size = b.estimate(term.Pattern{G: id})
		ok = !size.Exact || size.Count > 0 // a graph without triples does not exist
	}
	outer := b.graph
	b.graph = Pos{ID: id, Slot: -1}
	if !ok {
		b.graph.ID = LocalID(1<<40 - 1) // matches nothing; the group is empty anyway
	}
	defer func() { b.graph = outer }()
	g, err := f()
	if err != nil {
		return nil, err
	}
	if ok && !size.Exact && !g.scans() { // what needs no triple, such as {} and p*, has solutions only if the graph exists
		n := newScan([4]Pos{{Slot: -1}, {Slot: -1}, {Slot: -1}, {ID: id, Slot: -1}}, term.SPO, size)
		g.factors = append(g.factors, nodeFactor(newSlice(n, 0, 1)))
	}
	g.empty = g.empty || !ok
	return g, nil
}

// scans reports whether some factor is a triple pattern.
func (g *group) scans() bool {
	for _, f := range g.factors {
		if f.pos != nil {
			return true
		}
	}
	return false
}

// graphOp plans GRAPH ?g over all named graphs at once. Each pattern binds a hidden variable for the active graph,
// which becomes ?g outside, since ?g is not bound inside (§18.6).
func (b *builder) graphOp(op algebra.Graph, sc scope) (Node, error) {
	if op.Name.Var == "" {
		g, err := b.inGraph(op, sc, func() (*group, error) { return b.flatten(op.In, sc) })
		if err != nil {
			return nil, err
		}
		return b.planGroup(g, sc)
	}
	outer := b.graph
	b.graph = Pos{Slot: b.temp("graph")}
	in, err := b.branch(op.In, sc)
	hidden := b.graph.Slot
	b.graph = outer
	if err != nil {
		return nil, err
	}
	to := b.slot(sc, op.Name.Var)
	n := newRename(in, []int{hidden}, []int{to})
	cols := []int{}
	for _, c := range n.Info().Cols {
		if c != hidden {
			cols = append(cols, c)
		}
	}
	if outer.Slot >= 0 { // GRAPH in GRAPH: the inner one decides, the outer one may be any graph
		m := newHashJoin(b.allGraphs(outer.Slot), newProject(n, cols), nil, nil, Inner, n.Info().Rows*10, nil)
		return m, nil
	}
	return newProject(n, cols), nil
}

// branch plans an operator as a group of its own, so that it binds the active graph.
func (b *builder) branch(op algebra.Op, sc scope) (Node, error) {
	g, err := b.flatten(op, sc)
	if err != nil {
		return nil, err
	}
	return b.planGroup(g, sc)
}

func (b *builder) allGraphs(slot int) Node {
	n := &Graphs{Slot: slot}
	n.Cols, n.Sure, n.Rows, n.Cost = []int{slot}, setOf(slot), 100, 1e5
	n.Distinct = map[int]float64{slot: 100}
	n.Sorted = n.Cols
	return n
}

// estimate returns the store's estimate for a pattern, with FROM taken into account.
func (b *builder) estimate(p term.Pattern) term.Estimate {
	if e, ok := b.known[p]; ok {
		return e
	}
	if b.known == nil {
		b.known = map[term.Pattern]term.Estimate{}
	}
	e := b.estimateUncached(p)
	b.known[p] = e
	return e
}

func (b *builder) estimateUncached(p term.Pattern) term.Estimate {
	if b.plan.HasFrom && p.G == term.DefaultGraph {
		switch len(b.plan.Default) {
		case 0:
			return term.Estimate{Exact: true}
		case 1:
			p.G = b.plan.Default[0]
		default:
			p.G = term.AnyGraph
		}
		e := b.stats.Estimate(p)
		e.Exact = false
		return e
	}
	return b.stats.Estimate(p)
}
