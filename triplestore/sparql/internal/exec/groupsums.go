package exec

import (
	"odarchive/triplestore/sparql/internal/expr"
	"odarchive/triplestore/term"
)

// If the input of a group is a Parallel, its chains can aggregate the rows that they compute. Each portion then has
// groups of its own, which are added to those of the query when it is the portion's turn. Portions are added in the
// order of their rows, so the result and the order of groups are those of a single chain. Only sums of doubles would
// differ, since they depend on the order of additions. Therefore portions with sums also keep their rows, and if a sum
// has doubles, the query adds up the rows.

const (
	minSummed    = 512 // rows of a portion after which it is decided whether aggregating in chains saves work
	rowsPerGroup = 8   // average number of rows of a group in a portion from which on it does
)

// sumInChains makes the chains of the input aggregate rows, if the plan has set plan.Parallel.Groups.
func (g *group) sumInChains() {
	in := g.in
	if t, ok := in.(*traced); ok {
		in = t.op
	}
	p, ok := in.(*parallel)
	if !ok || !p.node.Groups {
		return
	}
	g.chains = p
	p.summing = true
	p.newSum = func(q *query) (*group, error) { return q.newGroup(g.node, &oneBatch{}, g.cols) }
	p.addSum = g.addSum
}

// sumUp aggregates a batch in a chain. kept reports that the rows of the batch are no longer needed; more reports that
// the next rows of the portion should be aggregated as well.
func (p *parallel) sumUp(c *chain, b *batch) (kept, more bool, err error) {
	if c.sum == nil {
		if c.sum, err = p.newSum(c.q); err != nil {
			return false, false, err
		}
	}
	if err := c.sum.onlyGroup(); err != nil {
		return false, false, err
	}
	if err := c.sum.addRows(b); err != nil {
		return false, false, err
	}
	c.summed += b.n
	if n := c.sum.set.n; c.summed >= minSummed && n*rowsPerGroup > c.summed || c.sum.rounds() {
		p.stopSums()
		return !c.sum.sums(), false, nil
	}
	return !c.sum.sums(), true, nil
}

// stopSums makes the chains return the rows of further portions instead of aggregating them.
func (p *parallel) stopSums() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.summing = false
}

// onlyRows stops the aggregation in chains. It reports whether all portions that aggregate rows have been added.
func (g *group) onlyRows() bool {
	p := g.chains
	if p == nil {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.summing = false
	for _, x := range p.line {
		if x.sum {
			return false
		}
	}
	return true
}

// addSum adds the groups of a portion to those of the query. If sums must be computed from rows, it leaves c.sent at 0,
// so that the portion returns its rows.
func (g *group) addSum(c *chain) error {
	s := c.sum
	if s.rounds() || g.rounds() {
		g.chains.stopSums()
		return nil
	}
	g.nrs = g.nrs[:0]
	for i := range s.set.n {
		nr, _, err := g.set.add(s.set.rows[i*s.set.width : (i+1)*s.set.width])
		if err != nil {
			return err
		}
		g.nrs = append(g.nrs, int32(nr))
	}
	g.grow()
	for i, a := range g.aggs {
		if err := a.addGroups(s.aggs[i], g.nrs); err != nil {
			return err
		}
	}
	if s.sums() {
		c.sent = c.summed
	}
	if g.crowded() {
		g.chains.stopSums()
	}
	return g.q.check()
}

// sums reports whether there is a SUM or AVG, for which portions keep rows.
func (g *group) sums() bool {
	for _, a := range g.aggs {
		if a.a.Func == "SUM" || a.a.Func == "AVG" {
			return true
		}
	}
	return false
}

// rounds reports whether an aggregate has added up doubles, whose sum is rounded.
func (g *group) rounds() bool {
	for _, a := range g.aggs {
		if a.rounds {
			return true
		}
	}
	return false
}

// reset removes all groups and keeps their memory for further ones.
func (g *group) reset() {
	g.set.clear()
	for _, a := range g.aggs {
		a.reset()
	}
}

func (g *aggregate) reset() {
	clear(g.accs)
	g.n, g.of, g.best, g.accs, g.rounds = g.n[:0], g.of[:0], g.best[:0], g.accs[:0], false
	g.q.budget.release(g.sizes)
	g.sizes = 0
}

// addGroups adds the groups of another aggregate, whose rows come after those that were added so far. Group i of o is
// group nrs[i] here.
func (g *aggregate) addGroups(o *aggregate, nrs []int32) error {
	for i, nr := range nrs {
		switch g.a.Func {
		case "COUNT":
			g.n[nr] += o.n[i]
			continue
		case "SUM", "AVG":
			if err := g.addSum(nr, o, int32(i)); err != nil {
				return err
			}
			continue
		}
		if acc := o.accs[i]; acc != nil { // the accumulator includes o.best[i]
			if err := g.accumulate(nr, acc.Result()); err != nil {
				return err
			}
		} else if id := o.best[i]; id != 0 && !g.keepBest(nr, id) {
			v, _ := expr.FromID(id)
			if err := g.accumulate(nr, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// keepBest adds an id to a SAMPLE, MIN or MAX. It returns false if the id cannot be compared without an accumulator.
func (g *aggregate) keepBest(nr int32, id term.ID) bool {
	if g.a.Func != "SAMPLE" {
		return g.extreme(nr, id)
	}
	if g.best[nr] == 0 {
		g.best[nr] = id
	}
	return true
}

// addSum adds the sum of group i of another aggregate to that of group nr.
func (g *aggregate) addSum(nr int32, o *aggregate, i int32) error {
	if v := o.n[i]; g.accs[nr] == nil && o.accs[i] == nil {
		if s := g.n[nr] + v; (s > g.n[nr]) == (v > 0) {
			g.n[nr] = s
			g.of[nr] += o.of[i]
			return nil
		}
	}
	other, err := o.accumulator(i)
	if err != nil {
		return err
	}
	acc, err := g.accumulator(nr)
	if err != nil {
		return err
	}
	expr.AddSum(acc, other)
	return nil
}
