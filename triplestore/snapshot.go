package triplestore

import (
	"sync"

	"odarchive/triplestore/internal/index"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// Snapshot is one unchanging state of a store. Its methods may be called concurrently. It is a term.Dataset.
type Snapshot struct {
	store *Store
	state *state
	kv    *kv.Snapshot
	index index.State
}

// Snapshot returns the current state. The caller must Release it, and must not use it after the database is closed.
func (s *Store) Snapshot() *Snapshot {
	for {
		st := s.current.Load()
		snap := s.db.Snapshot()
		// A state's blocks are deleted only after the state has been replaced. If st is still current, snap has all its
		// blocks.
		if s.current.Load() == st {
			return s.snapshot(st, snap)
		}
		snap.Close()
	}
}

func (s *Store) snapshot(st *state, snap *kv.Snapshot) *Snapshot {
	return &Snapshot{store: s, state: st, kv: snap, index: index.State{Base: st.base, Overlay: st.overlay, Reader: snap, Cache: s.cache}}
}

// Release releases the snapshot. It may be called twice.
func (sn *Snapshot) Release() { sn.kv.Close() }

// Position returns the position of the last commit in the snapshot, counted from 1; 0 if there is none.
func (sn *Snapshot) Position() uint64 { return sn.state.position }

// Position returns the position of the last commit, counted from 1; 0 if there is none.
func (s *Store) Position() uint64 { return s.current.Load().position }

// Scan returns a cursor over the quads that match p, sorted by o and then by graph.
func (sn *Snapshot) Scan(p term.Pattern, o term.Order) term.Cursor { return sn.index.Scan(p, o) }

// Orders returns the orders that Scan serves without sorting: all of them.
func (sn *Snapshot) Orders() []term.Order {
	return []term.Order{term.SPO, term.POS, term.OSP, term.PSO}
}

// Estimate returns how many quads match. The count is exact if an order begins with the known components. If blocks
// cannot be read, Estimate returns 1; a Scan then returns the error.
func (sn *Snapshot) Estimate(p term.Pattern) term.Estimate {
	e, err := sn.index.Estimate(p)
	if err != nil {
		return term.Estimate{Count: 1}
	}
	return e
}

// Lookup returns the id of a term; ok is false if the store has no such term.
func (sn *Snapshot) Lookup(k term.Key) (id term.ID, ok bool, err error) {
	return sn.state.dict.Lookup(sn.kv, k)
}

// Keys writes the term of each id to keys, which must be as long as ids.
func (sn *Snapshot) Keys(ids []term.ID, keys []term.Key) error {
	return sn.state.dict.Keys(sn.kv, ids, keys)
}

// graphList caches the named graphs of a state. They are determined on first use.
type graphList struct {
	mu     sync.Mutex // guards the fields below
	known  bool
	ids    []term.ID
	counts []int
}

// graphs returns the named graphs of the snapshot and the number of quads in each.
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

// Graphs calls f with each non-empty named graph, in id order, until f returns false.
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

// Graph returns the id of a graph's name, or DefaultGraph for the empty key. ok is false if the store has no such term.
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
