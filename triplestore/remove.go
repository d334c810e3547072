package triplestore

import (
	"context"
	"fmt"
	"slices"

	"odarchive/triplestore/internal/index"
	"odarchive/triplestore/term"
)

// Remove removes, as one commit, the quads that each hands to its argument, and reclaims their space. Quads that the
// store does not have, and repeated ones, are no error. If each or anything else fails, the store is unchanged. Memory is
// bounded by Options.LoadMemory; more quads wait in temporary files. Other writers wait only after each has returned, so
// it may read the store.
func (s *Store) Remove(ctx context.Context, each func(remove func(term.Quad) error) error) error {
	if s.closed.Load() {
		return ErrClosed
	}
	r := &remover{runs: &loader{s: s}}
	defer r.runs.close()
	if err := r.collect(ctx, each); err != nil {
		return fmt.Errorf("triplestore: remove: %w", err)
	}
	if r.runs.chunks == 0 {
		return nil
	}
	return s.bulk(ctx, "remove", func(w *blockWriter, parts *partWriter) error {
		return w.remove(ctx, parts, func(l index.Layout) (index.Rows, error) {
			rows, err := r.runs.rows(l)
			if err != nil {
				return nil, err
			}
			return &storedRows{layout: l, rows: rows, stored: w.sn.index.Layout(l)}, nil
		})
	})
}

// remover sorts the quads of a Remove.
type remover struct {
	runs *loader
	sn   *Snapshot
	rows []term.IDQuad
	last term.Quad // the previous quad, and its ids; neighbours often share terms
	ids  term.IDQuad
}

func (r *remover) collect(ctx context.Context, each func(remove func(term.Quad) error) error) error {
	if err := r.runs.begin(); err != nil {
		return err
	}
	r.sn = r.runs.s.Snapshot()
	defer r.sn.Release()
	r.ids.G = term.DefaultGraph
	err := each(func(q term.Quad) error {
		if err := checkQuad(q); err != nil {
			return err
		}
		known, err := r.find(q)
		if err != nil || !known {
			return err
		}
		r.rows = append(r.rows, r.ids)
		if len(r.rows)%4096 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if len(r.rows) >= r.runs.full {
			return r.sort(ctx)
		}
		return nil
	})
	if err == nil {
		err = r.sort(ctx)
	}
	return err
}

// find sets ids to those of a quad. It returns false if the store does not have one of its terms.
func (r *remover) find(q term.Quad) (bool, error) {
	for _, c := range [4]struct {
		k, last *term.Key
		id      *term.ID
	}{{&q.S, &r.last.S, &r.ids.S}, {&q.P, &r.last.P, &r.ids.P}, {&q.O, &r.last.O, &r.ids.O}, {&q.G, &r.last.G, &r.ids.G}} {
		if *c.k == *c.last {
			if *c.id == 0 {
				return false, nil
			}
			continue
		}
		*c.last = *c.k
		if *c.k == "" {
			*c.id = term.DefaultGraph
			continue
		}
		id, ok, err := r.sn.Lookup(*c.k)
		if err != nil {
			return false, err
		}
		if !ok {
			id = 0
		}
		if *c.id = id; !ok {
			return false, nil
		}
	}
	return true, nil
}

func (r *remover) sort(ctx context.Context) error {
	if len(r.rows) == 0 {
		return nil
	}
	rows := r.rows
	r.rows = nil
	return r.runs.keep(ctx, index.NewSorter(rows))
}

// storedRows returns those of sorted rows that are in the store, too.
type storedRows struct {
	layout index.Layout
	rows   index.Rows
	stored term.Cursor
	at     []term.IDQuad // read from stored
	ended  bool
	out    []term.IDQuad
}

// Next implements index.Rows.
func (s *storedRows) Next() ([]term.IDQuad, error) {
	for !s.ended {
		rows, err := s.rows.Next()
		if err != nil {
			return nil, err
		}
		if len(rows) == 0 {
			break
		}
		if s.out, err = s.common(s.out[:0], rows); err != nil {
			return nil, err
		}
		if len(s.out) > 0 {
			return s.out, nil
		}
	}
	s.ended = true
	s.stored.Close()
	return nil, nil
}

// common appends the rows that are stored to out.
func (s *storedRows) common(out, rows []term.IDQuad) ([]term.IDQuad, error) {
	for _, q := range rows {
		want := s.layout.Tuple(q)
		for len(s.at) == 0 || s.layout.Tuple(s.at[len(s.at)-1]).Less(want) {
			var err error
			if s.at, err = s.stored.Next(); err != nil {
				return nil, err
			}
			if len(s.at) == 0 {
				s.ended = true
				return out, nil
			}
		}
		n, _ := slices.BinarySearchFunc(s.at, want, func(q term.IDQuad, t index.Tuple) int {
			if s.layout.Tuple(q).Less(t) {
				return -1
			}
			return 1
		})
		if s.at = s.at[n:]; s.at[0] == q {
			out = append(out, q)
		}
	}
	return out, nil
}
