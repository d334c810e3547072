package exec

import (
	"odarchive/triplestore/sparql/internal/expr"
	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// counts answers COUNT over a pattern from the dataset's exact statistics, with one row for each value of a position.
type counts struct {
	q    *query
	node *plan.Counts
	loop *scan
	out  batch
	done bool
}

func (c *counts) next() (*batch, error) {
	if c.done {
		return nil, nil
	}
	n := c.node
	if n.By < 0 {
		c.done = true
		total, err := c.count(n.Pos)
		if err != nil {
			return nil, err
		}
		return c.rows(nil, []int64{total})
	}
	if c.loop == nil {
		by := n.Pos[n.By].Slot
		s := &plan.Scan{Pos: n.Pos, Order: n.Order, OneEach: true}
		s.Cols = []int{by}
		for i := range s.Pos[:3] {
			if i != n.By && s.Pos[i].ID == 0 {
				s.Pos[i].Slot = -1
			}
		}
		c.loop = c.q.openScan(s)
	}
	b, err := c.loop.next()
	if b == nil || err != nil {
		c.done = true
		return nil, err
	}
	totals := make([]int64, b.n)
	for i, id := range b.cols[0][:b.n] {
		pos := n.Pos
		pos[n.By] = plan.Pos{ID: id, Slot: -1}
		if totals[i], err = c.count(pos); err != nil {
			return nil, err
		}
	}
	return c.rows(b.cols[0][:b.n], totals)
}

// count returns the number of quads that match a pattern. It reads them if the estimate is not exact.
func (c *counts) count(pos [4]plan.Pos) (int64, error) {
	p := term.Pattern{S: pos[0].ID, P: pos[1].ID, O: pos[2].ID, G: pos[3].ID}
	if hasLocal(p) {
		return 0, nil
	}
	if e := c.q.ds.Estimate(p); e.Exact {
		return int64(e.Count), nil
	}
	src := c.q.source(pos, c.node.Order)
	defer src.close()
	n := int64(0)
	for {
		quads, err := src.next()
		if err != nil {
			return 0, err
		}
		if len(quads) == 0 {
			return n, nil
		}
		n += int64(len(quads))
	}
}

func (c *counts) rows(by []term.ID, totals []int64) (*batch, error) {
	col := make([]term.ID, len(totals))
	for i, n := range totals {
		id, err := c.q.valueID(expr.NewInt(n))
		if err != nil {
			return nil, err
		}
		col[i] = id
	}
	c.out.n = len(totals)
	c.out.cols = c.out.cols[:0]
	for _, s := range c.node.Cols {
		if by != nil && s == c.node.Pos[c.node.By].Slot {
			c.out.cols = append(c.out.cols, by)
		} else {
			c.out.cols = append(c.out.cols, col)
		}
	}
	return &c.out, nil
}

func (c *counts) close() {
	c.done = true
	if c.loop != nil {
		c.loop.close()
	}
}
