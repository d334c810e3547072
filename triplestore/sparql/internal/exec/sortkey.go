package exec

import (
	"cmp"
	"slices"

	"odarchive/triplestore/sparql/internal/expr"
	"odarchive/triplestore/term"
)

// Sizes of a sort key that is kept as a value or as a text, and the number of keys made between two checks of the
// context.
const (
	valueSize = 112
	textSize  = 16
	keyStep   = 1 << 13
)

// sortKey is one key of some rows: ids that compare as their values, ranks of terms among those of the column, or
// values.
type sortKey struct {
	ids   []term.ID
	ranks []int32
	terms []term.Key // by rank
	vals  []expr.Value
	desc  bool
	paid  int
}

func (k *sortKey) compare(a, b int32) int {
	c := 0
	switch {
	case k.ids != nil:
		c = cmp.Compare(k.ids[a], k.ids[b])
	case k.ranks != nil:
		c = cmp.Compare(k.ranks[a], k.ranks[b])
	default:
		c = expr.Order(k.vals[a], k.vals[b])
	}
	if k.desc {
		return -c
	}
	return c
}

func (k *sortKey) value(i int32) expr.Value {
	switch {
	case k.ids != nil:
		v, _ := expr.FromID(k.ids[i])
		return v
	case k.ranks != nil:
		return expr.FromKey(k.terms[k.ranks[i]])
	}
	return k.vals[i]
}

// key evaluates one sort key for some rows. paid is what it reserves of the budget, even if it fails.
func (s *sorter) key(i int, perm []int32) (k sortKey, err error) {
	k.desc = s.node.Keys[i].Desc
	c := s.slots[i]
	if c < 0 {
		return k, s.expressionKey(&k, s.evs[i], perm)
	}
	k.paid = 8 * len(perm)
	if err := s.q.budget.reserve(k.paid); err != nil {
		return k, err
	}
	ids := make([]term.ID, len(perm))
	for r, p := range perm {
		ids[r] = s.rows.cols[c][p]
	}
	if inlineColumn(ids) {
		k.ids = ids
		return k, nil
	}
	return k, s.rank(&k, ids)
}

// rank sorts the terms of a column, each once. They are looked up in the order of their ids. If all are IRIs or all
// are plain strings, they are compared as texts.
func (s *sorter) rank(k *sortKey, ids []term.ID) error {
	work := 12 * len(ids) // distinct, and the ranks
	k.paid += work
	if err := s.q.budget.reserve(work); err != nil {
		return err
	}
	distinct := slices.Clone(ids)
	if err := s.q.sortIDs(distinct); err != nil {
		return err
	}
	distinct = slices.Compact(distinct)
	texts := make([]term.Key, len(distinct))
	plain := true
	err := s.inSteps(len(distinct), func(from, to int) (size int, err error) {
		if err := s.q.terms.resolve(distinct[from:to], texts[from:to]); err != nil {
			return 0, err
		}
		for _, t := range texts[from:to] {
			plain = plain && t != "" && t[0] == texts[0][0] && (t[0] == '<' || t[0] == '"')
			size += textSize + len(t)
		}
		return size, nil
	}, k)
	if err != nil {
		return err
	}
	compare := func(a, b int32) int { return cmp.Compare(texts[a], texts[b]) }
	if !plain {
		vals := make([]expr.Value, len(texts))
		err := s.inSteps(len(texts), func(from, to int) (int, error) {
			for r := from; r < to; r++ {
				vals[r] = expr.FromKey(texts[r])
			}
			return (to - from) * valueSize, nil
		}, k)
		if err != nil {
			return err
		}
		compare = func(a, b int32) int { return expr.Order(vals[a], vals[b]) }
	}
	order, err := s.sortedNumbers(len(texts), compare)
	if err != nil {
		return err
	}
	ranks := make([]int32, len(order)) // by position in distinct
	for i, at := range order {
		if i == 0 || compare(order[i-1], at) != 0 {
			k.terms = append(k.terms, texts[at])
		}
		ranks[at] = int32(len(k.terms) - 1)
	}
	k.ranks = make([]int32, len(ids))
	return s.inSteps(len(ids), func(from, to int) (int, error) {
		for r, id := range ids[from:to] {
			at, _ := slices.BinarySearch(distinct, id)
			k.ranks[from+r] = ranks[at]
		}
		return 0, nil
	}, k)
}

func (s *sorter) expressionKey(k *sortKey, ev *evaluator, perm []int32) error {
	k.paid = valueSize * len(perm)
	if err := s.q.budget.reserve(k.paid); err != nil {
		return err
	}
	k.vals = make([]expr.Value, len(perm))
	part := &batch{cols: newCols(len(s.rows.cols), min(keyStep, len(perm)))}
	return s.inSteps(len(perm), func(from, to int) (size int, err error) {
		part.n = to - from
		for c, col := range s.rows.cols {
			for r, p := range perm[from:to] {
				part.cols[c][r] = col[p]
			}
		}
		if err := ev.begin(part); err != nil {
			return 0, err
		}
		for r := range part.n {
			if k.vals[from+r], err = ev.value(r); err != nil {
				return 0, err
			}
		}
		return 0, nil
	}, k)
}

// inSteps calls f for parts of n rows, reserves the size that f returns, and checks the context in between.
func (s *sorter) inSteps(n int, f func(from, to int) (size int, err error), k *sortKey) error {
	for from := 0; from < n; from += keyStep {
		if err := s.q.check(); err != nil {
			return err
		}
		size, err := f(from, min(n, from+keyStep))
		if err != nil {
			return err
		}
		k.paid += size
		if err := s.q.budget.reserve(size); err != nil {
			return err
		}
	}
	return nil
}

// inlineColumn reports whether the ids of a column compare as their values: they have one inline tag, and dates have a
// zone.
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
