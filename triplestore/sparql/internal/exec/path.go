package exec

import (
	"cmp"
	"errors"
	"slices"

	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// walker follows property paths in one graph (SPARQL 1.1 §18.4, §9.3).
type walker struct {
	q     *query
	graph plan.Pos
	next  map[successorKey][]term.ID // distinct successors, for repeated paths
	paid  int
	spare *idSet // empty; used by the next closure
	hops  int    // bytes of the hops found since the last call of forget

	walks map[pathGraphKey]*pathWalk // nil where there was no memory for one
	due   int                        // starts that are still to be followed, if known
}

// successorKey is a node and a repeated path.
type successorKey struct {
	path    plan.Path
	node    term.ID
	forward bool
}

func (q *query) walker(graph term.ID) *walker {
	return &walker{q: q, graph: plan.Pos{ID: graph, Slot: -1}}
}

func (w *walker) free() {
	w.forget(0)
	w.q.budget.release(w.paid)
	w.paid, w.next = 0, nil
	for _, x := range w.walks {
		if x != nil {
			w.q.budget.release(x.paid)
		}
	}
	w.walks = nil
	if w.spare != nil {
		w.spare.free()
		w.spare = nil
	}
}

// lend counts hops that the caller of follow will read.
func (w *walker) lend(bytes int) error {
	w.hops += bytes
	return w.q.budget.reserve(bytes)
}

// forget stops counting the hops that were found since w.hops was mark. They must not be read any more.
func (w *walker) forget(mark int) {
	w.q.budget.release(w.hops - mark)
	w.hops = mark
}

// hop is the index of a start, and a node to which a path leads from it.
type hop struct {
	from int
	to   term.ID
}

// follow returns the ends of a path from each of the starts, which ascend without repetition. An end repeats as often
// as the path leads to it in different ways, except under *, + and ?.
func (w *walker) follow(p plan.Path, starts []term.ID, forward bool) ([]hop, error) {
	switch p := p.(type) {
	case plan.Step:
		return w.step(p.ID, starts, forward, nil)
	case plan.Inverse:
		return w.follow(p.Path, starts, !forward)
	case plan.Alt:
		l, err := w.follow(p.L, starts, forward)
		if err != nil {
			return nil, err
		}
		r, err := w.follow(p.R, starts, forward)
		return append(l, r...), err
	case plan.Seq:
		first, second := p.L, p.R
		if !forward {
			first, second = second, first
		}
		return w.sequence(first, second, starts, forward)
	case plan.Not:
		var out []hop
		if p.Forward != nil {
			hops, err := w.step(0, starts, forward, sortedIDs(p.Forward))
			if err != nil {
				return nil, err
			}
			out = hops
		}
		if p.Backward != nil {
			hops, err := w.step(0, starts, !forward, sortedIDs(p.Backward))
			if err != nil {
				return nil, err
			}
			out = append(out, hops...)
		}
		return out, nil
	case plan.Many:
		if p.Once {
			return w.once(p, starts, forward)
		}
		x, err := w.walkOf(p.Path, len(starts), forward)
		if err != nil {
			return nil, err
		}
		if x != nil {
			return w.reach(x, p, starts)
		}
		var out []hop
		for i, s := range starts {
			ends, err := w.closure(p, s, forward)
			if err != nil {
				return nil, err
			}
			for _, e := range ends {
				out = append(out, hop{i, e})
			}
			if err := w.lend(len(ends) * hopSize); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return nil, nil
}

// once follows a path that matches zero steps or one repetition, from all starts together. Each end comes once.
func (w *walker) once(p plan.Many, starts []term.ID, forward bool) ([]hop, error) {
	hops, err := w.follow(p.Path, starts, forward)
	if err != nil {
		return nil, err
	}
	if p.Min == 0 {
		if err := w.lend(len(starts) * hopSize); err != nil {
			return nil, err
		}
		hops = slices.Grow(hops, len(starts))
		for i, s := range starts {
			hops = append(hops, hop{i, s})
		}
	}
	if err := w.q.check(); err != nil {
		return nil, err
	}
	slices.SortFunc(hops, func(a, b hop) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	return slices.Compact(hops), w.q.check()
}

// reach follows a repeated path by x, which belongs to it.
func (w *walker) reach(x *pathWalk, p plan.Many, starts []term.ID) ([]hop, error) {
	var out []hop
	counted := 0
	for i, s := range starts {
		if err := x.reach(w.q, p, s, func(end term.ID) { out = append(out, hop{i, end}) }); err != nil {
			return nil, err
		}
		if more := cap(out)*hopSize - counted; more > 0 {
			counted += more
			if err := w.lend(more); err != nil {
				return nil, err
			}
		}
		if i&63 == 0 {
			if err := w.q.check(); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// step follows one predicate, or, if pred is 0, every predicate that is not in except.
func (w *walker) step(pred term.ID, starts []term.ID, forward bool, except []term.ID) ([]hop, error) {
	if pred == 0 && except == nil {
		return nil, nil // a predicate that no quad has
	}
	pos := [4]plan.Pos{{Slot: -1}, {ID: pred, Slot: -1}, {Slot: -1}, w.graph}
	order := term.SPO
	if !forward {
		order = term.OSP
		if pred != 0 {
			order = term.POS
		}
	} else if pred != 0 && slices.Contains(w.q.ds.Orders(), term.PSO) && len(starts) > 4 {
		order = term.PSO
	}
	var out []hop
	counted := 0
	count := func() error { // counts the room of out
		more := cap(out)*hopSize - counted
		counted += more
		return w.lend(more)
	}
	if len(starts) == 1 { // with its start as a constant, the pattern reads no other quad
		if forward {
			pos[0].ID = starts[0]
		} else {
			pos[2].ID = starts[0]
		}
	}
	src := w.q.source(pos, order)
	defer src.close()
	less := lessIn(order)
	var pend []term.IDQuad
	target := constants(pos)
	target.G = 0
	for i, s := range starts {
		if s.Tag() == term.TagLocal {
			continue
		}
		if forward {
			target.S = s
		} else {
			target.O = s
		}
		if len(pend) == 0 || less(&pend[len(pend)-1], &target) {
			src.seek(target)
			var err error
			if pend, err = src.next(); err != nil {
				return nil, err
			}
			if len(pend) == 0 {
				break
			}
		}
		if less(&pend[0], &target) {
			pend = pend[gallop(pend, &target, less):]
		}
		for {
			k := 0
			for k < len(pend) {
				x := &pend[k]
				start, end := x.S, x.O
				if !forward {
					start, end = end, start
				}
				if start != s || pred != 0 && x.P != pred {
					break
				}
				if _, no := slices.BinarySearch(except, x.P); !no {
					out = append(out, hop{i, end})
				}
				k++
			}
			if cap(out)*hopSize > counted {
				if err := count(); err != nil {
					return nil, err
				}
			}
			if k < len(pend) {
				pend = pend[k:]
				break
			}
			var err error
			if pend, err = src.next(); err != nil {
				return nil, err
			}
			if len(pend) == 0 {
				return out, nil
			}
		}
	}
	return out, nil
}

func (w *walker) sequence(first, second plan.Path, starts []term.ID, forward bool) ([]hop, error) {
	hops, err := w.follow(first, starts, forward)
	if err != nil {
		return nil, err
	}
	mids := make([]term.ID, len(hops))
	for i, h := range hops {
		mids[i] = h.to
	}
	if err := w.q.sortIDs(mids); err != nil {
		return nil, err
	}
	mids = slices.Compact(mids)
	further, err := w.follow(second, mids, forward)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(further, func(a, b hop) int { return a.from - b.from })
	heads := make([]int, len(mids)+1)
	for _, h := range further {
		heads[h.from+1]++
	}
	for i := range mids {
		heads[i+1] += heads[i]
	}
	var out []hop
	for i, h := range hops {
		m, _ := slices.BinarySearch(mids, h.to)
		ways := further[heads[m]:heads[m+1]]
		if err := w.lend(len(ways) * hopSize); err != nil {
			return nil, err
		}
		for _, f := range ways {
			out = append(out, hop{h.from, f.to})
		}
		if i&(1<<12-1) == 0 || len(ways) > 1<<12 {
			if err := w.q.check(); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

const hopSize = 16

// maxSpare is the number of slots up to which a set is used again: clearing a larger one would cost more than a new one
// where the next walk is short.
const maxSpare = 1 << 10

// sortIDs sorts ids. It sorts many ids in parts, so that it ends soon after the query's context.
func (q *query) sortIDs(ids []term.ID) error {
	const part = 1 << 17
	if len(ids) <= part {
		slices.Sort(ids)
		return nil
	}
	mid := len(ids) / 2
	left := slices.Clone(ids[:mid])
	right := ids[mid:]
	if err := errors.Join(q.sortIDs(left), q.sortIDs(right), q.check()); err != nil {
		return err
	}
	for at := 0; len(left) > 0; at++ {
		if len(right) == 0 || left[0] <= right[0] {
			ids[at], left = left[0], left[1:]
		} else {
			ids[at], right = right[0], right[1:]
		}
	}
	return nil
}
