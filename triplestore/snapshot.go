package triplestore

import (
	"odarchive/triplestore/index"
	"odarchive/triplestore/term"
)

// Snapshot is one unchanging state of a store. Its methods may be called concurrently.
// It is an exec.Dataset.
type Snapshot struct {
	store *Store
	state *state
}

// Release gives the snapshot up. It may be called twice.
func (sn *Snapshot) Release() {}

// Position of the last commit in the snapshot.
func (sn *Snapshot) Position() uint64 { return sn.state.position }

// Scan gives the quads that match p, sorted by o and then by graph.
func (sn *Snapshot) Scan(p term.Pattern, o term.Order) term.Cursor { return sn.state.index.Scan(p, o) }

// Orders that Scan serves at full speed: all of them.
func (sn *Snapshot) Orders() []term.Order {
	return []term.Order{term.SPO, term.POS, term.OSP, term.PSO}
}

// Estimate how many quads match.
func (sn *Snapshot) Estimate(p term.Pattern) term.Estimate {
	n, exact := sn.state.index.Count(p)
	return term.Estimate{Count: n, Exact: exact}
}

// Lookup finds the id of a term.
func (sn *Snapshot) Lookup(k term.Key) (term.ID, bool, error) { return sn.store.dict.Lookup(k) }

// Keys turns ids into terms.
func (sn *Snapshot) Keys(ids []term.ID, keys []term.Key) error { return sn.store.dict.Keys(ids, keys) }

// Graphs calls f with each non-empty named graph, in id order, until it returns false.
func (sn *Snapshot) Graphs(f func(term.ID) bool) error {
	c := sn.Scan(term.Pattern{G: term.AnyNamed}, term.SPO)
	defer c.Close()
	seen := map[term.ID]bool{}
	var ids []term.ID
	for {
		rows, err := c.Next()
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			break
		}
		for _, q := range rows {
			if !seen[q.G] {
				seen[q.G] = true
				ids = append(ids, q.G)
			}
		}
	}
	index.SortIDs(ids)
	for _, id := range ids {
		if !f(id) {
			break
		}
	}
	return nil
}
