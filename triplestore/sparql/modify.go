package sparql

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/term"
)

// modify is DELETE/INSERT (Update §3.1.3): it solves the pattern, then deletes everything, then inserts everything.
func (u *updateRun) modify(m algebra.Modify) error {
	remove, insert, err := u.solveModify(m)
	if err != nil {
		return err
	}
	if err := u.remove(remove); err != nil {
		return err
	}
	return u.insert(insert)
}

// solveModify returns the quads that a DELETE/INSERT removes and inserts.
func (u *updateRun) solveModify(m algebra.Modify) (remove, insert []term.Quad, err error) {
	ds := u.ds
	q := &algebra.Query{Form: algebra.Construct, Pattern: m.Where, Base: m.Base, From: m.Using, FromNamed: m.UsingNamed}
	for _, t := range append(m.Delete, m.Insert...) {
		q.Template = append(q.Template, t.TriplePattern, algebra.TriplePattern{S: t.Graph})
	}
	if m.With != "" && q.From == nil && q.FromNamed == nil {
		if ds, err = defaultGraph(ds, m.With); err != nil {
			return nil, nil, err
		}
	}
	in, err := u.engine.solve(&work{ctx: u.ctx}, ds, q, QueryOptions{Trusted: true, Strict: true})
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	fill := newFiller(m.Where, in.Columns())
	for {
		row, err := in.Next()
		if errors.Is(err, io.EOF) {
			return remove, insert, nil
		}
		if err != nil {
			return nil, nil, err
		}
		fill.n++
		nr, ni := len(remove), len(insert)
		remove, insert = fill.changes(remove, insert, m, row)
		err = u.hold(sizeOf(remove[nr:]) + sizeOf(insert[ni:]))
		if u.replacer != nil && (err != nil || u.held > u.engine.opts.Memory/4) { // a transaction needs more than the lists
			return nil, nil, u.replaceMany(in, fill, m, remove, insert)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("the changes of one request: %w", err)
		}
	}
}

// replaceMany removes and inserts the quads of two lists and those of all further solutions, without lists of them.
func (u *updateRun) replaceMany(in solutions, fill *filler, m algebra.Modify, remove, insert []term.Quad) error {
	u.replaced = true
	return u.replacer.Replace(u.ctx, func(removed, inserted func(term.Quad) error) error {
		each := func(quads []term.Quad, f func(term.Quad) error) error {
			for _, q := range quads {
				if err := f(q); err != nil {
					return err
				}
			}
			return nil
		}
		for {
			if err := each(remove, removed); err != nil {
				return err
			}
			if err := each(insert, inserted); err != nil {
				return err
			}
			u.done.Deleted += int64(len(remove))
			u.done.Inserted += int64(len(insert))
			if u.held > 0 { // these lists were long
				remove, insert = nil, nil
				u.release()
			}
			row, err := in.Next()
			if errors.Is(err, io.EOF) {
				in.Close() // its memory is not needed while the store writes
				return u.ctx.Err()
			}
			if err != nil {
				return err
			}
			fill.n++
			remove, insert = fill.changes(remove[:0], insert[:0], m, row)
		}
	})
}

// hold counts bytes of changes that stay in memory until the request ends. The error is a *LimitError if they are more
// than one request may hold, or than there is for all queries and updates together.
func (u *updateRun) hold(n int64) error {
	if u.held+n > u.engine.opts.Memory {
		return memoryLimit(u.engine.opts.Memory)
	}
	if !u.engine.pool.Reserve(n) {
		return &LimitError{Limit: ErrMemory, Value: u.engine.opts.MaxMemory, Shared: true}
	}
	u.held += n
	return nil
}

// release gives back what hold counted.
func (u *updateRun) release() {
	u.engine.pool.Release(u.held)
	u.held = 0
}

// sizeOf estimates the memory of quads, in bytes.
func sizeOf(quads []term.Quad) (n int64) {
	for _, q := range quads {
		n += int64(len(q.S) + len(q.P) + len(q.O) + len(q.G) + 64)
	}
	return n
}

// changes appends what a DELETE/INSERT removes and inserts for a solution.
func (m *filler) changes(remove, insert []term.Quad, op algebra.Modify, row []term.Key) (removed, inserted []term.Quad) {
	n := len(insert)
	insert = m.quads(insert, op.Insert, op.With, row)
	insert = append(insert[:n], slices.DeleteFunc(insert[n:], func(q term.Quad) bool { return !m.isRDF(q) })...)
	return m.quads(remove, op.Delete, op.With, row), insert
}

// quads appends the quads of templates to out.
func (m *filler) quads(out []term.Quad, list []algebra.QuadPattern, with string, row []term.Key) []term.Quad {
	for _, t := range list {
		q, ok := m.triple(t.TriplePattern, row)
		if !ok {
			continue
		}
		switch {
		case t.Graph != (algebra.Node{}):
			if q.G = m.node(t.Graph, row); q.G.Kind() != term.KindIRI && q.G.Kind() != term.KindBlank {
				continue
			}
		case with != "":
			q.G = term.IRI(with)
		}
		out = append(out, q)
	}
	return out
}
