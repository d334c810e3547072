package triplestore

import (
	"context"

	"odarchive/triplestore/internal/index"
	"odarchive/triplestore/term"
)

// remover sorts the quads that a Replace removes.
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
