package exec

import "odarchive/triplestore/sparql/internal/plan"

// each is LATERAL: it runs its right plan for one left row at a time. The right plan reads the row through its Seeds.
type each struct {
	q    *query
	node *plan.Lateral
	l    op
	lb   *batch
	row  int
	seed *block
	from []int // left column of each column of seed
	r    op    // runs for the current row; nil between rows
	p    *pairs
}

func (q *query) openEach(n *plan.Lateral) (op, error) {
	l, err := q.open(n.L)
	if err != nil {
		return nil, err
	}
	lcols := n.L.Info().Cols
	return &each{q: q, node: n, l: l, from: indexes(lcols, n.Seed.Cols), seed: newBlock(len(n.Seed.Cols), q.budget),
		p: q.newJoinPairs(plan.Inner, n.Cols, lcols, n.R.Info().Cols, n.L.Info().Sure)}, nil
}

func (e *each) next() (*batch, error) {
	for {
		if err := e.q.check(); err != nil {
			return nil, err
		}
		if e.r == nil {
			more, err := e.nextRow()
			if !more || err != nil {
				return nil, err
			}
		}
		outer := e.q.seeds[e.node.Seed]
		e.q.seeds[e.node.Seed] = e.seed
		b, err := e.r.next()
		e.q.seeds[e.node.Seed] = outer
		if err != nil {
			return nil, err
		}
		if b == nil {
			e.r.close()
			e.r = nil
			e.row++
			continue
		}
		for i := range b.n {
			e.p.add(int32(e.row), int32(i))
		}
		return e.p.flush(e.lb.cols, b.cols), nil
	}
}

// nextRow starts the right plan for the next left row. It returns false at the end.
func (e *each) nextRow() (bool, error) {
	for e.lb == nil || e.row >= e.lb.n {
		b, err := e.l.next()
		if b == nil || err != nil {
			return false, err
		}
		e.lb, e.row = b, 0
	}
	e.seed.reset()
	one := &batch{n: 1}
	for _, col := range e.lb.cols {
		one.cols = append(one.cols, col[e.row:e.row+1])
	}
	if err := e.seed.add(one, e.from); err != nil {
		return false, err
	}
	if len(e.from) == 0 {
		e.seed.n = 1
	}
	outer := e.q.seeds[e.node.Seed]
	e.q.seeds[e.node.Seed] = e.seed
	r, err := e.q.open(e.node.R)
	e.q.seeds[e.node.Seed] = outer
	e.r = r
	return err == nil, err
}

func (e *each) close() {
	e.l.close()
	if e.r != nil {
		e.r.close()
		e.r = nil
	}
	e.seed.free()
	e.p.free()
}
