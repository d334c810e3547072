package exec

import (
	"slices"

	"odarchive/triplestore/sparql/expr"
	"odarchive/triplestore/sparql/plan"
	"odarchive/triplestore/term"
)

// sorter is ORDER BY, with or without a limit.
type sorter struct {
	q     *query
	node  *plan.Sort
	in    op
	rows  *block
	all   []int
	evs   []*evaluator // nil where the key is a column
	slots []int        // column of a key, -1
	bound expr.Value   // worst first key kept so far, with a limit
	whole bool         // bound is valid
	done  *pieces
	out   batch
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
		if s.whole {
			if b = s.promising(b); b == nil {
				continue
			}
		}
		if err := s.rows.add(b, s.all); err != nil {
			return err
		}
		if limit >= 0 && int64(s.rows.n) > full {
			if err := s.cut(int(limit)); err != nil {
				return err
			}
		}
	}
	s.in.close()
	n := s.rows.n
	if limit >= 0 {
		n = min(n, int(limit))
	}
	if err := s.cut(n); err != nil {
		return err
	}
	s.done = &pieces{b: &batch{n: s.rows.n, cols: s.rows.cols}, size: s.q.opts.BatchSize}
	return nil
}

// promising drops the rows that the first key alone puts behind the worst row kept: for a column of inline ids.
func (s *sorter) promising(b *batch) *batch {
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

// sortKey is one key of all rows: ids that compare as their values, or the values.
type sortKey struct {
	ids  []term.ID
	vals []expr.Value
	desc bool
}

func (k *sortKey) compare(a, b int32) int {
	c := 0
	if k.ids != nil {
		x, y := k.ids[a], k.ids[b]
		if x < y {
			c = -1
		} else if x > y {
			c = 1
		}
	} else {
		c = expr.Order(k.vals[a], k.vals[b])
	}
	if k.desc {
		return -c
	}
	return c
}

// cut sorts the rows kept and leaves the first n.
func (s *sorter) cut(n int) error {
	if s.rows.n == 0 {
		return nil
	}
	var keys []sortKey
	cost := 0
	for i := range s.node.Keys {
		k, err := s.key(i)
		if err != nil {
			return err
		}
		if k.vals != nil {
			cost += len(k.vals) * 112
			if err := s.q.budget.take(len(k.vals) * 112); err != nil {
				return err
			}
		}
		keys = append(keys, k)
	}
	defer s.q.budget.give(cost)
	perm := make([]int32, s.rows.n)
	for i := range perm {
		perm[i] = int32(i)
	}
	calls := 0
	var stop error
	slices.SortFunc(perm, func(a, b int32) int {
		if calls++; calls&0xffff == 0 && stop == nil {
			stop = s.q.check()
		}
		if stop != nil {
			return 0
		}
		for i := range keys {
			if c := keys[i].compare(a, b); c != 0 {
				return c
			}
		}
		return int(a) - int(b)
	})
	if stop != nil {
		return stop
	}
	perm = perm[:min(n, len(perm))]
	if len(perm) > 0 && keys[0].vals != nil {
		s.bound, s.whole = keys[0].vals[perm[len(perm)-1]], true
	} else if len(perm) > 0 {
		s.bound, _ = expr.FromID(keys[0].ids[perm[len(perm)-1]])
		s.whole = true
	}
	for c, col := range s.rows.cols {
		sorted := make([]term.ID, len(perm), max(len(perm), cap(col)/2))
		for i, p := range perm {
			sorted[i] = col[p]
		}
		s.rows.cols[c] = sorted
	}
	s.rows.n = len(perm)
	paid := 8 * len(s.rows.cols) * len(perm)
	s.q.budget.give(s.rows.paid - paid)
	s.rows.paid = paid
	return nil
}

// key evaluates one sort key for all rows kept.
func (s *sorter) key(i int) (sortKey, error) {
	k := sortKey{desc: s.node.Keys[i].Desc}
	b := &batch{n: s.rows.n, cols: s.rows.cols}
	if c := s.slots[i]; c >= 0 {
		if inlineColumn(b.cols[c][:b.n]) {
			k.ids = b.cols[c]
			return k, nil
		}
		keys := make([]term.Key, b.n)
		if err := s.q.terms.resolve(b.cols[c][:b.n], keys); err != nil {
			return k, err
		}
		k.vals = make([]expr.Value, b.n)
		for r, key := range keys {
			k.vals[r] = expr.FromKey(key)
		}
		return k, nil
	}
	ev := s.evs[i]
	if err := ev.begin(b); err != nil {
		return k, err
	}
	k.vals = make([]expr.Value, b.n)
	for r := range b.n {
		k.vals[r] = ev.value(r)
	}
	return k, nil
}

// inlineColumn tells whether the ids of a column compare as their values: one inline tag, and dates all with a zone.
func inlineColumn(col []term.ID) bool {
	tag := col[0].Tag()
	if !expr.InlineOrder(tag) {
		return false
	}
	dated := tag == term.TagDateTime || tag == term.TagDate
	for _, id := range col {
		if id.Tag() != tag || dated && id&(1<<11-1) == 0 {
			return false
		}
	}
	return true
}

func (s *sorter) close() {
	s.in.close()
	s.rows.free()
	s.done = &pieces{}
}
