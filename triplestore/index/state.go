package index

import (
	"slices"

	"odarchive/triplestore/term"
)

// State is one unchanging state of the index. The zero value is empty.
type State struct {
	Overlay Overlay
}

// Scan gives the quads that match p, sorted by o and then by graph.
func (s *State) Scan(p term.Pattern, o term.Order) term.Cursor {
	switch {
	case p.G == term.AnyNamed:
		return s.scan(PlanFor(AcrossGraphs(o), p))
	case p.G != term.AnyGraph:
		return s.scan(PlanFor(ForGraph(o), p))
	}
	p.G = term.DefaultGraph
	def := s.scan(PlanFor(ForGraph(o), p))
	if !s.anyNamed() {
		return def
	}
	p.G = term.AnyNamed
	return &unionCursor{order: o, in: [2]term.Cursor{def, s.scan(PlanFor(AcrossGraphs(o), p))}}
}

func (s *State) scan(plan Plan) term.Cursor { return newRangeCursor(plan, nil, s.Overlay) }

// anyNamed reports whether the state may hold quads of named graphs.
func (s *State) anyNamed() bool {
	for _, r := range s.Overlay.runs {
		if len(r.rows[SPOG]) > 0 {
			return true
		}
	}
	return false
}

// Count is the number of quads that match p, and whether that is exact.
func (s *State) Count(p term.Pattern) (n float64, exact bool) {
	o := BestOrder(p)
	if p.G == term.AnyGraph {
		d, n := p, p
		d.G, n.G = term.DefaultGraph, term.AnyNamed
		dn, dx := s.count(PlanFor(ForGraph(o), d))
		nn, nx := s.count(PlanFor(AcrossGraphs(o), n))
		return dn + nn, dx && nx
	}
	if p.G == term.AnyNamed {
		return s.count(PlanFor(AcrossGraphs(o), p))
	}
	return s.count(PlanFor(ForGraph(o), p))
}

func (s *State) count(plan Plan) (float64, bool) {
	n := float64(s.Overlay.Net(plan.Range))
	return n, plan.Rest == term.Pattern{}
}

// Has reports whether a quad with all four components known exists.
func (s *State) Has(q term.IDQuad) (bool, error) {
	return s.Overlay.Turned(q), nil
}

// SortIDs sorts ids in place.
func SortIDs(ids []term.ID) { slices.Sort(ids) }
