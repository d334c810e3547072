package exec

import (
	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// substitute decides EXISTS by its definition: it puts each row's bindings into the pattern, plans it and runs it.
// Rows with the same bindings are decided once.
type substitute struct {
	q     *query
	node  *plan.Substitute
	in    op
	cols  []int
	read  []int // columns that the pattern mentions
	names []int // their slots
	known *idSet
	truth []bool
	row   []term.ID
	p     *pairs
	marks []term.ID
	out   batch
}

func (q *query) openSubstitute(n *plan.Substitute, in op, cols []int) op {
	s := &substitute{q: q, node: n, in: in, cols: cols}
	for i, c := range cols {
		if n.Reads(c) {
			s.read, s.names = append(s.read, i), append(s.names, c)
		}
	}
	s.known = newIDSet(len(s.read), q.budget)
	s.row = make([]term.ID, len(s.read))
	s.p = q.newPairs(n.Cols, cols, nil)
	return s
}

func (s *substitute) next() (*batch, error) {
	for {
		b, err := s.in.next()
		if b == nil || err != nil {
			return nil, err
		}
		s.marks = s.marks[:0]
		for i := range b.n {
			for k, c := range s.read {
				s.row[k] = b.cols[c][i]
			}
			nr, fresh, err := s.known.add(s.row)
			if err != nil {
				return nil, err
			}
			if fresh {
				found, err := s.decide()
				if err != nil {
					return nil, err
				}
				s.truth = append(s.truth, found)
			}
			found := s.truth[nr]
			switch s.node.Kind {
			case plan.Mark:
				s.marks = append(s.marks, booleanID(found))
			default:
				if found == (s.node.Kind == plan.Semi) {
					s.p.l = append(s.p.l, int32(i))
				}
			}
		}
		if s.node.Kind == plan.Mark {
			return markBatch(&s.out, b, s.node.Cols, s.cols, s.node.Mark, s.marks), nil
		}
		if len(s.p.l) > 0 {
			return s.p.rowsOf(b.cols), nil
		}
	}
}

// decide runs the pattern for the bindings in row.
func (s *substitute) decide() (bool, error) {
	if err := s.q.check(); err != nil {
		return false, err
	}
	keys := make([]term.Key, len(s.row))
	if err := s.q.terms.resolve(s.row, keys); err != nil {
		return false, err
	}
	bound := map[int]term.Key{}
	for i, k := range keys {
		if k != "" {
			bound[s.names[i]] = k
		}
	}
	sub, err := s.q.plan.Substituted(s.node, bound, s.q.ds, s.q.opts.Plan)
	if err != nil {
		return false, err
	}
	inner := &query{ctx: s.q.ctx, plan: sub, ds: s.q.ds, opts: s.q.opts, budget: s.q.budget, exprs: s.q.exprs,
		seeds: map[*plan.Seed]*block{}, paths: s.q.paths}
	inner.opts.BatchSize = min(inner.opts.BatchSize, 64)
	inner.terms = newTerms(s.q.ds, sub.Locals(), s.q.budget)
	o, err := inner.open(sub.Root)
	if err != nil {
		return false, err
	}
	defer o.close()
	b, err := o.next()
	return b != nil, err
}

func (s *substitute) close() {
	s.in.close()
	s.known.free()
	s.p.free()
}
