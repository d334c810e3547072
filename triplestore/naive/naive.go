// Package naive is a quad store that is obviously correct: a set of quads and loops over it. Tests compare the real
// store, and the query engine on top of it, with this one. It keeps everything in memory and is slow on purpose.
package naive

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"odarchive/triplestore/term"
)

// Store is a naive quad store. All methods may be called concurrently. Use New to create one.
type Store struct {
	write sync.Mutex   // held by the one writer
	mu    sync.RWMutex // guards the fields below
	terms []term.Key   // by payload, from 1 on
	ids   map[term.Key]term.ID
	quads map[term.IDQuad]bool
}

// New returns a store of the given quads.
func New(quads ...term.Quad) *Store {
	s := &Store{terms: []term.Key{""}, ids: map[term.Key]term.ID{}, quads: map[term.IDQuad]bool{}}
	for _, q := range quads {
		s.quads[s.idQuad(q)] = true
	}
	return s
}

// View calls f with the current state.
func (s *Store) View(_ context.Context, f func(*Dataset) error) error { return f(s.Snapshot()) }

// Txn is a write transaction, valid during Update.
type Txn struct {
	s     *Store
	quads map[term.IDQuad]bool
}

// Update runs f and commits its changes if f returns nil.
func (s *Store) Update(_ context.Context, f func(*Txn) error) error {
	s.write.Lock()
	defer s.write.Unlock()
	s.mu.RLock()
	t := &Txn{s: s, quads: make(map[term.IDQuad]bool, len(s.quads))}
	for q := range s.quads {
		t.quads[q] = true
	}
	s.mu.RUnlock()
	if err := f(t); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.quads = t.quads
	return nil
}

// Insert adds a quad.
func (t *Txn) Insert(q term.Quad) error {
	if q.S.Kind() != term.KindIRI && q.S.Kind() != term.KindBlank || q.P.Kind() != term.KindIRI || q.O.Kind() == term.KindNone {
		return fmt.Errorf("naive: not an RDF quad: %q", q)
	}
	t.quads[t.s.idQuad(q)] = true
	return nil
}

// Delete removes a quad.
func (t *Txn) Delete(q term.Quad) error {
	delete(t.quads, t.s.idQuad(q))
	return nil
}

// ClearGraph removes all quads of a graph.
func (t *Txn) ClearGraph(g term.Key) error {
	id := t.s.graph(g)
	for q := range t.quads {
		if q.G == id {
			delete(t.quads, q)
		}
	}
	return nil
}

func (s *Store) graph(g term.Key) term.ID {
	if g == "" {
		return term.DefaultGraph
	}
	return s.id(g)
}

func (s *Store) idQuad(q term.Quad) term.IDQuad {
	return term.IDQuad{S: s.id(q.S), P: s.id(q.P), O: s.id(q.O), G: s.graph(q.G)}
}

func (s *Store) id(k term.Key) term.ID {
	if id, ok := term.Inline(k); ok {
		return id
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if id, ok := s.ids[k]; ok {
		return id
	}
	tag := map[term.Kind]term.Tag{term.KindIRI: term.TagIRI, term.KindBlank: term.TagBlank, term.KindLiteral: term.TagLiteral,
		term.KindTriple: term.TagTriple}[k.Kind()]
	id := term.Make(tag, uint64(len(s.terms)))
	s.terms = append(s.terms, k)
	s.ids[k] = id
	return id
}

// Dataset is one state of the store. It implements term.Dataset.
type Dataset struct {
	s     *Store
	quads []term.IDQuad
}

// Snapshot returns the current state.
func (s *Store) Snapshot() *Dataset {
	s.mu.RLock()
	defer s.mu.RUnlock()
	d := &Dataset{s: s}
	for q := range s.quads {
		d.quads = append(d.quads, q)
	}
	return d
}

func matches(p term.Pattern, q term.IDQuad) bool {
	graph := p.G == term.AnyGraph || p.G == q.G || p.G == term.AnyNamed && q.G != term.DefaultGraph
	return graph && (p.S == 0 || p.S == q.S) && (p.P == 0 || p.P == q.P) && (p.O == 0 || p.O == q.O)
}

// Compare compares quads in an order, then by graph.
func Compare(o term.Order, a, b term.IDQuad) int {
	s, p, ob := cmp.Compare(a.S, b.S), cmp.Compare(a.P, b.P), cmp.Compare(a.O, b.O)
	g := cmp.Compare(a.G, b.G)
	switch o {
	case term.SPO:
		return cmp.Or(s, p, ob, g)
	case term.POS:
		return cmp.Or(p, ob, s, g)
	case term.OSP:
		return cmp.Or(ob, s, p, g)
	}
	return cmp.Or(p, s, ob, g)
}

// Scan returns a cursor over the quads that match p, sorted by o and then by graph.
func (d *Dataset) Scan(p term.Pattern, o term.Order) term.Cursor {
	c := &cursor{order: o}
	for _, q := range d.quads {
		if matches(p, q) {
			c.rows = append(c.rows, q)
		}
	}
	slices.SortFunc(c.rows, func(a, b term.IDQuad) int { return Compare(o, a, b) })
	return c
}

// Orders returns all orders.
func (d *Dataset) Orders() []term.Order {
	return []term.Order{term.SPO, term.POS, term.OSP, term.PSO}
}

// Estimate returns exact figures.
func (d *Dataset) Estimate(p term.Pattern) term.Estimate {
	var distinct [3]map[term.ID]bool
	for i := range distinct {
		distinct[i] = map[term.ID]bool{}
	}
	n := 0
	for _, q := range d.quads {
		if matches(p, q) {
			n++
			distinct[0][q.S], distinct[1][q.P], distinct[2][q.O] = true, true, true
		}
	}
	e := term.Estimate{Count: float64(n), Exact: true}
	for i := range distinct {
		e.Distinct[i] = float64(len(distinct[i]))
	}
	return e
}

// Lookup returns the id of a term.
func (d *Dataset) Lookup(k term.Key) (term.ID, bool, error) {
	if id, ok := term.Inline(k); ok {
		return id, true, nil
	}
	d.s.mu.RLock()
	defer d.s.mu.RUnlock()
	id, ok := d.s.ids[k]
	return id, ok, nil
}

// Keys writes the term of each id to keys.
func (d *Dataset) Keys(ids []term.ID, keys []term.Key) error {
	d.s.mu.RLock()
	defer d.s.mu.RUnlock()
	for i, id := range ids {
		k, ok := id.Key()
		if !ok && id.Kind() != term.KindNone && id.Payload() < uint64(len(d.s.terms)) {
			k = d.s.terms[id.Payload()]
			ok = k != "" && d.s.ids[k] == id
		}
		if !ok {
			return fmt.Errorf("naive: unknown term id %#x", uint64(id))
		}
		keys[i] = k
	}
	return nil
}

// Graphs calls f with each non-empty named graph, in id order, until f returns false.
func (d *Dataset) Graphs(f func(term.ID) bool) error {
	var ids []term.ID
	for _, q := range d.quads {
		if q.G != term.DefaultGraph {
			ids = append(ids, q.G)
		}
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		if !f(id) {
			break
		}
	}
	return nil
}

// cursor returns small batches, so that tests exercise the boundaries between batches.
type cursor struct {
	order term.Order
	rows  []term.IDQuad
}

func (c *cursor) Next() ([]term.IDQuad, error) {
	n := min(3, len(c.rows))
	batch := slices.Clone(c.rows[:n])
	c.rows = c.rows[n:]
	return batch, nil
}

func (c *cursor) SeekGE(q term.IDQuad) {
	for len(c.rows) > 0 && Compare(c.order, c.rows[0], q) < 0 {
		c.rows = c.rows[1:]
	}
}

func (c *cursor) Close() { c.rows = nil }
