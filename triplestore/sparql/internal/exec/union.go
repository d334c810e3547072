package exec

import (
	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// union returns the rows of one branch after the other.
type union struct {
	q    *query
	node *plan.Union
	at   int
	cur  op
	open []op // the branches, if they ask other endpoints, which shall answer at the same time
	cols []int
	out  batch
	zero []term.ID
}

func (q *query) openUnion(n *plan.Union) (op, error) {
	u := &union{q: q, node: n, zero: make([]term.ID, q.opts.BatchSize)}
	if !plan.Federated(n) {
		return u, nil
	}
	for _, branch := range n.Branches {
		o, err := q.open(branch)
		if err != nil {
			u.close()
			return nil, err
		}
		u.open = append(u.open, o)
	}
	return u, nil
}

// branch returns the operator of the next branch.
func (u *union) branch() (op, error) {
	if len(u.open) == 0 {
		return u.q.open(u.node.Branches[u.at])
	}
	o := u.open[0]
	u.open = u.open[1:]
	return o, nil
}

func (u *union) next() (*batch, error) {
	for {
		if u.cur == nil {
			if u.at >= len(u.node.Branches) {
				return nil, nil
			}
			branch := u.node.Branches[u.at]
			o, err := u.branch()
			if err != nil {
				return nil, err
			}
			u.cur, u.cols = o, indexes(branch.Info().Cols, u.node.Cols)
			u.at++
		}
		b, err := u.cur.next()
		if err != nil {
			return nil, err
		}
		if b == nil {
			u.cur.close()
			u.cur = nil
			if err := u.q.check(); err != nil {
				return nil, err
			}
			continue
		}
		u.out.n = b.n
		u.out.cols = u.out.cols[:0]
		for _, c := range u.cols {
			switch {
			case c >= 0:
				u.out.cols = append(u.out.cols, b.cols[c])
			default:
				if len(u.zero) < b.n {
					u.zero = make([]term.ID, b.n)
				}
				u.out.cols = append(u.out.cols, u.zero)
			}
		}
		return &u.out, nil
	}
}

func (u *union) close() {
	u.at = len(u.node.Branches)
	for _, o := range u.open {
		o.close()
	}
	u.open = nil
	if u.cur != nil {
		u.cur.close()
		u.cur = nil
	}
}
