package exec

import (
	"slices"

	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// sources returns every node from which a path may lead somewhere, ascending. If the path matches zero steps, that is
// every node of the graph.
func (w *walker) sources(p plan.Path, forward bool) ([]term.ID, error) {
	switch p := p.(type) {
	case plan.Step:
		if p.ID == 0 {
			return nil, nil
		}
		return w.nodes([4]plan.Pos{{Slot: -1}, {ID: p.ID, Slot: -1}, {Slot: -1}, w.graph}, forward, !forward)
	case plan.Inverse:
		return w.sources(p.Path, !forward)
	case plan.Alt:
		l, err := w.sources(p.L, forward)
		if err != nil {
			return nil, err
		}
		r, err := w.sources(p.R, forward)
		return sortedIDs(append(l, r...)), err
	case plan.Seq:
		first := p.L
		if !forward {
			first = p.R
		}
		if empty(first) {
			break
		}
		return w.sources(first, forward)
	case plan.Many:
		if p.Min > 0 {
			return w.sources(p.Path, forward)
		}
	}
	return w.nodes([4]plan.Pos{{Slot: -1}, {Slot: -1}, {Slot: -1}, w.graph}, true, true)
}

// empty reports whether a path matches zero steps.
func empty(p plan.Path) bool {
	switch p := p.(type) {
	case plan.Inverse:
		return empty(p.Path)
	case plan.Seq:
		return empty(p.L) && empty(p.R)
	case plan.Alt:
		return empty(p.L) || empty(p.R)
	case plan.Many:
		return p.Min == 0 || empty(p.Path)
	}
	return false
}

// nodes returns the subjects, the objects or both of a pattern, ascending.
func (w *walker) nodes(pos [4]plan.Pos, subjects, objects bool) (out []term.ID, err error) {
	bySubject, byObject := term.SPO, term.OSP
	if pos[1].ID != 0 {
		byObject = term.POS
		if slices.Contains(w.q.ds.Orders(), term.PSO) {
			bySubject = term.PSO
		}
	}
	if subjects {
		if out, err = w.values(pos, bySubject, 0); err != nil {
			return nil, err
		}
	}
	if objects {
		list, err := w.values(pos, byObject, 2)
		if err != nil || !subjects {
			return list, err
		}
		out = append(out, list...)
		if err := w.q.sortIDs(out); err != nil {
			return nil, err
		}
	}
	return slices.Compact(out), nil
}

// values returns the values of a position, read in an order in which they ascend.
func (w *walker) values(pos [4]plan.Pos, order term.Order, c int) ([]term.ID, error) {
	src := w.q.source(pos, order)
	defer src.close()
	var out []term.ID
	for {
		quads, err := src.next()
		if err != nil || len(quads) == 0 {
			return out, err
		}
		before := len(out)
		for i := range quads {
			if id := at(&quads[i], c); len(out) == 0 || out[len(out)-1] != id {
				out = append(out, id)
			}
		}
		w.paid += 8 * (len(out) - before)
		if err := w.q.budget.reserve(8 * (len(out) - before)); err != nil {
			return nil, err
		}
	}
}

// exists reports whether a node is in the graph.
func (w *walker) exists(id term.ID) (bool, error) {
	if id.Tag() == term.TagLocal {
		return false, nil
	}
	for i, order := range map[int]term.Order{0: term.SPO, 2: term.OSP} {
		pos := [4]plan.Pos{{Slot: -1}, {Slot: -1}, {Slot: -1}, w.graph}
		pos[i].ID = id
		src := w.q.source(pos, order)
		quads, err := src.next()
		found := len(quads) > 0
		src.close()
		if err != nil || found {
			return found, err
		}
	}
	return false, nil
}
