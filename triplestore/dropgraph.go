package triplestore

import (
	"context"
	"fmt"

	"odarchive/triplestore/internal/index"
	"odarchive/triplestore/term"
)

// DropGraph removes a graph as one commit and reclaims its space. The empty key is the default graph. Memory use does
// not grow with the graph. Other writers wait until DropGraph returns; a small graph is removed in an ordinary
// transaction.
func (s *Store) DropGraph(ctx context.Context, g term.Key) error {
	var small bool
	err := s.View(ctx, func(sn *Snapshot) error {
		id, ok, err := sn.Graph(g)
		if err != nil || !ok {
			small = true
			return err
		}
		small = sn.Estimate(term.Pattern{G: id}).Count <= smallGraph
		return nil
	})
	if err != nil {
		return fmt.Errorf("triplestore: drop graph: %w", err)
	}
	if small {
		return s.Update(ctx, func(t *Txn) error { return t.ClearGraph(g) })
	}
	return s.bulk(ctx, "drop graph", func(w *blockWriter, parts *partWriter) error {
		id, ok, err := w.sn.Graph(g)
		if err != nil || !ok {
			return err
		}
		return w.remove(ctx, parts, func(l index.Layout) (index.Rows, error) {
			if !l.Holds(id) {
				return index.RowsOf(nil), nil
			}
			return w.sn.Scan(term.Pattern{G: id}, l.Order()), nil
		})
	})
}

// smallGraph is the maximum number of quads that DropGraph removes one by one in a transaction.
const smallGraph = 4 << 10

// Clear removes all quads as one commit. Other writers wait until it returns.
func (s *Store) Clear(ctx context.Context) error {
	return s.bulk(ctx, "clear", func(w *blockWriter, parts *partWriter) error {
		return w.remove(ctx, parts, func(l index.Layout) (index.Rows, error) { return w.sn.index.Layout(l), nil })
	})
}

// remove removes rows, which must exist, from the blocks.
func (w *blockWriter) remove(ctx context.Context, parts *partWriter, rows func(index.Layout) (index.Rows, error)) error {
	if err := w.addTerms(ctx, w.sn.state.terms, nil); err != nil {
		return err
	}
	return w.invert(ctx, func(l index.Layout) (index.Rows, error) {
		r, err := rows(l)
		if err == nil && l == index.GSPO {
			r = &loggedRows{r, parts}
		}
		return r, err
	})
}

// loggedRows writes the rows that pass through it to the change log as removals.
type loggedRows struct {
	rows  index.Rows
	parts *partWriter
}

func (t *loggedRows) Next() ([]term.IDQuad, error) {
	rows, err := t.rows.Next()
	if err != nil {
		return nil, err
	}
	return rows, t.parts.add(rows, -1)
}
