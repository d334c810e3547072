package exec

import (
	"cmp"
	"slices"

	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// closure returns the nodes that a repeated path reaches from one start, each once.
func (w *walker) closure(p plan.Many, start term.ID, forward bool) ([]term.ID, error) {
	seen := w.spare // a set of a walk that has ended
	if w.spare = nil; seen == nil {
		seen = newIDSet(1, w.q.budget)
	}
	defer func() {
		if w.spare == nil && len(seen.slots) <= maxSpare {
			seen.clear()
			w.spare = seen
		} else {
			seen.free()
		}
	}()
	var failed error
	visit := func(id term.ID) bool {
		_, fresh, err := seen.add([]term.ID{id})
		failed = cmp.Or(failed, err)
		return fresh
	}
	if p.Min == 0 {
		visit(start)
	}
	frontier := []term.ID{start}
	for len(frontier) > 0 {
		if err := w.q.check(); err != nil {
			return nil, err
		}
		if err := w.q.sortIDs(frontier); err != nil {
			return nil, err
		}
		mark := w.hops
		ends, err := w.successors(p.Path, frontier, forward)
		if err != nil {
			return nil, err
		}
		frontier = frontier[:0:0]
		w.forget(mark)
		for i, e := range ends {
			if i&(1<<14-1) == 0 {
				if err := w.q.check(); err != nil {
					return nil, err
				}
			}
			if visit(e) {
				frontier = append(frontier, e)
			}
		}
		if failed != nil {
			return nil, failed
		}
	}
	return slices.Clone(seen.rows), failed
}

// successors returns the ends of one repetition from a set of nodes. The ends of single nodes are remembered, since
// walks from different starts meet.
func (w *walker) successors(p plan.Path, frontier []term.ID, forward bool) ([]term.ID, error) {
	w.q.paths.lookups.Add(int64(len(frontier)))
	if len(frontier) > 4 || !comparablePath(p) {
		hops, err := w.follow(p, frontier, forward)
		return ends(hops), err
	}
	var out []term.ID
	for _, n := range frontier {
		k := successorKey{p, n, forward}
		list, ok := w.next[k]
		if !ok {
			hops, err := w.follow(p, []term.ID{n}, forward)
			if err != nil {
				return nil, err
			}
			list = sortedIDs(ends(hops))
			if w.next == nil {
				w.next = map[successorKey][]term.ID{}
			}
			w.next[k] = list
			cost := 120 + 8*len(list)
			w.paid += cost
			if err := w.q.budget.reserve(cost); err != nil {
				return nil, err
			}
		}
		out = append(out, list...)
	}
	return out, nil
}

// comparablePath reports whether a path may be part of a map key, and be read into memory as the step of a repetition.
func comparablePath(p plan.Path) bool {
	switch p := p.(type) {
	case plan.Step:
		return true
	case plan.Inverse:
		return comparablePath(p.Path)
	case plan.Seq:
		return comparablePath(p.L) && comparablePath(p.R)
	case plan.Alt:
		return comparablePath(p.L) && comparablePath(p.R)
	case plan.Many: // one that repeats without end connects too many nodes to be a step of another
		return p.Once && comparablePath(p.Path)
	}
	return false
}

func ends(hops []hop) []term.ID {
	out := make([]term.ID, len(hops))
	for i, h := range hops {
		out[i] = h.to
	}
	return out
}
