package exec

import (
	"fmt"

	"odarchive/triplestore/sparql/internal/expr"
	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// aggregate computes one set function for all groups. Counts and sums of inline integers are numbers in a slice,
// minima and maxima of inline ids of one kind are ids; everything else goes through an accumulator for each group.
type aggregate struct {
	q        *query
	a        plan.Aggregate
	ev       *evaluator
	col      int     // the column that is the argument; -1 if it is an expression
	solution []int   // for COUNT(DISTINCT *), the columns of the solution
	n        []int64 // COUNT, or the sum so far
	of       []int64 // for AVG, the number of values in the sum
	best     []term.ID
	accs     []expr.Accumulator
	rounds   bool // a sum has values whose sum depends on their order
	sizes    int
	seen     *distinctValues // nil without DISTINCT
	keys     []term.Key
	ids      []term.ID // results of a Vector, and their groups
	groups   []int32
}

const accumulatorSize = 160

func (q *query) aggregate(a plan.Aggregate, cols []int) (*aggregate, error) {
	g := &aggregate{q: q, a: a, col: -1}
	if _, ok := expr.NewAccumulator(a.Func, "", false); !ok {
		return nil, fmt.Errorf("exec: unknown aggregate %s", a.Func)
	}
	if a.Arg != nil {
		if len(a.Arg.Slots) == 1 && a.Arg.IsVar() {
			g.col = index(cols, a.Arg.Slots[0])
		}
		if g.col < 0 {
			ev, err := q.evaluator(*a.Arg, cols)
			if err != nil {
				return nil, err
			}
			g.ev = ev
		}
	}
	if a.Distinct && a.Func != "MIN" && a.Func != "MAX" && a.Func != "SAMPLE" {
		width := 2
		if a.Arg == nil {
			for _, s := range a.Of {
				if c := index(cols, s); c >= 0 {
					g.solution = append(g.solution, c)
				}
			}
			width = 1 + len(g.solution)
		}
		hashed := a.Func == "COUNT" && g.ev != nil
		if hashed {
			width = 3
		}
		g.seen = q.distinctValues(width)
		if hashed {
			g.seen.hashing()
		}
	}
	return g, nil
}

// groupSize is what a group takes in the slices of an aggregate, with the room that append makes.
const groupSize = 50

func (g *aggregate) grow(groups int) {
	if more := groups - len(g.n); more > 0 {
		g.sizes += groupSize * more
		g.q.budget.charge(groupSize * more)
	}
	for len(g.n) < groups {
		g.n = append(g.n, 0)
		g.of = append(g.of, 0)
		g.best = append(g.best, 0)
		g.accs = append(g.accs, nil)
	}
}

// add aggregates the rows of a batch; nrs are their groups.
func (g *aggregate) add(b *batch, nrs []int32) error {
	switch {
	case g.a.Arg == nil:
		return g.countRows(b, nrs)
	case g.col >= 0:
		return g.addIDs(b.cols[g.col][:b.n], nrs)
	}
	if done, err := g.addVector(b, nrs); done || err != nil {
		return err
	}
	if err := g.ev.begin(b); err != nil {
		return err
	}
	first := g.q.solved
	g.q.solved += uint64(b.n)
	for i, nr := range nrs {
		g.ev.env.Solution = first + uint64(i) + 1
		v, err := g.ev.value(i)
		if err != nil {
			return err
		}
		if g.seen != nil && !v.IsErr() {
			if fresh, err := g.freshValue(nr, v); err != nil || !fresh {
				if err != nil {
					return err
				}
				continue
			}
		}
		if g.a.Func == "COUNT" {
			if !v.IsErr() {
				g.n[nr]++
			}
			continue
		}
		if err := g.accumulate(nr, v); err != nil {
			return err
		}
	}
	return nil
}

// addVector aggregates the values of an expression that has a Vector. done is false if it has none, or if the aggregate
// needs the terms.
func (g *aggregate) addVector(b *batch, nrs []int32) (done bool, err error) {
	switch g.a.Func {
	case "COUNT", "SUM", "AVG", "MIN", "MAX":
	default:
		return false, nil
	}
	if g.seen != nil {
		return false, nil
	}
	ids, rest, ok := g.ev.vector(b)
	if !ok {
		return false, nil
	}
	g.ids, g.groups = g.ids[:0], g.groups[:0]
	for i, id := range ids {
		if id == expr.Unsure {
			continue
		}
		if v, ok := expr.Computed(id); ok && g.a.Func != "COUNT" {
			if err := g.accumulate(nrs[i], v); err != nil {
				return true, err
			}
			continue
		}
		g.ids, g.groups = append(g.ids, id), append(g.groups, nrs[i])
	}
	if err := g.addIDs(g.ids, g.groups); err != nil {
		return true, err
	}
	return true, g.ev.values(b, rest, func(i int32, v expr.Value) error {
		if g.a.Func == "COUNT" {
			if !v.IsErr() {
				g.n[nrs[i]]++
			}
			return nil
		}
		return g.accumulate(nrs[i], v)
	})
}

// countRows is COUNT(*) and COUNT(DISTINCT *).
func (g *aggregate) countRows(b *batch, nrs []int32) error {
	if g.seen == nil {
		for _, nr := range nrs {
			g.n[nr]++
		}
		return nil
	}
	for i, nr := range nrs {
		g.seen.row[0] = term.ID(nr) + 1
		for k, c := range g.solution {
			g.seen.row[1+k] = b.cols[c][i]
		}
		fresh, err := g.seen.add()
		if err != nil {
			return err
		}
		if fresh {
			g.n[nr]++
		}
	}
	return nil
}

// fresh reports whether an id is new in its group.
func (g *aggregate) fresh(nr int32, id term.ID) (bool, error) {
	g.seen.row[0], g.seen.row[1] = term.ID(nr)+1, id
	return g.seen.add()
}

// freshValue reports whether a computed value is new in its group.
func (g *aggregate) freshValue(nr int32, v expr.Value) (bool, error) {
	if len(g.seen.seeds) > 0 {
		return g.seen.addValue(nr, v)
	}
	id, err := g.q.valueID(v)
	if err != nil {
		return false, err
	}
	return g.fresh(nr, id)
}

// addIDs aggregates a column of ids. It looks up only the terms of ids that it cannot aggregate directly.
func (g *aggregate) addIDs(ids []term.ID, nrs []int32) error {
	var slow []int32 // rows whose terms are needed
	for i, id := range ids {
		nr := nrs[i]
		if g.seen != nil && id != 0 {
			if fresh, err := g.fresh(nr, id); err != nil {
				return err
			} else if !fresh {
				continue
			}
		}
		switch g.a.Func {
		case "COUNT":
			if id != 0 {
				g.n[nr]++
			}
			continue
		case "SUM", "AVG":
			if v, ok := id.Int(); ok && g.accs[nr] == nil {
				if s := g.n[nr] + v; (s > g.n[nr]) == (v > 0) {
					g.n[nr] = s
					g.of[nr]++
					continue
				}
			}
		case "SAMPLE":
			if g.best[nr] == 0 {
				g.best[nr] = id
			}
			continue
		case "MIN", "MAX":
			if g.extreme(nr, id) {
				continue
			}
		}
		if v, ok := expr.FromID(id); ok {
			if err := g.accumulate(nr, v); err != nil {
				return err
			}
			continue
		}
		slow = append(slow, int32(i))
	}
	if len(slow) == 0 {
		return nil
	}
	want := make([]term.ID, len(slow))
	for i, r := range slow {
		want[i] = ids[r]
	}
	if cap(g.keys) < len(want) {
		g.keys = make([]term.Key, len(want))
	}
	keys := g.keys[:len(want)]
	if err := g.q.terms.resolve(want, keys); err != nil {
		return err
	}
	for i, r := range slow {
		if err := g.accumulate(nrs[r], expr.FromKey(keys[i])); err != nil {
			return err
		}
	}
	return nil
}

// extreme keeps the minimum or maximum as an id while all ids of a group are of one inline kind whose ids sort as
// their values. It returns false if that does not hold.
func (g *aggregate) extreme(nr int32, id term.ID) bool {
	if id == 0 {
		return g.a.Func == "MAX" // an unbound value is the minimum
	}
	t := id.Tag()
	if g.accs[nr] != nil || !expr.InlineOrder(t) || (t == term.TagDateTime || t == term.TagDate) && id&(1<<11-1) == 0 {
		return false
	}
	best := g.best[nr]
	switch {
	case best == 0:
		g.best[nr] = id
	case best.Tag() != t:
		return false
	case g.a.Func == "MIN" && id < best || g.a.Func == "MAX" && id > best:
		g.best[nr] = id
	}
	return true
}

// accumulate adds a value to the accumulator of a group.
func (g *aggregate) accumulate(nr int32, v expr.Value) error {
	acc, err := g.accumulator(nr)
	if err != nil {
		return err
	}
	before := acc.Size()
	acc.Add(v)
	g.rounds = g.rounds || expr.Rounds(acc)
	grown := acc.Size() - before
	g.sizes += grown
	return g.q.budget.reserve(grown)
}

// accumulator returns the accumulator of a group. A new one starts with what the group has so far.
func (g *aggregate) accumulator(nr int32) (expr.Accumulator, error) {
	acc := g.accs[nr]
	if acc != nil {
		return acc, nil
	}
	if err := g.q.budget.reserve(accumulatorSize); err != nil {
		return nil, err
	}
	g.sizes += accumulatorSize
	acc, _ = expr.NewAccumulator(g.a.Func, g.a.Separator, false)
	switch {
	case g.a.Func == "SUM" || g.a.Func == "AVG":
		expr.Resume(acc, g.n[nr], g.of[nr])
	case g.best[nr] != 0:
		v, _ := expr.FromID(g.best[nr])
		acc.Add(v)
	}
	g.accs[nr] = acc
	return acc, nil
}

// result returns the value of one group.
func (g *aggregate) result(nr int) expr.Value {
	if acc := g.accs[nr]; acc != nil {
		return acc.Result()
	}
	switch g.a.Func {
	case "COUNT", "SUM":
		return expr.NewInt(g.n[nr])
	case "MIN", "MAX", "SAMPLE":
		return expr.OfID(g.best[nr])
	}
	acc, _ := expr.NewAccumulator(g.a.Func, g.a.Separator, false)
	if g.a.Func == "AVG" {
		expr.Resume(acc, g.n[nr], g.of[nr])
	}
	return acc.Result()
}

func (g *aggregate) free() {
	g.q.budget.release(g.sizes)
	g.sizes = 0
	if g.seen != nil {
		g.seen.free()
	}
}
