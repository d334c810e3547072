package triplestore

import (
	"context"

	"odarchive/triplestore/term"
)

// Dump calls f with every quad of the current state that matches p, in subject order. The zero Pattern matches all
// quads.
func (s *Store) Dump(ctx context.Context, p term.Pattern, f func(term.Quad) error) error {
	return s.View(ctx, func(sn *Snapshot) error { return sn.Dump(ctx, p, f) })
}

// Dump calls f with every quad that matches p, in subject order. The zero Pattern matches all quads.
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
