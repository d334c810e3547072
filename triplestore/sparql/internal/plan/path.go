package plan

import (
	"fmt"

	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/term"
)

// Path is a property path over ids.
type Path interface{ path() }

type (
	// Step follows one predicate. ID 0 is a predicate that no quad has.
	Step    struct{ ID term.ID }
	Inverse struct{ Path Path }
	Seq     struct{ L, R Path }
	Alt     struct{ L, R Path }
	// Many repeats a path, at least Min times (0 or 1), and at most once if Once.
	Many struct {
		Path Path
		Min  int
		Once bool
	}
	// Not follows every predicate except those listed, in each direction whose list is not nil.
	Not struct{ Forward, Backward []term.ID }
)

func (Step) path()    {}
func (Inverse) path() {}
func (Seq) path()     {}
func (Alt) path()     {}
func (Many) path()    {}
func (Not) path()     {}

// path flattens a property path. Sequences become joins, single predicates become patterns; paths that repeat, branch
// or negate are evaluated as paths (§18.4).
func (b *builder) path(op algebra.PathPattern, sc scope) (*group, error) {
	switch p := op.Path.(type) {
	case algebra.PathIRI:
		return b.patterns(algebra.BGP{Patterns: []algebra.TriplePattern{{S: op.S, P: algebra.Node{Term: term.IRI(p.IRI)}, O: op.O}}}, sc)
	case algebra.PathInverse:
		return b.flatten(algebra.PathPattern{S: op.O, Path: p.Path, O: op.S}, sc)
	case algebra.PathSeq:
		s := b.temp("via")
		v := b.plan.Vars[s]
		sc[v] = s
		mid := algebra.Node{Var: v}
		l, err := b.flatten(algebra.PathPattern{S: op.S, Path: p.L, O: mid}, sc)
		if err != nil {
			return nil, err
		}
		r, err := b.flatten(algebra.PathPattern{S: mid, Path: p.R, O: op.O}, sc)
		if err != nil {
			return nil, err
		}
		return b.mergeGroups(l, r, sc)
	}
	from, err := b.endpoint(op.S, sc)
	if err != nil {
		return nil, err
	}
	to, err := b.endpoint(op.O, sc)
	if err != nil {
		return nil, err
	}
	path, err := b.compilePath(op.Path)
	if err != nil {
		return nil, err
	}
	f := factor{path: &PathScan{From: from, To: to, Graph: b.graph, Path: path}}
	for _, p := range []Pos{from, to, b.graph} {
		if p.Slot >= 0 {
			f.cols = f.cols.With(p.Slot)
		}
	}
	f.sure = f.cols
	return &group{factors: []factor{f}}, nil
}

// endpoint resolves one end of a path. A constant may be a term that the store does not have, since zero steps lead
// from it to itself.
func (b *builder) endpoint(n algebra.Node, sc scope) (Pos, error) {
	if n.Var != "" {
		return Pos{Slot: b.slot(sc, n.Var)}, nil
	}
	if n.Triple != nil {
		return Pos{}, fmt.Errorf("%w: a triple term with variables at the end of a path", ErrTooLarge)
	}
	id, err := b.constant(n.Term)
	return Pos{ID: id, Slot: -1}, err
}

func (b *builder) compilePath(p algebra.Path) (Path, error) {
	if b.depth++; b.depth > maxDepth {
		return nil, fmt.Errorf("%w: a path nested too deep", ErrTooLarge)
	}
	defer func() { b.depth-- }()
	two := func(l, r algebra.Path) (Path, Path, error) {
		x, err := b.compilePath(l)
		if err != nil {
			return nil, nil, err
		}
		y, err := b.compilePath(r)
		return x, y, err
	}
	switch p := p.(type) {
	case algebra.PathIRI:
		id, _, err := b.lookup(term.IRI(p.IRI))
		return Step{ID: id}, err
	case algebra.PathInverse:
		in, err := b.compilePath(p.Path)
		return Inverse{in}, err
	case algebra.PathSeq:
		l, r, err := two(p.L, p.R)
		return Seq{l, r}, err
	case algebra.PathAlt:
		l, r, err := two(p.L, p.R)
		return Alt{l, r}, err
	case algebra.PathMany:
		in, err := b.compilePath(p.Path)
		return Many{Path: in, Min: p.Min, Once: p.Once}, err
	case algebra.PathNot:
		var n Not
		list := func(iris []string) ([]term.ID, error) {
			ids := []term.ID{}
			for _, iri := range iris {
				id, ok, err := b.lookup(term.IRI(iri))
				if err != nil {
					return nil, err
				}
				if ok {
					ids = append(ids, id)
				}
			}
			return ids, nil
		}
		var err error
		if p.Forward != nil || p.Inverse == nil {
			if n.Forward, err = list(p.Forward); err != nil {
				return nil, err
			}
		}
		if p.Inverse != nil {
			n.Backward, err = list(p.Inverse)
		}
		return n, err
	}
	return nil, fmt.Errorf("%w: an unknown kind of path", ErrTooLarge)
}

// pathRows guesses how many pairs of nodes a path connects, and with how many nodes it connects one.
func (b *builder) pathRows(p Path) (pairs, partners float64) {
	switch p := p.(type) {
	case Step:
		e := b.estimate(term.Pattern{P: p.ID, G: term.AnyGraph})
		if p.ID == 0 {
			return 0, 0
		}
		d := e.Distinct[0]
		if d <= 0 {
			d = max(1, e.Count/2)
		}
		return e.Count, e.Count / d
	case Inverse:
		return b.pathRows(p.Path)
	case Seq:
		l, lf := b.pathRows(p.L)
		_, rf := b.pathRows(p.R)
		return l * max(rf, 0.1), lf * rf
	case Alt:
		l, lf := b.pathRows(p.L)
		r, rf := b.pathRows(p.R)
		return l + r, lf + rf
	case Many:
		n, f := b.pathRows(p.Path)
		if p.Once {
			return n * 2, f + 1
		}
		return n * 4, f*4 + 1
	}
	n := b.estimate(term.Pattern{}).Count
	return n, 5
}

func (b *builder) pathScan(f PathScan) *PathScan {
	n := f
	pairs, partners := b.pathRows(f.Path)
	n.Rows = pairs
	if f.From.ID != 0 || f.To.ID != 0 {
		n.Rows = partners
	}
	if f.From.ID != 0 && f.To.ID != 0 {
		n.Rows = 1
	}
	n.Cost = costSeek + n.Rows*200
	if f.From.ID == 0 && f.To.ID == 0 {
		n.Cost = costSeek + b.edges(f.Path)*costEdge + n.Rows*costHop
		if zeroSteps(f.Path) { // every node is a start
			n.Cost += b.estimate(term.Pattern{}).Count
		}
		n.Sorted = sortedPath(&n)
	}
	n.Distinct = map[int]float64{}
	for _, p := range []Pos{f.From, f.To, f.Graph} {
		if p.Slot >= 0 && !n.Sure.Has(p.Slot) {
			n.Cols = append(n.Cols, p.Slot)
			n.Sure = n.Sure.With(p.Slot)
			n.Distinct[p.Slot] = max(1, n.Rows/2)
		}
	}
	return &n
}

// pathJoin follows a path from the rows of l. It returns nil if l binds neither end, or not the graph.
func (b *builder) pathJoin(l Node, f PathScan) Node {
	lp := l.Info()
	have := setOf(lp.Cols...)
	bound := func(p Pos) bool { return p.Slot >= 0 && lp.Sure.Has(p.Slot) }
	if !bound(f.From) && !bound(f.To) {
		return nil
	}
	if s := f.Graph.Slot; s >= 0 && !lp.Sure.Has(s) {
		return nil
	}
	for _, p := range []Pos{f.From, f.To} {
		if p.Slot >= 0 && have.Has(p.Slot) && !lp.Sure.Has(p.Slot) {
			return nil
		}
	}
	_, partners := b.pathRows(f.Path)
	n := &PathJoin{L: l, From: f.From, To: f.To, Graph: f.Graph, Path: f.Path}
	if start := f.From.Slot; have.Has(start) && start >= 0 {
		n.Nodes = areNodes(l, start, f.Graph)
	} else {
		n.Nodes = areNodes(l, f.To.Slot, f.Graph)
	}
	n.Props = *lp
	n.Cols = append([]int(nil), lp.Cols...)
	both := (bound(f.From) || f.From.ID != 0) && (bound(f.To) || f.To.ID != 0)
	n.Rows = lp.Rows * max(0.1, partners)
	if both {
		n.Rows = lp.Rows / 2
	}
	for _, p := range []Pos{f.From, f.To} {
		if p.Slot >= 0 && !have.Has(p.Slot) {
			n.Cols = append(n.Cols, p.Slot)
			n.Sure = n.Sure.With(p.Slot)
		}
	}
	starts := lp.Rows
	for _, p := range []Pos{f.From, f.To} {
		if bound(p) {
			starts = min(starts, distinctOf(lp, p.Slot))
		}
	}
	walks := starts * (costSeek + max(1, partners)*200)
	if _, many := f.Path.(Many); many {
		walks = min(walks, b.edges(f.Path)*costEdge+starts*partners*costHop)
	}
	n.Cost = lp.Cost + walks + n.Rows*costRow
	return n
}
