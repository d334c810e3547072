package index

import (
	"context"

	"odarchive/triplestore/term"
)

// Apply returns a new base with the changes of a run. A removed quad must exist, an added one must not.
func (m *Merger) Apply(ctx context.Context, base *Base, run *Run) (*Merged, error) {
	changed := run.in(GSPO)
	n := len(changed.rows)
	added := (n + int(changed.sums[n])) / 2
	k := base.target(uint64(added))
	parts := make([]rowsOf, k+1)
	parts[k] = always(run.Rows)
	if added == n || k == 0 {
		return m.merge(ctx, base, parts)
	}
	runs, err := m.split(ctx, base.tiers[:k], run)
	if err != nil {
		return nil, err
	}
	for i, r := range runs {
		if parts[i] = nil; r.Len() > 0 {
			parts[i] = always(r.Rows)
		}
	}
	return m.merge(ctx, base, parts)
}

// split returns for each tier the removals that concern it, and last everything else.
func (m *Merger) split(ctx context.Context, tiers []*tier, run *Run) ([]*Run, error) {
	s := &State{Reader: m.Reader, Cache: m.Cache}
	out := make([][]Change, len(tiers)+1)
	var failed error
	seen := 0
	run.Changes(func(c Change) {
		if seen++; seen%4096 == 0 && failed == nil && ctx.Err() != nil {
			failed = context.Cause(ctx)
		}
		i := len(tiers)
		if c.Sign < 0 && failed == nil {
			for k, t := range tiers {
				there, err := s.stored(t, c.Quad)
				if err != nil {
					failed = err
				}
				if there {
					i = k
					break
				}
			}
		}
		out[i] = append(out[i], c)
	})
	if failed != nil {
		return nil, failed
	}
	runs := make([]*Run, len(out))
	for i, changes := range out {
		runs[i] = NewRun(changes)
	}
	return runs, nil
}

// Invert returns a new base, of one tier, without those of the rows that an old one has and with the others.
func (m *Merger) Invert(ctx context.Context, base *Base, rows func(Layout) (Rows, error)) (*Merged, error) {
	return m.merge(ctx, base, []rowsOf{always(rows)})
}

// Fold returns a new base with the same quads in one tier.
func (m *Merger) Fold(ctx context.Context, base *Base) (*Merged, error) {
	return m.merge(ctx, base, []rowsOf{nil})
}

// Add returns a new base with those of rows that an old one does not have. There are at most n rows. Add calls added
// with the rows actually added, in GSPO order.
func (m *Merger) Add(ctx context.Context, base *Base, n uint64, rows func(Layout) (Rows, error), added func([]term.IDQuad) error) (*Merged,
	error) {
	a := &adding{old: &State{Base: base, Reader: m.Reader, Cache: m.Cache, bulk: true}, rows: rows, added: added,
		ready: make(chan struct{})}
	k := base.target(n)
	parts := make([]rowsOf, k+1)
	parts[k] = a.in
	return m.merge(ctx, base, parts)
}

// maxKnown is the number of quads that exist already from which on each layout looks for them itself.
const maxKnown = 1 << 19

// adding leaves out rows that exist. The layout that is merged first, GSPO, finds them in the blocks. Usually they are
// few: a quad with a new subject is behind all others there, and no block need be read. In the other layouts new and
// old quads are mixed, so these wait for the list.
type adding struct {
	old   *State
	rows  func(Layout) (Rows, error)
	added func([]term.IDQuad) error

	ready chan struct{} // closed when known is complete
	known []term.IDQuad // rows that exist, in GSPO order; of no use if there are more than maxKnown
	many  bool
	by    *Sorter // of known
}

func (a *adding) in(ctx context.Context, l Layout) (Rows, error) {
	rows, err := a.rows(l)
	if err != nil {
		return nil, err
	}
	if l != GSPO && len(a.old.Base.all()) == 0 { // nothing exists
		return rows, nil
	}
	stored := &walker{layout: l, src: a.old.source(Range{Layout: l})}
	if l == GSPO {
		return &absentRows{layout: l, rows: rows, stored: stored, added: a.added, found: a.found, ended: a.complete}, nil
	}
	select {
	case <-a.ready:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if !a.many {
		if len(a.known) == 0 {
			return rows, nil
		}
		stored = &walker{layout: l, rows: a.by.Sorted(l, nil)}
	}
	return &absentRows{layout: l, rows: rows, stored: stored}, nil
}

func (a *adding) found(q term.IDQuad) {
	if a.many = a.many || len(a.known) == maxKnown; !a.many {
		a.known = append(a.known, q)
	}
}

func (a *adding) complete() {
	if !a.many && len(a.known) > 0 {
		a.by = NewSorter(a.known)
	}
	close(a.ready)
}

// absentRows returns those of sorted rows that are not stored.
type absentRows struct {
	layout Layout
	rows   Rows
	stored *walker
	added  func([]term.IDQuad) error // called with what is returned; may be nil
	found  func(term.IDQuad)         // called with the others; may be nil
	ended  func()                    // called at the end; may be nil
	out    []term.IDQuad
}

// Next implements Rows.
func (a *absentRows) Next() ([]term.IDQuad, error) {
	for {
		rows, err := a.rows.Next()
		if err != nil {
			return nil, err
		}
		if len(rows) == 0 {
			if a.ended != nil {
				a.ended()
				a.ended = nil
			}
			return nil, nil
		}
		if rows, err = a.absent(rows); err != nil {
			return nil, err
		}
		if len(rows) == 0 {
			continue
		}
		if a.added != nil {
			err = a.added(rows)
		}
		return rows, err
	}
}

func (a *absentRows) absent(rows []term.IDQuad) ([]term.IDQuad, error) {
	a.out = a.out[:0]
	for len(rows) > 0 {
		at, ok, err := a.stored.seek(a.layout.Tuple(rows[0]))
		if err != nil {
			return nil, err
		}
		n := len(rows)
		if ok {
			n = gallop(a.layout, rows, at)
		}
		if len(a.out) == 0 && n == len(rows) {
			return rows, nil
		}
		a.out = append(a.out, rows[:n]...)
		if rows = rows[n:]; len(rows) > 0 && ok && a.layout.Tuple(rows[0]) == at {
			if a.found != nil {
				a.found(rows[0])
			}
			rows = rows[1:]
		}
	}
	return a.out, nil
}

// differing returns the rows that only one of two sorted sequences has.
type differing struct {
	layout Layout
	in     [2]Rows
	rows   [2][]term.IDQuad
	ended  [2]bool
	out    []term.IDQuad
}

// Next implements Rows.
func (d *differing) Next() ([]term.IDQuad, error) {
	out := d.out[:0]
	for len(out) < batchRows {
		for i := range d.in {
			if len(d.rows[i]) > 0 || d.ended[i] {
				continue
			}
			rows, err := d.in[i].Next()
			if err != nil {
				return nil, err
			}
			d.rows[i], d.ended[i] = rows, len(rows) == 0
		}
		a, b := d.rows[0], d.rows[1]
		switch {
		case len(a) == 0 || len(b) == 0:
			if len(out) > 0 {
				d.out = out
				return out, nil
			}
			d.rows = [2][]term.IDQuad{}
			if len(a) > 0 {
				return a, nil
			}
			return b, nil
		case a[0] == b[0]:
			d.rows = [2][]term.IDQuad{a[1:], b[1:]}
		case d.layout.Tuple(a[0]).Less(d.layout.Tuple(b[0])):
			n := gallop(d.layout, a, d.layout.Tuple(b[0]))
			out, d.rows[0] = append(out, a[:n]...), a[n:]
		default:
			n := gallop(d.layout, b, d.layout.Tuple(a[0]))
			out, d.rows[1] = append(out, b[:n]...), b[n:]
		}
	}
	d.out = out
	return out, nil
}
