package exec

import (
	"slices"

	"odarchive/triplestore/term"
)

// chain is one copy of the operators of a Parallel, with its output that waits to be returned.
type chain struct {
	q     *query
	op    op
	feed  *feed
	all   []int
	rows  *block
	keys  [][]term.Key // terms of rows, by column; nil unless they are wanted
	fresh [][]term.Key // terms of the last batch
	sent  int

	sum    *group // groups of the portion's first rows; nil unless they are wanted
	summed int    // how many rows they have
	out    batch
}

func (p *parallel) newChain() (*chain, error) {
	q := p.q.fork(p.ctx)
	c := &chain{q: q, all: identity(len(p.node.Cols))}
	c.feed = &feed{rows: make([][]term.ID, len(p.node.Source.Info().Cols)), size: q.opts.BatchSize}
	q.leaf, q.feed, q.sides = p.node.Source, c.feed, p.sides
	var err error
	if c.op, err = q.open(p.node.In); err != nil {
		return nil, err
	}
	c.rows = newBlock(len(p.node.Cols), q.budget)
	if p.node.Terms {
		c.keys, c.fresh = make([][]term.Key, len(p.node.Cols)), make([][]term.Key, len(p.node.Cols))
	}
	return c, nil
}

// step runs the operators for one batch.
func (c *chain) step() (*batch, error) {
	if err := c.q.check(); err != nil {
		return nil, err
	}
	b, err := c.op.next()
	if b == nil || err != nil || c.keys == nil {
		return b, err
	}
	c.out.n, c.out.cols = b.n, b.cols[:len(c.keys)]
	for i := range c.fresh {
		c.fresh[i] = slices.Grow(c.fresh[i][:0], b.n)[:b.n]
		if err := c.q.terms.resolve(b.cols[i][:b.n], c.fresh[i]); err != nil {
			return nil, err
		}
	}
	c.out.keys = c.fresh
	return &c.out, nil
}

// fill computes the output of a portion until it is complete, maxWaiting rows wait, or enough returns true.
func (p *parallel) fill(x *portion, enough func() bool) {
	c := x.c
	sum := x.sum
	for !x.done && c.rows.n < maxWaiting && (enough == nil || !enough()) {
		b, err := c.step()
		kept := false
		if b != nil && err == nil && sum {
			kept, sum, err = p.sumUp(c, b)
		}
		if b != nil && err == nil && !kept {
			err = c.keep(b)
		}
		if b == nil || err != nil {
			x.done, x.err = true, err
			return
		}
	}
}

// keySize is what a waiting key costs: its header. The texts are mostly those of caches.
const keySize = 16

func (c *chain) keep(b *batch) error {
	if err := c.rows.add(b, c.all); err != nil || c.keys == nil {
		return err
	}
	for i, k := range b.keys {
		c.keys[i] = append(c.keys[i], k...)
	}
	size := keySize * b.n * len(b.keys)
	c.rows.paid += size
	return c.rows.budget.reserve(size)
}

// next returns the output that waits, then computes the rest.
func (x *portion) next() (*batch, error) {
	c := x.c
	if c != nil && c.sent < c.rows.n {
		from, to := c.sent, min(c.rows.n, c.sent+c.q.opts.BatchSize)
		c.sent = to
		c.out.n, c.out.cols, c.out.keys = to-from, c.out.cols[:0:0], nil
		for _, col := range c.rows.cols {
			c.out.cols = append(c.out.cols, col[from:to])
		}
		for _, k := range c.keys {
			c.out.keys = append(c.out.keys, k[from:to])
		}
		return &c.out, nil
	}
	if x.done {
		return nil, x.err
	}
	b, err := c.step()
	x.done, x.err = b == nil || err != nil, err
	return b, err
}

func (c *chain) reset() {
	c.rows.reset()
	for i := range c.keys {
		clear(c.keys[i])
		c.keys[i] = c.keys[i][:0]
	}
	c.sent, c.summed = 0, 0
	if c.sum != nil {
		c.sum.reset()
	}
	c.feed.n, c.feed.at = 0, 0
	rewind(c.op)
}

func (c *chain) close() {
	c.op.close()
	c.rows.free()
	if c.sum != nil {
		c.sum.free()
	}
}

// feed is the input of a chain: the rows of a portion.
type feed struct {
	rows [][]term.ID
	size int // of a batch
	n    int
	at   int
	out  batch
}

// portionSize is the maximum number of batches in a portion.
const portionSize = 4

// grow makes room for rows rows. It does not keep the old ones.
func (f *feed) grow(rows int) {
	if len(f.rows) > 0 && len(f.rows[0]) < rows {
		f.rows = newCols(len(f.rows), rows)
	}
}

func (f *feed) next() (*batch, error) {
	if f.at >= f.n {
		return nil, nil
	}
	from := f.at
	f.at = min(f.n, from+f.size)
	return f.out.setPart(f.rows, from, f.at), nil
}

func (f *feed) close() {}

// rewinder is an operator that treats each row of its input by itself. After rewind it continues once its input, which
// had ended, has more rows.
type rewinder interface{ rewind() }

func rewind(o op) {
	if r, ok := o.(rewinder); ok {
		r.rewind()
	}
}

func (f *filter) rewind()  { rewind(f.in) }
func (e *extend) rewind()  { rewind(e.in) }
func (r *rename) rewind()  { rewind(r.in) }
func (p *project) rewind() { rewind(p.in) }
func (t *traced) rewind()  { rewind(t.op) }

func (h *hashJoin) rewind() {
	h.ended, h.lb = false, nil
	rewind(h.l)
}

func (b *bind) rewind() {
	b.ended, b.inEnd = false, false
	rewind(b.in)
}

func (j *pathJoin) rewind() {
	j.ended = false
	rewind(j.in)
}
