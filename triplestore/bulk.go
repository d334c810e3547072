package triplestore

import (
	"context"
	"errors"
	"io"

	"odarchive/triplestore/term"
)

// QuadReader hands out quads one by one and io.EOF after the last. rdfio.Reader is one.
type QuadReader interface {
	Read() (term.Quad, error)
}

// Loaded says what a Load did.
type Loaded struct {
	Read  uint64 // quads read
	Added uint64 // of which were new
}

// Load adds everything r gives in one transaction: if reading fails, or anything else, the store stays as it was.
func (s *Store) Load(ctx context.Context, r QuadReader) (Loaded, error) {
	var n Loaded
	err := s.Update(ctx, func(t *Txn) error {
		for {
			if n.Read%1024 == 0 && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			q, err := r.Read()
			if errors.Is(err, io.EOF) {
				n.Added = uint64(len(t.changed))
				return nil
			}
			if err != nil {
				return err
			}
			n.Read++
			if err := t.Insert(q); err != nil {
				return err
			}
		}
	})
	if err != nil {
		return Loaded{}, err
	}
	return n, nil
}

// DropGraph removes a graph, the empty key being the default graph, and gives its space back.
func (s *Store) DropGraph(ctx context.Context, g term.Key) error {
	return s.Update(ctx, func(t *Txn) error { return t.ClearGraph(g) })
}

// Clear removes every quad.
func (s *Store) Clear(ctx context.Context) error {
	return s.Update(ctx, func(t *Txn) error {
		var graphs []term.ID
		if err := t.Snapshot().Graphs(func(g term.ID) bool { graphs = append(graphs, g); return true }); err != nil {
			return err
		}
		keys := make([]term.Key, len(graphs))
		if err := t.Snapshot().Keys(graphs, keys); err != nil {
			return err
		}
		for _, g := range append(keys, "") {
			if err := t.ClearGraph(g); err != nil {
				return err
			}
		}
		return nil
	})
}

// Dump calls f with every quad that matches p in subject order (the zero Pattern matches all), from one state.
func (s *Store) Dump(ctx context.Context, p term.Pattern, f func(term.Quad) error) error {
	return s.View(ctx, func(sn *Snapshot) error { return sn.Dump(ctx, p, f) })
}

// Dump calls f with every quad that matches p, in subject order.
func (sn *Snapshot) Dump(ctx context.Context, p term.Pattern, f func(term.Quad) error) error {
	c := sn.Scan(p, term.SPO)
	defer c.Close()
	var ids []term.ID
	var keys []term.Key
	for {
		rows, err := c.Next()
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		ids, keys = ids[:0], keys[:0]
		for _, q := range rows {
			ids = append(ids, q.S, q.P, q.O)
			if q.G != term.DefaultGraph {
				ids = append(ids, q.G)
			}
		}
		keys = append(keys, make([]term.Key, len(ids))...)
		if err := sn.Keys(ids, keys); err != nil {
			return err
		}
		i := 0
		for _, q := range rows {
			quad := term.Quad{S: keys[i], P: keys[i+1], O: keys[i+2]}
			i += 3
			if q.G != term.DefaultGraph {
				quad.G = keys[i]
				i++
			}
			if err := f(quad); err != nil {
				return err
			}
		}
	}
}

// Graph is the id of a graph's name, DefaultGraph for the empty key; ok is false if the store has never seen it.
func (sn *Snapshot) Graph(g term.Key) (id term.ID, ok bool, err error) {
	if g == "" {
		return term.DefaultGraph, true, nil
	}
	return sn.Lookup(g)
}
