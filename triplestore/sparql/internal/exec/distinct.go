package exec

import (
	"slices"

	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// distinct returns each row once.
type distinct struct {
	in        op
	q         *query
	seen      *idSet
	streaming bool
	last      []term.ID
	row       []term.ID
	p         *pairs
	any       bool
}

func (q *query) openDistinct(n *plan.Distinct, in op, cols []int) op {
	d := &distinct{in: in, q: q, streaming: n.Streaming, row: make([]term.ID, len(cols))}
	d.p = newPairs(n.Cols, cols, nil, q.opts.BatchSize)
	d.seen = newIDSet(len(cols), q.budget)
	d.last = make([]term.ID, len(cols))
	return d
}

func (d *distinct) next() (*batch, error) {
	for {
		if err := d.q.check(); err != nil {
			return nil, err
		}
		b, err := d.in.next()
		if b == nil || err != nil {
			return nil, err
		}
		for i := range b.n {
			for c := range d.row {
				d.row[c] = b.cols[c][i]
			}
			fresh := false
			if d.streaming {
				if fresh = !d.any || !slices.Equal(d.row, d.last); fresh {
					copy(d.last, d.row)
				}
			} else if _, fresh, err = d.seen.add(d.row); err != nil {
				return nil, err
			}
			d.any = true
			if fresh {
				d.p.l = append(d.p.l, int32(i))
			}
		}
		if len(d.p.l) > 0 {
			return d.p.rowsOf(b.cols), nil
		}
	}
}

func (d *distinct) close() {
	d.in.close()
	d.seen.free()
}
