package exec

import (
	"errors"
	"sync"
	"sync/atomic"

	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// pathGraph holds what one repetition of a path connects, so that a walk over many repetitions reads memory instead of
// the index. Nodes are numbered from 0. It does not change, and all goroutines of a query share it until the query
// ends.
type pathGraph struct {
	nodes *idSet   // one id a row; the number of the row is that of the node
	heads []uint32 // the successors of node i are next[heads[i]:heads[i+1]]
	next  []uint32
	paid  int
}

// pathGraphs are the graphs of one query.
type pathGraphs struct {
	lookups atomic.Int64 // repetitions of paths that were looked up in the index so far

	mu sync.Mutex // guards by
	by map[pathGraphKey]*pathGraphEntry
}

// pathGraphKey is a repeated path, its direction and the RDF graph it is in.
type pathGraphKey struct {
	path    plan.Path
	forward bool
	graph   term.ID
}

type pathGraphEntry struct {
	mu   sync.Mutex // held while the graph is built; that of a longer path is taken first
	g    *pathGraph
	none bool // there was no memory for it
}

func (p *pathGraphs) entry(k pathGraphKey) *pathGraphEntry {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.by[k]
	if e == nil {
		if p.by == nil {
			p.by = map[pathGraphKey]*pathGraphEntry{}
		}
		e = &pathGraphEntry{}
		p.by[k] = e
	}
	return e
}

// pathWalk is the state of walks through a pathGraph.
type pathWalk struct {
	g     *pathGraph
	seen  []uint32 // by node: the last walk that reached it
	walks uint32
	queue []uint32 // of the current walk, in the order in which nodes were reached
	paid  int
}

const (
	// lookupsPerEdge is how many edges of a pathGraph can be read in the time of one lookup in the index. A graph is
	// built when the lookups made and those to come would take longer.
	lookupsPerEdge = 16
	// graphStarts is how many starts are followed at a time while a graph is built.
	graphStarts = 1 << 12
	edgeSize    = 8 // bytes of an edge while the graph is built
)

// walkOf returns a walk through the graph of a repeated path if building the graph is likely to pay for starts further
// starts. Otherwise, or if the path does not consist of single steps, or if there is no memory, it returns nil.
func (w *walker) walkOf(p plan.Path, starts int, forward bool) (*pathWalk, error) {
	if !comparablePath(p) || empty(p) { // an empty path leads from any value to itself, even if the value is not a node
		return nil, nil
	}
	k := pathGraphKey{p, forward, w.graph.ID}
	if x, ok := w.walks[k]; ok {
		return x, nil
	}
	if float64(w.q.paths.lookups.Load()+int64(max(starts, w.due)))*lookupsPerEdge < w.edges(p) {
		return nil, nil
	}
	g, err := w.graphOf(k)
	if err != nil {
		return nil, err
	}
	var x *pathWalk
	if g != nil {
		x = &pathWalk{g: g, paid: 8 * g.nodes.n}
		if err := w.q.budget.reserve(x.paid); err != nil {
			w.q.budget.release(x.paid)
			x = nil // as if there were no graph
		} else {
			x.seen, x.queue = make([]uint32, g.nodes.n), make([]uint32, 0, g.nodes.n) // a walk reaches each node once
		}
	}
	if w.walks == nil {
		w.walks = map[pathGraphKey]*pathWalk{}
	}
	w.walks[k] = x
	return x, nil
}

// graphOf returns a graph, or nil if there is no memory for it. It builds the graph on the first call.
func (w *walker) graphOf(k pathGraphKey) (*pathGraph, error) {
	e := w.q.paths.entry(k)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.g != nil || e.none {
		return e.g, nil
	}
	g := &pathGraph{nodes: newIDSet(1, w.q.budget)}
	if err := w.fill(g, k.path, k.forward); err != nil {
		g.free(w.q.budget)
		if !errors.Is(err, ErrMemory) || w.q.check() != nil {
			return nil, err
		}
		e.none = true // the index needs no memory
		return nil, nil
	}
	e.g = g
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
	case plan.Many:
		return w.edges(p.Path)
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
	if err := g.pay(w.q.budget, 4*(len(to)+2*g.nodes.n+1)); err != nil {
		return err
	}
	g.heads, g.next = make([]uint32, g.nodes.n+1), make([]uint32, len(to))
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
	g.give(w.q.budget, g.paid-4*(len(to)+g.nodes.n+1))
	return nil
}

// reach calls found with every node that the repeated path p leads to from start, each once.
func (x *pathWalk) reach(q *query, p plan.Many, start term.ID, found func(term.ID)) error {
	g := x.g
	nr, _ := g.nodes.find([]term.ID{start})
	if nr < 0 {
		if p.Min == 0 {
			found(start)
		}
		return nil
	}
	if x.walks++; x.walks == 0 { // the counter has wrapped
		clear(x.seen)
		x.walks = 1
	}
	ids := g.nodes.rows
	if p.Min == 0 {
		x.seen[nr] = x.walks
		found(start)
	}
	x.queue = x.queue[:0]
	at := uint32(nr)
	for i := 0; ; i++ {
		for _, n := range g.next[g.heads[at]:g.heads[at+1]] {
			if x.seen[n] != x.walks {
				x.seen[n] = x.walks
				x.queue = append(x.queue, n)
				found(ids[n])
			}
		}
		if i == len(x.queue) {
			return nil
		}
		if at = x.queue[i]; i&(1<<12-1) == 0 {
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
	g.give(b, g.paid)
	g.nodes.free()
	g.heads, g.next = nil, nil
}
