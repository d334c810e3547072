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
	many := u.remover != nil && len(m.Insert) == 0
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
		remove = fill.quads(remove, m.Delete, m.With, row)
		insert = fill.quads(insert, m.Insert, m.With, row)
		insert = append(insert[:ni], slices.DeleteFunc(insert[ni:], func(q term.Quad) bool { return !fill.isRDF(q) })...)
		err = u.hold(sizeOf(remove[nr:]) + sizeOf(insert[ni:]))
		if many && (err != nil || u.held > u.engine.opts.Memory/4) { // a transaction needs more than the list
			return nil, nil, u.removeMany(in, fill, m, remove)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("the changes of one request: %w", err)
		}
	}
}

// removeMany removes a list of quads and those of all further solutions, without a list of them.
func (u *updateRun) removeMany(in solutions, fill *filler, m algebra.Modify, list []term.Quad) error {
	u.removed = true
	var buffer []term.Quad
	return u.remover.Remove(u.ctx, func(remove func(term.Quad) error) error {
		for {
			for _, q := range list {
				if err := remove(q); err != nil {
					return err
				}
			}
			u.done.Deleted += int64(len(list))
			list = nil // the first was long
			u.release()
			row, err := in.Next()
			if errors.Is(err, io.EOF) {
				in.Close() // its memory is not needed while the store writes
				return u.ctx.Err()
			}
			if err != nil {
				return err
			}
			fill.n++
			buffer = fill.quads(buffer[:0], m.Delete, m.With, row)
			list = buffer
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
