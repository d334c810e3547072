package index

import (
	"slices"

	"odarchive/triplestore/term"
)

// rowSource returns the quads in blocks, as of one state. nil means that there are none.
type rowSource interface {
	// next returns the next rows of the range, sorted, or none at its end. They belong to the source.
	next() ([]term.IDQuad, error)
	// seek skips everything before a tuple.
	seek(Tuple)
	close()
}

// source returns the rows of a range in all tiers.
func (s *State) source(r Range) rowSource {
	var in []*feed
	for _, t := range s.Base.all() {
		if b := s.blockSource(t, r); b != nil {
			in = append(in, &feed{src: b})
		}
	}
	switch len(in) {
	case 0:
		return nil
	case 1:
		return in[0].src
	}
	return &mergedSource{layout: r.Layout, in: in}
}

// blockSource reads the rows of a range in one tier block by block.
type blockSource struct {
	s       *State
	level   *level
	r       Range
	i, to   int // the blocks still to be read
	read    int // number of blocks read consecutively
	scratch []term.IDQuad
}

// readAhead is the number of consecutive blocks after which a scan no longer evicts other blocks from the cache.
const readAhead = 16

func (s *State) blockSource(t *tier, r Range) *blockSource {
	l := &t.levels[r.Layout]
	from, to := l.blocks(r)
	if from == to {
		return nil
	}
	return &blockSource{s: s, level: l, r: r, i: from, to: to}
}

func (b *blockSource) next() ([]term.IDQuad, error) {
	for b.i < b.to {
		var buf *[]term.IDQuad
		if b.read++; b.read > readAhead || b.s.bulk {
			buf = &b.scratch
		}
		rows, err := b.s.load(b.r.Layout, b.level.fences[b.i].id, buf)
		if err != nil {
			return nil, err
		}
		b.i++
		if rows = b.r.clip(rows); len(rows) > 0 {
			return rows, nil
		}
	}
	return nil, nil
}

func (b *blockSource) seek(t Tuple) {
	if !b.r.From.Less(t) {
		return
	}
	b.r.From = t
	if to := b.level.reach(b.i, t); to > b.i {
		b.i = min(to, b.to)
		b.read = 0
	}
}

func (b *blockSource) close() { b.i = b.to }

// bound returns a tuple that no row still to be read is less than.
func (b *blockSource) bound() Tuple {
	if b.i < b.to && b.r.From.Less(b.level.fences[b.i].first) {
		return b.level.fences[b.i].first
	}
	return b.r.From
}

// mergedSource merges the rows of several tiers. It reads a block only when all before it are used up, so that a short
// scan reads few.
type mergedSource struct {
	layout Layout
	in     []*feed
	out    []term.IDQuad
}

// feed is the rest of a tier's rows.
type feed struct {
	src  *blockSource
	rows []term.IDQuad // read, not yet returned
}

func (f *feed) at(l Layout) Tuple {
	if len(f.rows) > 0 {
		return l.Tuple(f.rows[0])
	}
	return f.src.bound()
}

// passRows is the number of consecutive rows of one tier from which on they are returned where they are, not copied.
const passRows = 128

func (m *mergedSource) next() ([]term.IDQuad, error) {
	out := m.out[:0]
	for len(m.in) > 0 {
		k, second := m.least()
		f := m.in[k]
		if len(f.rows) == 0 {
			var err error
			if f.rows, err = f.src.next(); err != nil {
				return nil, err
			}
			if len(f.rows) == 0 {
				m.in = slices.Delete(m.in, k, k+1)
			}
			continue
		}
		n := len(f.rows)
		if len(m.in) > 1 && second.Less(m.layout.Tuple(f.rows[n-1])) {
			n = max(1, gallop(m.layout, f.rows, second))
		}
		rows := f.rows[:n]
		if len(out) == 0 && n >= passRows {
			f.rows = f.rows[n:]
			return rows, nil
		}
		if len(out)+n > batchRows && len(out) > 0 {
			break
		}
		f.rows = f.rows[n:]
		out = append(out, rows...)
	}
	m.out = out
	return out, nil
}

// least returns the feed with the least next row and the next row of the others. If that of a feed is not known,
// because its block has not been read, it may be greater than assumed, so such a feed precedes one that seems equal.
func (m *mergedSource) least() (k int, second Tuple) {
	at := m.in[0].at(m.layout)
	for i, f := range m.in[1:] {
		t := f.at(m.layout)
		if t.Less(at) || t == at && len(f.rows) == 0 {
			k, at, t = i+1, t, at
		}
		if i == 0 || t.Less(second) {
			second = t
		}
	}
	return k, second
}

func (m *mergedSource) seek(t Tuple) {
	for _, f := range m.in {
		if n := len(f.rows); n > 0 && !m.layout.Tuple(f.rows[n-1]).Less(t) {
			f.rows = f.rows[gallop(m.layout, f.rows, t):]
		} else {
			f.rows = nil
			f.src.seek(t)
		}
	}
}

func (m *mergedSource) close() { m.in = nil }

// walker finds tuples, in ascending order, in a source.
type walker struct {
	layout Layout
	src    rowSource // nil if there are no rows
	rows   []term.IDQuad
}

// seek returns the first tuple that is not less than t.
func (w *walker) seek(t Tuple) (at Tuple, ok bool, err error) {
	for {
		if n := len(w.rows); n > 0 && !w.layout.Tuple(w.rows[n-1]).Less(t) {
			w.rows = w.rows[gallop(w.layout, w.rows, t):]
			return w.layout.Tuple(w.rows[0]), true, nil
		}
		w.rows = nil
		if w.src == nil {
			return Tuple{}, false, nil
		}
		w.src.seek(t)
		if w.rows, err = w.src.next(); err != nil {
			return Tuple{}, false, err
		}
		if len(w.rows) == 0 {
			w.src = nil
		}
	}
}

// has reports whether a range, which must not begin before an earlier one, has a tuple. It avoids reading blocks of
// which the fences say enough.
func (w *walker) has(r Range) (bool, error) {
	b, ok := w.src.(*blockSource)
	if n := len(w.rows); ok && (n == 0 || w.layout.Tuple(w.rows[n-1]).Less(r.From)) {
		w.rows = nil
		b.seek(r.From)
		if b.i == b.to || !b.bound().Less(r.To) {
			return false, nil
		}
		if r.From.Less(b.bound()) {
			return true, nil
		}
	}
	at, ok, err := w.seek(r.From)
	return ok && at.Less(r.To), err
}
