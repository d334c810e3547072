package exec

import (
	"slices"

	"odarchive/triplestore/sparql/internal/expr"
	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// sorter is ORDER BY, with or without a limit.
type sorter struct {
	q        *query
	node     *plan.Sort
	in       op
	rows     *block
	all      []int
	evs      []*evaluator // nil if the key is a column
	slots    []int        // column of a key; -1 if it is an expression
	bound    expr.Value   // with a limit, the last first key kept so far
	boundSet bool         // bound is valid
	done     op
	out      batch
	runs     []*spilled // sorted rows in files, if they do not fit into memory
}

func (q *query) openSort(n *plan.Sort, in op, cols []int) (op, error) {
	s := &sorter{q: q, node: n, in: in, rows: newBlock(len(cols), q.budget), all: identity(len(cols))}
	for _, k := range n.Keys {
		c := -1
		var ev *evaluator
		if k.Slot >= 0 {
			c = index(cols, k.Slot)
		}
		if c < 0 {
			var err error
			if ev, err = q.evaluator(k.Expr, cols); err != nil {
				return nil, err
			}
		}
		s.evs, s.slots = append(s.evs, ev), append(s.slots, c)
	}
	return s, nil
}

func (s *sorter) next() (*batch, error) {
	if s.done == nil {
		if err := s.run(); err != nil {
			return nil, err
		}
	}
	return s.done.next()
}

func (s *sorter) run() error {
	limit := s.node.Limit
	full := max(4*limit, 4096)
	size := s.rowSize()
	for {
		if err := s.q.check(); err != nil {
			return err
		}
		b, err := s.in.next()
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		if s.boundSet {
			if b = s.mayRank(b); b == nil {
				continue
			}
		}
		if s.q.opts.Spill != nil && s.rows.n > 0 && len(s.all) > 0 && (s.rows.n+b.n)*size > s.q.budget.share() {
			if err := s.spillRun(); err != nil {
				return err
			}
		}
		err = s.rows.add(b, s.all)
		if s.rows.n > 0 && len(s.all) > 0 && s.q.canSpill(err) {
			if err := s.spillRun(); err != nil {
				return err
			}
			err = s.rows.add(b, s.all)
		}
		if err != nil {
			return err
		}
		if limit >= 0 && int64(s.rows.n) > full {
			if err := s.truncate(int(limit)); err != nil {
				return err
			}
		}
	}
	s.in.close()
	if len(s.runs) > 0 {
		if s.rows.n > 0 {
			if err := s.spillRun(); err != nil {
				return err
			}
		}
		var err error
		s.done, err = s.merge()
		return err
	}
	n := s.rows.n
	if limit >= 0 {
		n = min(n, int(limit))
	}
	if err := s.truncate(n); err != nil {
		return err
	}
	s.done = &pieces{b: &batch{n: s.rows.n, cols: s.rows.cols}, size: s.q.opts.BatchSize}
	return nil
}

// mayRank drops the rows that come after bound by their first key alone. It does so only if that key is a column of
// inline ids.
func (s *sorter) mayRank(b *batch) *batch {
	c := s.slots[0]
	if c < 0 {
		return b
	}
	worst := s.bound.ID()
	if !expr.InlineOrder(worst.Tag()) || worst.Tag() == term.TagDateTime || worst.Tag() == term.TagDate {
		return b
	}
	var keep []int32
	for i, id := range b.cols[c][:b.n] {
		if id.Tag() == worst.Tag() && (s.node.Keys[0].Desc && id < worst || !s.node.Keys[0].Desc && id > worst) {
			continue
		}
		keep = append(keep, int32(i))
	}
	if len(keep) == 0 {
		return nil
	}
	if len(keep) == b.n {
		return b
	}
	s.out.n = len(keep)
	s.out.cols = s.out.cols[:0]
	for _, col := range b.cols {
		part := make([]term.ID, len(keep))
		for i, k := range keep {
			part[i] = col[k]
		}
		s.out.cols = append(s.out.cols, part)
	}
	return &s.out
}

// truncate sorts the rows and keeps the first n.
func (s *sorter) truncate(n int) error {
	if s.rows.n == 0 {
		return nil
	}
	work := 16 * s.rows.n // perm, its sorted copy, and the numbers being sorted
	defer s.q.budget.release(work)
	if err := s.q.budget.reserve(work); err != nil {
		return err
	}
	perm := make([]int32, s.rows.n)
	for i := range perm {
		perm[i] = int32(i)
	}
	n = min(n, len(perm))
	if err := s.refine(perm, 0, n); err != nil {
		return err
	}
	perm = perm[:n]
	room := max(len(perm), s.rows.room/2)
	for c, col := range s.rows.cols {
		sorted := make([]term.ID, len(perm), room)
		for i, p := range perm {
			sorted[i] = col[p]
		}
		s.rows.cols[c] = sorted
	}
	paid := 8 * len(s.rows.cols) * room
	s.q.budget.release(s.rows.paid - paid)
	s.rows.n, s.rows.room, s.rows.paid = len(perm), room, paid
	return nil
}

// refine sorts rows by the i-th key, and then rows with equal keys by the next one, as far as they are among the first
// n. A key is evaluated only for rows that the keys before it do not decide.
func (s *sorter) refine(perm []int32, i, n int) error {
	if i >= len(s.node.Keys) || len(perm) < 2 && i > 0 || n <= 0 {
		if i >= len(s.node.Keys) {
			slices.Sort(perm) // in the order of the input
		}
		return nil
	}
	key, err := s.key(i, perm)
	defer func() { s.q.budget.release(key.paid) }()
	if err != nil {
		return err
	}
	at, err := s.sortedNumbers(len(perm), key.compare) // positions in key
	if err != nil {
		return err
	}
	if i == 0 && s.node.Limit >= 0 && n > 0 {
		s.bound, s.boundSet = key.value(at[min(n, len(at))-1]), n == int(s.node.Limit)
	}
	sorted := make([]int32, len(perm))
	for k, a := range at {
		sorted[k] = perm[a]
	}
	copy(perm, sorted)
	for from := 0; from < len(at) && from < n; {
		to := from + 1
		for to < len(at) && key.compare(at[from], at[to]) == 0 {
			to++
		}
		if to-from > 1 {
			if err := s.refine(perm[from:to], i+1, n-from); err != nil {
				return err
			}
		}
		from = to
	}
	return nil
}

// sortedNumbers returns the numbers below n, sorted by compare.
func (s *sorter) sortedNumbers(n int, compare func(a, b int32) int) (at []int32, err error) {
	at = make([]int32, n)
	for k := range at {
		at[k] = int32(k)
	}
	calls := 0
	slices.SortFunc(at, func(a, b int32) int {
		if calls++; calls&0xffff == 0 && err == nil {
			err = s.q.check()
		}
		if err != nil {
			return 0
		}
		return compare(a, b)
	})
	return at, err
}

func (s *sorter) close() {
	s.in.close()
	s.rows.free()
	for _, r := range s.runs {
		r.close()
	}
	s.done = &pieces{}
}
