// Package index keeps quads of ids sorted in several layouts: compressed blocks on disk and, over them, an overlay of
// recent changes in memory.
//
// A State is one unchanging state: a Base, which is a set of blocks with their fences in memory; an Overlay, which has
// the quads whose existence differs from the blocks; and a Reader for the blocks. Scans return whole decoded blocks
// where the overlay does not affect them. Counts are exact: they are computed from the fences, at most two blocks, and
// running sums in the overlay.
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
	if s.Base != nil {
		if b := s.blockSource(plan.Range); b != nil {
			return newRangeCursor(plan, b, s.Overlay)
		}
	}
	return newRangeCursor(plan, nil, s.Overlay)
}

// Layout returns a cursor over every quad of one layout.
func (s *State) Layout(l Layout) term.Cursor { return s.scan(Plan{Range: Range{Layout: l}}) }

// anyNamed reports whether the state may have quads of named graphs.
func (s *State) anyNamed() bool {
	if s.Base != nil && len(s.Base.levels[SPOG].fences) > 0 {
		return true
	}
	return slices.ContainsFunc(s.Overlay.runs, (*Run).anyNamed)
}

// Has reports whether a quad exists.
func (s *State) Has(q term.IDQuad) (bool, error) {
	there := false
	if s.Base != nil {
		l := &s.Base.levels[GSPO]
		t := GSPO.Tuple(q)
		if i := l.reach(0, t); i < len(l.fences) && !t.Less(l.fences[i].first) {
			rows, err := s.load(GSPO, i, nil)
			if err != nil {
				return false, err
			}
			k := search(GSPO, rows, t)
			there = k < len(rows) && rows[k] == q
		}
	}
	return there != s.Overlay.inverted(q), nil
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

// Count returns the exact number of quads in a range.
func (s *State) Count(r Range) (int, error) {
	n := s.Overlay.Net(r)
	c, err := s.counts(r)
	return n + int(c.rows), err
}

// counts returns the counts of the blocks' rows in a range. The first row of the range counts as different.
func (s *State) counts(r Range) (counts, error) {
	if s.Base == nil {
		return counts{}, nil
	}
	l := &s.Base.levels[r.Layout]
	from, to := l.blocks(r)
	if from == to {
		return counts{}, nil
	}
	// The first and the last block may extend beyond the range.
	first, last := l.fences[from].first.Less(r.From), !r.open() && !l.fences[to-1].last.Less(r.To)
	if !first && !last {
		return l.upTo(to).minus(l.upTo(from)), nil
	}
	if c, ok := s.Base.remembered(r); ok {
		return c, nil
	}
	c, err := s.countEnds(r, from, to, first, last)
	if err == nil {
		s.Base.remember(r, c)
	}
	return c, err
}

// countEnds counts a range and reads its first and last block if they extend beyond it.
func (s *State) countEnds(r Range, from, to int, first, last bool) (counts, error) {
	if from == to-1 {
		return s.countWithin(r, from)
	}
	l := &s.Base.levels[r.Layout]
	c := l.upTo(to).minus(l.upTo(from))
	if first {
		part, err := s.countWithin(r, from)
		if err != nil {
			return c, err
		}
		c = c.minus(l.in(from)).plus(part)
	}
	if last {
		part, err := s.countWithin(r, to-1)
		if err != nil {
			return c, err
		}
		c = c.minus(l.in(to - 1)).plus(part)
	}
	return c, nil
}

// countWithin counts the rows of one block that are in the range.
func (s *State) countWithin(r Range, i int) (c counts, err error) {
	rows, err := s.load(r.Layout, i, nil)
	if err != nil {
		return c, err
	}
	l := &s.Base.levels[r.Layout]
	inside := r.clip(rows)
	if len(inside) == 0 {
		return c, nil
	}
	prev := r.Layout.Tuple(inside[0])
	if i > 0 && len(inside) > 0 && &inside[0] == &rows[0] {
		c.add(differAt(l.fences[i-1].last, prev))
	} else {
		c.add(0)
	}
	for _, q := range inside[1:] {
		t := r.Layout.Tuple(q)
		c.add(differAt(prev, t))
		prev = t
	}
	return c, nil
}

// aboutDistinct estimates the number of distinct values of the component after the range's prefix. It is exact for the
// blocks and adds those of the overlay.
func (s *State) aboutDistinct(r Range, prefix int) (float64, error) {
	if prefix > 2 { // then every row is distinct, except for graphs
		n, err := s.Count(r)
		return float64(n), err
	}
	c, err := s.counts(r)
	if err != nil {
		return 0, err
	}
	d := float64(c.starts[prefix])
	for _, run := range s.Overlay.runs {
		d += run.aboutDistinct(r, prefix)
	}
	return d, nil
}

// aboutDistinct extrapolates from at most a thousand rows.
func (r *Run) aboutDistinct(g Range, prefix int) float64 {
	const sample = 1000
	rows := g.clip(r.in(g.Layout).rows)
	d, prev := 0, Tuple{}
	for i, q := range rows[:min(len(rows), sample)] {
		t := g.Layout.Tuple(q)
		if i == 0 || differAt(prev, t) <= prefix {
			d++
		}
		prev = t
	}
	if len(rows) > sample {
		return float64(d) * float64(len(rows)) / sample
	}
	return float64(d)
}

// Distinct returns the exact number of distinct values of the component after the first n of a range's tuples.
func (s *State) Distinct(r Range, n int) (int, error) {
	c, err := s.counts(r)
	if err != nil {
		return 0, err
	}
	d := int(c.starts[n])
	// If the overlay affects a value's group, the group may be new or empty now.
	t := s.Overlay.toggles(r)
	for t.ok {
		group := prefixRange(r.Layout, t.at, n+1)
		before, err := s.counts(group)
		if err != nil {
			return 0, err
		}
		after := int(before.rows) + s.Overlay.Net(group)
		switch {
		case before.rows == 0 && after > 0:
			d++
		case before.rows > 0 && after == 0:
			d--
		}
		t.seek(group.To)
	}
	return d, nil
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
