package triplestore

import (
	"context"
	"fmt"
	"slices"

	"odarchive/triplestore/internal/index"
	"odarchive/triplestore/term"
)

// Replace removes quads and then inserts others, as one commit, and reclaims the space of the removed ones. each hands
// the quads to its arguments, in any order: a quad that is both removed and inserted is there afterwards. Removing a
// quad that the store does not have, inserting one that it has, and repetitions are no errors. If each or anything else
// fails, the store is unchanged.
//
// Memory is bounded by Options.LoadMemory; more quads wait in temporary files. Other writers wait only after each has
// returned, so it may read the store.
func (s *Store) Replace(ctx context.Context, each func(remove, insert func(term.Quad) error) error) error {
	if s.closed.Load() {
		return ErrClosed
	}
	r := &remover{runs: &loader{s: s}}
	defer r.runs.close()
	fresh := &quadSpool{dir: s.opts.TempDir}
	defer fresh.close()
	err := r.collect(ctx, func(remove func(term.Quad) error) error {
		return each(remove, func(q term.Quad) error {
			if err := checkQuad(q); err != nil {
				return err
			}
			if fresh.n%4096 == 0 && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return fresh.add(q)
		})
	})
	if err == nil {
		err = fresh.rewind()
	}
	if err != nil {
		return fmt.Errorf("triplestore: replace: %w", err)
	}
	if r.runs.chunks == 0 && fresh.n == 0 {
		return nil
	}
	return s.bulk(ctx, "replace", func(w *blockWriter, parts *partWriter) error {
		in := &loader{s: s, w: w, in: fresh}
		defer in.close()
		if err := in.read(ctx); err != nil {
			return err
		}
		fresh.close()
		if err := w.addTerms(ctx, w.sn.state.terms, nil); err != nil {
			return err
		}
		return w.replace(ctx, parts, r.runs, in)
	})
}

// replace removes the rows of one loader from the blocks and adds those of another. Its record in the change log has
// the removed quads before the added ones.
func (w *blockWriter) replace(ctx context.Context, parts *partWriter, removed, inserted *loader) error {
	rows := func(l index.Layout) (*changedRows, error) {
		out, err := removed.rows(l)
		if err != nil {
			return nil, err
		}
		in, err := inserted.rows(l)
		if err != nil {
			return nil, err
		}
		c := &changedRows{layout: l, removed: rowReader{rows: out}, inserted: rowReader{rows: in}}
		c.stored.rows = w.sn.index.Layout(l)
		return c, nil
	}
	logged := func(sign int8) func(index.Change) error {
		one := make([]term.IDQuad, 1)
		return func(c index.Change) error {
			if c.Sign != sign {
				return nil
			}
			one[0] = c.Quad
			return parts.add(one, sign)
		}
	}
	sign := int8(-1)
	if inserted.chunks > 0 && removed.chunks > 0 {
		c, err := rows(index.GSPO)
		if err != nil {
			return err
		}
		c.each = logged(-1)
		for {
			q, err := c.Next()
			if err != nil {
				return err
			}
			if len(q) == 0 {
				break
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
		}
	}
	if inserted.chunks > 0 {
		sign = 1
	}
	return w.invert(ctx, func(l index.Layout) (index.Rows, error) {
		c, err := rows(l)
		if err == nil && l == index.GSPO {
			c.each = logged(sign)
		}
		return c, err
	})
}

// changedRows returns the rows that a Replace changes in one layout: the stored ones that are removed and not
// inserted, and the inserted ones that are not stored.
type changedRows struct {
	layout                    index.Layout
	removed, inserted, stored rowReader
	each                      func(index.Change) error // called for every row that is returned; may be nil
	out                       []term.IDQuad
}

// maxChangedRows is how many rows changedRows returns at a time, at most.
const maxChangedRows = 4096

// Next implements index.Rows.
func (c *changedRows) Next() ([]term.IDQuad, error) {
	c.out = c.out[:0]
	for len(c.out) < maxChangedRows {
		out, in, err := c.more()
		if err != nil {
			return nil, err
		}
		if !out && !in {
			c.stored.close()
			break
		}
		q := c.inserted.head()
		if a := c.removed.head(); !in || out && c.layout.Tuple(a).Less(c.layout.Tuple(q)) {
			q, in = a, false
		}
		if out = out && c.removed.head() == q; out {
			c.removed.skip()
		}
		if in {
			c.inserted.skip()
		}
		there, err := c.has(q)
		if err != nil {
			return nil, err
		}
		if there == in { // it is there and stays, or it was not there to be removed
			continue
		}
		c.out = append(c.out, q)
		if c.each != nil {
			sign := int8(1)
			if there {
				sign = -1
			}
			if err := c.each(index.Change{Quad: q, Sign: sign}); err != nil {
				return nil, err
			}
		}
	}
	return c.out, nil
}

// more reports whether rows are left to remove and to insert.
func (c *changedRows) more() (out, in bool, err error) {
	if out, err = c.removed.more(); err == nil {
		in, err = c.inserted.more()
	}
	return out, in, err
}

// has reports whether a row is stored. The rows must come in order.
func (c *changedRows) has(q term.IDQuad) (bool, error) {
	want := c.layout.Tuple(q)
	for {
		if more, err := c.stored.more(); !more || err != nil {
			return false, err
		}
		at := c.stored.at
		if !c.layout.Tuple(at[len(at)-1]).Less(want) {
			break
		}
		c.stored.at = nil
	}
	n := 0
	if c.layout.Tuple(c.stored.at[0]).Less(want) {
		n, _ = slices.BinarySearchFunc(c.stored.at, want, func(q term.IDQuad, t index.Tuple) int {
			if c.layout.Tuple(q).Less(t) {
				return -1
			}
			return 1
		})
	}
	c.stored.at = c.stored.at[n:]
	return c.stored.at[0] == q, nil
}

// rowReader reads rows one by one.
type rowReader struct {
	rows  index.Rows
	at    []term.IDQuad
	ended bool
}

// more reports whether there is a row.
func (r *rowReader) more() (bool, error) {
	if len(r.at) > 0 || r.ended {
		return !r.ended, nil
	}
	var err error
	r.at, err = r.rows.Next()
	r.ended = err != nil || len(r.at) == 0
	return !r.ended, err
}

// head returns the next row; it is zero if there is none.
func (r *rowReader) head() term.IDQuad {
	if r.ended {
		return term.IDQuad{}
	}
	return r.at[0]
}

func (r *rowReader) skip() { r.at = r.at[1:] }

func (r *rowReader) close() {
	r.ended = true
	if c, ok := r.rows.(term.Cursor); ok {
		c.Close()
	}
}
