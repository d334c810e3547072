package exec

import (
	"odarchive/triplestore/sparql/internal/expr"
	"odarchive/triplestore/term"
)

// The chains of a Parallel below a group aggregate the rows of a portion where they compute them. When it is the
// portion's turn, its groups are added to those of the query. Portions come in the order of their rows, and so do
// groups: the result is that of one chain. Sums of doubles depend on the order of what is added. So a portion keeps the
// rows of sums, and where there are doubles the query adds up rows.

const (
	minSummed    = 512 // from so many rows of a portion on, the number of its groups tells whether it saves work
	rowsPerGroup = 8   // what a group must have in a portion, on average
)

// sumInChains makes the chains of the input aggregate rows, if the plan says so.
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

// sumUp aggregates a batch of a chain. kept is true if its rows are not needed any more, and more is false if the next
// rows of the portion should not be aggregated.
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

// stopSums makes the chains return the rows of further portions.
func (p *parallel) stopSums() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.summing = false
}

// onlyRows stops the aggregation in chains, and reports whether no groups of portions will come any more.
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

// addSum adds the groups of a portion to those of the query, or lets it return the rows that they are made of.
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

// sums reports whether there are sums, whose rows are kept.
func (g *group) sums() bool {
	for _, a := range g.aggs {
		if a.a.Func == "SUM" || a.a.Func == "AVG" {
			return true
		}
	}
	return false
}

func (g *group) rounds() bool {
	for _, a := range g.aggs {
		if a.rounds {
			return true
		}
	}
	return false
}

// reset removes all groups and keeps the room.
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

// addGroups adds the groups of another aggregate, whose rows come after all so far; nrs are their groups here.
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
		if acc := o.accs[i]; acc != nil { // it has the best id, too
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

// keepBest adds an id to a SAMPLE, MIN or MAX. It returns false if an accumulator is needed.
func (g *aggregate) keepBest(nr int32, id term.ID) bool {
	if g.a.Func != "SAMPLE" {
		return g.extreme(nr, id)
	}
	if g.best[nr] == 0 {
		g.best[nr] = id
	}
	return true
}

// addSum adds the sum of group i of another aggregate.
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
