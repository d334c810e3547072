package exec

import (
	"errors"

	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// pathGraph holds what one repetition of a path connects, so that a walk over many repetitions reads memory instead of
// the index. Nodes are numbered from 0.
type pathGraph struct {
	nodes *idSet   // one id a row; the number of the row is that of the node
	heads []uint32 // the successors of node i are next[heads[i]:heads[i+1]]
	next  []uint32
	seen  []uint32 // by node: the last walk that reached it
	walks uint32
	queue []uint32 // of the current walk, in the order in which nodes were reached
	paid  int
}

// pathGraphKey is a repeated path and its direction.
type pathGraphKey struct {
	path    plan.Path
	forward bool
}

const (
	// lookupsPerEdge is how many edges of a pathGraph can be read in the time of one lookup in the index. A graph is
	// built when the lookups made and those to come would take longer.
	lookupsPerEdge = 16
	// graphStarts is how many starts are followed at a time while a graph is built.
	graphStarts = 1 << 12
	edgeSize    = 8 // bytes of an edge while the graph is built
)

// graphOf returns the graph of a repeated path if walks from so many more starts are likely to be cheaper with it. It
// returns nil if they are not, if the path is not made of single steps, or if there is no memory for the graph.
func (w *walker) graphOf(p plan.Path, starts int, forward bool) (*pathGraph, error) {
	if !comparablePath(p) {
		return nil, nil
	}
	k := pathGraphKey{p, forward}
	if g, ok := w.graphs[k]; ok {
		return g, nil
	}
	if float64(w.lookups+max(starts, w.due))*lookupsPerEdge < w.edges(p) {
		return nil, nil
	}
	g := &pathGraph{nodes: newIDSet(1, w.q.budget)}
	if err := w.fill(g, p, forward); err != nil {
		g.free(w.q.budget)
		if !errors.Is(err, ErrMemory) || w.q.check() != nil {
			return nil, err
		}
		g = nil // the index needs no memory
	}
	if w.graphs == nil {
		w.graphs = map[pathGraphKey]*pathGraph{}
	}
	w.graphs[k] = g
	return g, nil
}

// edges estimates how many pairs of nodes one repetition of a path connects.
func (w *walker) edges(p plan.Path) float64 {
	switch p := p.(type) {
	case plan.Inverse:
		return w.edges(p.Path)
	case plan.Seq:
		return w.edges(p.L) + w.edges(p.R)
	case plan.Alt:
		return w.edges(p.L) + w.edges(p.R)
	case plan.Step:
		graph := w.graph.ID
		if w.q.plan.HasFrom { // the default graph is made of others
			graph = term.AnyGraph
		}
		if p.ID != 0 {
			return w.q.ds.Estimate(term.Pattern{P: p.ID, G: graph}).Count
		}
	}
	return 0
}

// fill reads the edges of a path.
func (w *walker) fill(g *pathGraph, p plan.Path, forward bool) error {
	starts, err := w.sources(p, forward)
	if err != nil {
		return err
	}
	var from, to []uint32
	node := func(id term.ID) (uint32, error) {
		nr, _, err := g.nodes.add([]term.ID{id})
		return uint32(nr), err
	}
	for len(starts) > 0 {
		part := starts[:min(graphStarts, len(starts))]
		starts = starts[len(part):]
		if err := w.q.check(); err != nil {
			return err
		}
		mark := w.hops
		hops, err := w.follow(p, part, forward)
		if err != nil {
			return err
		}
		if err := g.pay(w.q.budget, 2*edgeSize*len(hops)); err != nil { // twice, for the room that append makes
			return err
		}
		for _, h := range hops {
			a, err := node(part[h.from])
			if err != nil {
				return err
			}
			b, err := node(h.to)
			if err != nil {
				return err
			}
			from, to = append(from, a), append(to, b)
		}
		w.forget(mark)
	}
	if err := g.pay(w.q.budget, 4*(len(to)+3*g.nodes.n+1)); err != nil {
		return err
	}
	g.heads, g.next = make([]uint32, g.nodes.n+1), make([]uint32, len(to))
	g.seen = make([]uint32, g.nodes.n)
	for _, a := range from {
		g.heads[a+1]++
	}
	for i := range g.nodes.n {
		g.heads[i+1] += g.heads[i]
	}
	at := make([]uint32, g.nodes.n)
	copy(at, g.heads)
	for i, a := range from {
		g.next[at[a]] = to[i]
		at[a]++
	}
	g.queue = at[:0] // a walk reaches each node once, so its queue has room for all
	g.give(w.q.budget, g.paid-4*(len(to)+3*g.nodes.n+1))
	return nil
}

// reach calls found with every node that the repeated path p leads to from start, each once.
func (g *pathGraph) reach(q *query, p plan.Many, start term.ID, found func(term.ID)) error {
	nr, _ := g.nodes.find([]term.ID{start})
	if nr < 0 {
		if p.Min == 0 {
			found(start)
		}
		return nil
	}
	if g.walks++; g.walks == 0 { // the counter has wrapped
		clear(g.seen)
		g.walks = 1
	}
	ids := g.nodes.rows
	if p.Min == 0 {
		g.seen[nr] = g.walks
		found(start)
	}
	g.queue = g.queue[:0]
	at := uint32(nr)
	for i := 0; ; i++ {
		for _, n := range g.next[g.heads[at]:g.heads[at+1]] {
			if g.seen[n] != g.walks {
				g.seen[n] = g.walks
				g.queue = append(g.queue, n)
				found(ids[n])
			}
		}
		if i == len(g.queue) || p.Once {
			return nil
		}
		if at = g.queue[i]; i&(1<<12-1) == 0 {
			if err := q.check(); err != nil {
				return err
			}
		}
	}
}

func (g *pathGraph) pay(b *budget, n int) error {
	g.paid += n
	return b.reserve(n)
}

func (g *pathGraph) give(b *budget, n int) {
	g.paid -= n
	b.release(n)
}

func (g *pathGraph) free(b *budget) {
	if g == nil {
		return
	}
	g.give(b, g.paid)
	g.nodes.free()
	g.heads, g.next, g.seen, g.queue = nil, nil, nil, nil
}
