package index

import "odarchive/triplestore/term"

const batchRows = 1024

// rangeCursor reads one range of one layout: rows from blocks, inverted by an overlay, filtered.
type rangeCursor struct {
	plan   Plan
	blocks rowSource // nil if there are no blocks
	tog    *toggles  // nil if the overlay inverts nothing in the range
	rest   []term.IDQuad
	filter bool
	buf    []term.IDQuad
	err    error
	done   bool
}

func newRangeCursor(plan Plan, blocks rowSource, overlay Overlay) *rangeCursor {
	c := &rangeCursor{plan: plan, blocks: blocks, filter: plan.Rest != term.Pattern{}}
	if len(overlay.runs) > 0 {
		if t := overlay.toggles(plan.Range); t.ok {
			c.tog = t
		}
	}
	return c
}

// Next implements term.Cursor.
func (c *rangeCursor) Next() ([]term.IDQuad, error) {
	for {
		rows, err := c.unfiltered()
		if err != nil || len(rows) == 0 {
			return nil, err
		}
		if c.filter {
			rows = c.matching(rows)
		}
		if len(rows) > 0 {
			return rows, nil
		}
	}
}

// unfiltered returns the next rows of the range. If the overlay does not affect a block, these are the block itself.
func (c *rangeCursor) unfiltered() ([]term.IDQuad, error) {
	if c.err != nil || c.done {
		return nil, c.err
	}
	rows := c.rest
	c.rest = nil
	if len(rows) == 0 && c.blocks != nil {
		if rows, c.err = c.blocks.next(); c.err != nil {
			return nil, c.err
		}
	}
	if c.tog == nil || !c.tog.ok {
		c.done = len(rows) == 0
		return rows, nil
	}
	l := c.plan.Range.Layout
	out := c.buf[:0]
	if len(rows) == 0 {
		for c.tog.ok && len(out) < batchRows {
			out = append(out, c.tog.cur)
			c.tog.next()
		}
		c.buf = out
		return out, nil
	}
	last := l.Tuple(rows[len(rows)-1])
	if last.Less(c.tog.at) {
		return rows, nil
	}
	for c.tog.ok && len(rows) > 0 && !last.Less(c.tog.at) {
		n := gallop(l, rows, c.tog.at)
		out = append(out, rows[:n]...)
		if rows = rows[n:]; len(rows) > 0 && rows[0] == c.tog.cur {
			rows = rows[1:]
		} else {
			out = append(out, c.tog.cur)
		}
		c.tog.next()
		if len(out) >= batchRows {
			c.rest = rows
			c.buf = out
			return c.orNext(out)
		}
	}
	out = append(out, rows...)
	c.buf = out
	return c.orNext(out)
}

// orNext returns out, or the next rows if deletions have left nothing in out.
func (c *rangeCursor) orNext(out []term.IDQuad) ([]term.IDQuad, error) {
	if len(out) == 0 {
		return c.unfiltered()
	}
	return out, nil
}

func (c *rangeCursor) matching(rows []term.IDQuad) []term.IDQuad {
	out := c.buf[:0] // rows may be c.buf itself: writing never overtakes reading
	for _, q := range rows {
		if Matches(c.plan.Rest, q) {
			out = append(out, q)
		}
	}
	c.buf = out
	return out
}

// SeekGE implements term.Cursor. It compares in the order of the layout, without a leading fixed graph.
func (c *rangeCursor) SeekGE(q term.IDQuad) {
	l := c.plan.Range.Layout
	if l < SPOG {
		g := c.plan.Range.From[0]
		if q.G > g { // move past this graph's quad with the same subject, predicate and object
			t := l.Tuple(q)
			t[3]++
			q = l.Quad(t)
		}
		q.G = g
	}
	c.seek(l.Tuple(q))
}

func (c *rangeCursor) seek(t Tuple) {
	if c.done || c.err != nil || !c.plan.Range.From.Less(t) {
		return
	}
	if len(c.rest) > 0 {
		c.rest = c.rest[search(c.plan.Range.Layout, c.rest, t):]
	}
	if c.blocks != nil && len(c.rest) == 0 {
		c.blocks.seek(t)
	}
	if c.tog != nil {
		c.tog.seek(t)
	}
}

// Close implements term.Cursor.
func (c *rangeCursor) Close() {
	c.done = true
	c.rest = nil
	if c.blocks != nil {
		c.blocks.close()
		c.blocks = nil
	}
}

// unionCursor merges two cursors without common quads: those of the default graph and of the named graphs.
type unionCursor struct {
	order term.Order
	in    [2]term.Cursor
	rows  [2][]term.IDQuad
	ended [2]bool
	buf   []term.IDQuad
}

// Next implements term.Cursor.
func (c *unionCursor) Next() ([]term.IDQuad, error) {
	for i := range c.in {
		if len(c.rows[i]) == 0 && !c.ended[i] {
			rows, err := c.in[i].Next()
			if err != nil {
				return nil, err
			}
			c.rows[i], c.ended[i] = rows, len(rows) == 0
		}
	}
	a, b := c.rows[0], c.rows[1]
	if len(a) == 0 || len(b) == 0 {
		c.rows = [2][]term.IDQuad{}
		if len(a) > 0 {
			return a, nil
		}
		return b, nil
	}
	l := acrossGraphs(c.order)
	out := c.buf[:0]
	for len(a) > 0 && len(b) > 0 {
		if t := l.Tuple(b[0]); l.Tuple(a[0]).Less(t) {
			n := gallop(l, a, t)
			out, a = append(out, a[:n]...), a[n:]
		} else {
			n := gallop(l, b, l.Tuple(a[0]))
			out, b = append(out, b[:n]...), b[n:]
		}
	}
	c.rows, c.buf = [2][]term.IDQuad{a, b}, out
	return out, nil
}

// SeekGE implements term.Cursor.
func (c *unionCursor) SeekGE(q term.IDQuad) {
	l := acrossGraphs(c.order)
	t := l.Tuple(q)
	for i := range c.in {
		c.rows[i] = c.rows[i][search(l, c.rows[i], t):]
		if len(c.rows[i]) == 0 {
			c.in[i].SeekGE(q)
		}
	}
}

// Close implements term.Cursor.
func (c *unionCursor) Close() {
	for i := range c.in {
		c.in[i].Close()
		c.rows[i], c.ended[i] = nil, true
	}
}
