// Package index keeps quads of ids sorted in several layouts: compressed blocks on disk and, over them, an overlay of
// recent changes in memory.
//
// A State is one unchanging state: a Base, which is a set of blocks with their fences in memory; an Overlay, which has
// the quads whose existence differs from the blocks; and a Reader for the blocks. A base consists of up to three tiers,
// each with some of the quads. Scans merge them, and return whole decoded blocks where neither another tier nor the
// overlay has rows in between. Counts are exact: they are computed from the fences, at most two blocks of each tier,
// and running sums in the overlay.
//
// A Merger creates a new base from an old one and changed rows. It rewrites only blocks that change, and its result is
// invisible until its caller commits it. Durability and the coordination of writers are left to package triplestore.
package index

import (
	"slices"

	"odarchive/triplestore/term"
)

// State is one unchanging state of the index. Its methods may be called concurrently.
type State struct {
	Base    *Base // nil means no blocks
	Overlay Overlay
	Reader  Reader // reads the blocks of Base
	Cache   *Cache

	bulk bool // reads everything, and should not evict blocks from the cache
}

// Scan returns a cursor over the quads that match p, sorted by o and then by graph.
func (s *State) Scan(p term.Pattern, o term.Order) term.Cursor {
	switch {
	case p.G == term.AnyNamed:
		return s.scan(planFor(acrossGraphs(o), p))
	case p.G != term.AnyGraph:
		return s.scan(planFor(forGraph(o), p))
	}
	p.G = term.DefaultGraph
	def := s.scan(planFor(forGraph(o), p))
	if !s.anyNamed() {
		return def
	}
	p.G = term.AnyNamed
	return &unionCursor{order: o, in: [2]term.Cursor{def, s.scan(planFor(acrossGraphs(o), p))}}
}

func (s *State) scan(plan Plan) term.Cursor {
	return newRangeCursor(plan, s.source(plan.Range), s.Overlay)
}

// Layout returns a cursor over every quad of one layout.
func (s *State) Layout(l Layout) term.Cursor { return s.scan(Plan{Range: Range{Layout: l}}) }

// anyNamed reports whether the state may have quads of named graphs.
func (s *State) anyNamed() bool {
	for _, t := range s.Base.all() {
		if len(t.levels[SPOG].fences) > 0 {
			return true
		}
	}
	return slices.ContainsFunc(s.Overlay.runs, (*Run).anyNamed)
}

// Has reports whether a quad exists.
func (s *State) Has(q term.IDQuad) (bool, error) {
	there := false
	for _, t := range s.Base.all() {
		var err error
		if there, err = s.stored(t, q); err != nil {
			return false, err
		}
		if there {
			break
		}
	}
	return there != s.Overlay.inverted(q), nil
}

// stored reports whether a tier has a quad.
func (s *State) stored(t *tier, q term.IDQuad) (bool, error) {
	l, at := &t.levels[GSPO], GSPO.Tuple(q)
	i := l.reach(0, at)
	if i == len(l.fences) || at.Less(l.fences[i].first) {
		return false, nil
	}
	rows, err := s.load(GSPO, l.fences[i].id, nil)
	if err != nil {
		return false, err
	}
	k := search(GSPO, rows, at)
	return k < len(rows) && rows[k] == q, nil
}

// Estimate counts the quads that match p. The count is exact if a layout begins with all known components, and an upper
// bound otherwise. Distinct counts come from the blocks, if a layout has them.
func (s *State) Estimate(p term.Pattern) (term.Estimate, error) {
	if p.G != term.AnyGraph {
		return s.estimate(p)
	}
	def, named := p, p
	def.G, named.G = term.DefaultGraph, term.AnyNamed
	e, err := s.estimate(def)
	if err != nil || !s.anyNamed() {
		return e, err
	}
	f, err := s.estimate(named)
	e.Count += f.Count
	e.Exact = e.Exact && f.Exact
	for i := range e.Distinct {
		e.Distinct[i] = min(e.Distinct[i]+f.Distinct[i], e.Count)
	}
	return e, err
}

// estimate is Estimate for a pattern of one graph or of all named graphs.
func (s *State) estimate(p term.Pattern) (e term.Estimate, err error) {
	plan := planFor(layoutFor(p.G, bestOrder(p)), p)
	n, err := s.Count(plan.Range)
	if err != nil {
		return e, err
	}
	e.Count, e.Exact = float64(n), plan.Rest == term.Pattern{}
	if n == 0 {
		e.Exact = true
		return e, nil
	}
	for i, known := range [3]bool{p.S != 0, p.P != 0, p.O != 0} {
		if known {
			e.Distinct[i] = 1
			continue
		}
		order, ok := distinctOrder(p, i)
		if !ok {
			continue
		}
		plan := planFor(layoutFor(p.G, order), p)
		d, err := s.aboutDistinct(plan.Range, plan.Prefix)
		if err != nil {
			return e, err
		}
		e.Distinct[i] = min(d, e.Count)
	}
	return e, nil
}

func layoutFor(g term.ID, o term.Order) Layout {
	if g == term.AnyNamed {
		return acrossGraphs(o)
	}
	return forGraph(o)
}

// distinctOrder returns an order in which component i (0 subject, 1 predicate, 2 object) follows the known components
// of p, so that its distinct values can be counted.
func distinctOrder(p term.Pattern, i int) (term.Order, bool) {
	s, pr, o := p.S != 0, p.P != 0, p.O != 0
	switch {
	case !s && !pr && !o:
		return [3]term.Order{term.SPO, term.POS, term.OSP}[i], true
	case !s && pr && !o:
		return [3]term.Order{term.PSO, 0, term.POS}[i], true
	case s && !pr && !o:
		return term.SPO, i == 1
	case !s && !pr && o:
		return term.OSP, i == 0
	case s && pr:
		return term.SPO, true
	case pr && o:
		return term.POS, true
	default:
		return term.OSP, true
	}
}

// Groups calls f with each distinct value of the component after the first n of a range's tuples and its number of
// quads, in order, until f returns false.
func (s *State) Groups(r Range, n int, f func(id term.ID, quads int) (bool, error)) error {
	c := s.scan(Plan{Range: r}).(*rangeCursor)
	defer c.Close()
	for {
		rows, err := c.Next()
		if err != nil || len(rows) == 0 {
			return err
		}
		for len(rows) > 0 {
			t := r.Layout.Tuple(rows[0])
			group := prefixRange(r.Layout, t, n+1)
			k := gallop(r.Layout, rows, group.To)
			size := k
			if k == len(rows) { // the group may continue
				if size, err = s.Count(group); err != nil {
					return err
				}
				c.seek(group.To)
			}
			if more, err := f(t[n], size); err != nil || !more {
				return err
			}
			rows = rows[k:]
		}
	}
}

// Prefix returns the range of all tuples of a layout that begin with the given components.
func Prefix(l Layout, ids ...term.ID) Range {
	var t Tuple
	copy(t[:], ids)
	return prefixRange(l, t, len(ids))
}

// NamedGraphs returns the range of all quads of named graphs, ordered by graph.
func NamedGraphs() Range {
	return Range{Layout: GSPO, From: Tuple{term.AnyNamed}}
}
