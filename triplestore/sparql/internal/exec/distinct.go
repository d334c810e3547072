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
	later     *laterRows // rows that are not in seen, which is full; nil until then
	ended     bool
}

func (q *query) openDistinct(n *plan.Distinct, in op, cols []int) op {
	d := &distinct{in: in, q: q, streaming: n.Streaming, row: make([]term.ID, len(cols))}
	d.p = q.newPairs(n.Cols, cols, nil)
	d.seen = newIDSet(len(cols), q.budget)
	d.last = make([]term.ID, len(cols))
	return d
}

func (d *distinct) next() (*batch, error) {
	for {
		if err := d.q.check(); err != nil {
			return nil, err
		}
		if d.ended {
			return d.later.next()
		}
		b, err := d.in.next()
		if err != nil {
			return nil, err
		}
		if b == nil {
			if d.later == nil {
				return nil, nil
			}
			d.ended = true
			d.seen.free()
			if err := d.later.finish(); err != nil {
				return nil, err
			}
			continue
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
			} else if fresh, err = d.add(); err != nil {
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

// add reports whether the current row is new. When the set is full, rows that are not in it are kept for later.
func (d *distinct) add() (fresh bool, err error) {
	if d.later == nil {
		if d.q.opts.Spill == nil || len(d.row) == 0 || d.seen.paid < d.q.budget.share() {
			_, fresh, err = d.seen.add(d.row)
			if err == nil || len(d.row) == 0 || !d.q.canSpill(err) {
				return fresh, err
			}
		}
		d.later = &laterRows{d: d, parts: partitions{q: d.q}}
	}
	if nr, _ := d.seen.find(d.row); nr >= 0 {
		return false, nil
	}
	return false, d.later.add(d.row)
}

func (d *distinct) close() {
	d.in.close()
	d.later.close()
	d.seen.free()
	d.p.free()
}
