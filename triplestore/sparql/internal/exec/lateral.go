package exec

import (
	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// lateral runs its right plan in rounds, each for a number of rows of the left. The right plan reads the rows through
// its Seed.
type lateral struct {
	q     *query
	node  *plan.Lateral
	l     op
	limit int
	rows  *block // left rows of the current round
	all   []int
	seed  *block
	from  []int   // left column of each seed column except the last, which has the numbers of the rows
	right *block  // right rows of the current round
	perm  []int32 // indexes of right rows, sorted by left row
	heads []int32 // for each left row, where its right rows start in perm; and the end of the last ones
	li    int     // the next left row to join
	rj    int32   // the next of its right rows
	p     *pairs
	marks []term.ID
	out   batch
	inEnd bool
	ended bool
}

const (
	firstLateral = 256
	maxLateral   = 1 << 16
)

func (q *query) openLateral(n *plan.Lateral) (op, error) {
	l, err := q.open(n.L)
	if err != nil {
		return nil, err
	}
	lcols := n.L.Info().Cols
	o := &lateral{q: q, node: n, l: l, limit: firstLateral, all: identity(len(lcols))}
	o.rows = newBlock(len(lcols), q.budget)
	o.from = indexes(lcols, n.Seed.Cols)
	o.seed = newBlock(len(n.Seed.Cols), q.budget)
	rcols := n.R.Info().Cols
	o.right = newBlock(len(rcols), q.budget)
	o.p = q.newJoinPairs(n.Kind, n.Cols, lcols, rcols, n.L.Info().Sure)
	return o, nil
}

func (o *lateral) next() (*batch, error) {
	for {
		if o.ended {
			return nil, nil
		}
		if o.li >= o.rows.n {
			if !o.p.empty() {
				return o.p.flush(o.rows.cols, o.right.cols), nil
			}
			if err := o.nextRound(); err != nil {
				return nil, err
			}
			if o.rows.n == 0 {
				o.ended = true
				return nil, nil
			}
			if o.node.Kind == plan.Mark {
				o.li = o.rows.n
				return markBatch(&o.out, &batch{n: o.rows.n, cols: o.rows.cols}, o.node.Cols, o.node.L.Info().Cols, o.node.Mark, o.marks),
					nil
			}
		}
		for o.li < o.rows.n && !o.p.full() {
			lo, hi := o.heads[o.li], o.heads[o.li+1]
			switch o.node.Kind {
			case plan.Semi, plan.Anti:
				if (hi > lo) == (o.node.Kind == plan.Semi) {
					o.p.add(int32(o.li), -1)
				}
			default:
				for lo+o.rj < hi && !o.p.full() {
					o.p.add(int32(o.li), o.perm[lo+o.rj])
					o.rj++
				}
				if lo+o.rj < hi {
					continue // full
				}
				if hi == lo && o.node.Kind == plan.Outer {
					o.p.add(int32(o.li), -1)
				}
			}
			o.rj = 0
			o.li++
		}
		if o.p.full() {
			return o.p.flush(o.rows.cols, o.right.cols), nil
		}
	}
}

// nextRound reads the next left rows and finds the right rows of each.
func (o *lateral) nextRound() error {
	o.rows.reset()
	o.seed.reset()
	o.right.reset()
	o.li, o.rj = 0, 0
	for !o.inEnd && o.rows.n < o.limit {
		b, err := o.l.next()
		if err != nil {
			return err
		}
		if b == nil {
			o.inEnd = true
			break
		}
		if err := o.rows.add(b, o.all); err != nil {
			return err
		}
	}
	o.limit = min(o.limit*8, maxLateral)
	if o.rows.n == 0 {
		return nil
	}
	if err := o.seed.add(&batch{n: o.rows.n, cols: o.rows.cols}, o.from); err != nil {
		return err
	}
	numbers := o.seed.cols[len(o.seed.cols)-1]
	for i := range numbers {
		numbers[i] = term.ID(i + 1)
	}
	outer := o.q.seeds[o.node.Seed]
	o.q.seeds[o.node.Seed] = o.seed
	defer func() { o.q.seeds[o.node.Seed] = outer }()
	r, err := o.q.open(o.node.R)
	if err != nil {
		return err
	}
	defer r.close()
	rcols := o.node.R.Info().Cols
	all, nr := identity(len(rcols)), index(rcols, o.node.Seed.RowNr)
	pairing := o.node.Kind == plan.Inner || o.node.Kind == plan.Outer
	o.heads = append(o.heads[:0], make([]int32, o.rows.n+2)...)
	for {
		if err := o.q.check(); err != nil {
			return err
		}
		b, err := r.next()
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		for _, x := range b.cols[nr][:b.n] {
			o.heads[x+1]++
		}
		if pairing {
			if err := o.right.add(b, all); err != nil {
				return err
			}
		}
	}
	o.sortByRow(nr, pairing)
	if o.node.Kind == plan.Mark {
		o.marks = o.marks[:0]
		for i := range o.rows.n {
			o.marks = append(o.marks, booleanID(o.heads[i+1] > o.heads[i]))
		}
	}
	return nil
}

// sortByRow turns the counts in heads into positions and fills perm. Before the call, heads[i+2] is the number of right
// rows of left row i, since the numbers of rows begin with 1. After it, they are perm[heads[i]:heads[i+1]].
func (o *lateral) sortByRow(nr int, pairing bool) {
	sum := int32(0)
	for i := 0; i < o.rows.n; i++ {
		n := o.heads[i+2]
		o.heads[i] = sum
		sum += n
	}
	o.heads[o.rows.n] = sum
	if !pairing {
		return
	}
	o.perm = append(o.perm[:0], make([]int32, o.right.n)...)
	next := append([]int32(nil), o.heads[:o.rows.n]...)
	for i, x := range o.right.cols[nr][:o.right.n] {
		o.perm[next[x-1]] = int32(i)
		next[x-1]++
	}
}

func (o *lateral) close() {
	o.ended = true
	o.l.close()
	o.rows.free()
	o.seed.free()
	o.right.free()
	o.p.free()
}
