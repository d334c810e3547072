package triplestore

import (
	"sync"

	"odarchive/triplestore/internal/index"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// Snapshot is one unchanging state of a store. Its methods may be called concurrently. It is a term.Dataset.
type Snapshot struct {
	state *state
	kv    *kv.Snapshot
	index index.State
}

// Snapshot of the current state; Release it. After the database is closed it must not be used any more.
func (s *Store) Snapshot() *Snapshot {
	for {
		st := s.current.Load()
		snap := s.db.Snapshot()
		// The blocks of a state are deleted only after it has been replaced. If it is still current, snap has them all.
		if s.current.Load() == st {
			return s.snapshot(st, snap)
		}
		snap.Close()
	}
}

func (s *Store) snapshot(st *state, snap *kv.Snapshot) *Snapshot {
	return &Snapshot{state: st, kv: snap, index: index.State{Base: st.base, Overlay: st.overlay, Reader: snap, Cache: s.cache}}
}

// Release gives the snapshot up. It may be called twice.
func (sn *Snapshot) Release() { sn.kv.Close() }

// Position of the last commit in the snapshot.
func (sn *Snapshot) Position() uint64 { return sn.state.position }

// Scan gives the quads that match p, sorted by o and then by graph.
func (sn *Snapshot) Scan(p term.Pattern, o term.Order) term.Cursor { return sn.index.Scan(p, o) }

// Orders that Scan serves at full speed: all of them.
func (sn *Snapshot) Orders() []term.Order {
	return []term.Order{term.SPO, term.POS, term.OSP, term.PSO}
}

// Estimate how many quads match, exactly wherever an order has the known components in front. Where blocks cannot be
// read nothing is known; a scan will say why.
func (sn *Snapshot) Estimate(p term.Pattern) term.Estimate {
	e, err := sn.index.Estimate(p)
	if err != nil {
		return term.Estimate{Count: 1}
	}
	return e
}

// Lookup finds the id of a term.
func (sn *Snapshot) Lookup(k term.Key) (term.ID, bool, error) { return sn.state.dict.Lookup(sn.kv, k) }

// Keys turns ids into terms.
func (sn *Snapshot) Keys(ids []term.ID, keys []term.Key) error {
	return sn.state.dict.Keys(sn.kv, ids, keys)
}

// graphList is the named graphs of a state, found out when first asked for.
type graphList struct {
	mu     sync.Mutex // guards what follows
	known  bool
	ids    []term.ID
	counts []int
}

// graphs of the snapshot with their numbers of quads.
func (sn *Snapshot) graphs() ([]term.ID, []int, error) {
	g := sn.state.graphs
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.known {
		g.ids, g.counts = nil, nil
		err := sn.index.Groups(index.NamedGraphs(), 0, func(id term.ID, quads int) (bool, error) {
			g.ids = append(g.ids, id)
			g.counts = append(g.counts, quads)
			return true, nil
		})
		if err != nil {
			return nil, nil, err
		}
		g.known = true
	}
	return g.ids, g.counts, nil
}

// Graphs calls f with each non-empty named graph, in id order, until it returns false.
func (sn *Snapshot) Graphs(f func(term.ID) bool) error {
	ids, _, err := sn.graphs()
	if err != nil {
		return err
	}
	for _, id := range ids {
		if !f(id) {
			break
		}
	}
	return nil
}

// Graph is the id of a graph's name, DefaultGraph for the empty key; ok is false if the store has never seen it.
func (sn *Snapshot) Graph(g term.Key) (id term.ID, ok bool, err error) {
	if g == "" {
		return term.DefaultGraph, true, nil
	}
	return sn.Lookup(g)
}

func (sn *Snapshot) quad(q term.IDQuad) (term.Quad, error) {
	ids, keys := [4]term.ID{q.S, q.P, q.O, q.G}, [4]term.Key{}
	n := 4
	if q.G == term.DefaultGraph {
		n = 3
	}
	err := sn.Keys(ids[:n], keys[:n])
	return term.Quad{S: keys[0], P: keys[1], O: keys[2], G: keys[3]}, err
}
