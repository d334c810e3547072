package exec

import (
	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// group partitions its input and aggregates each part.
type group struct {
	q    *query
	node *plan.Group
	in   op
	by   []int
	set  *idSet
	aggs []*aggregate
	nrs  []int32
	done *pieces
	key  []term.ID

	cols  []int       // of the input
	later *partitions // rows of groups for which there was no memory
	part  *group      // computes the groups of a partition
	row   []term.ID

	chains *parallel // the input, if its chains aggregate rows; else nil
}

func (q *query) openGroup(n *plan.Group, in op, cols []int) (op, error) {
	g, err := q.newGroup(n, in, cols)
	if err != nil {
		return nil, err
	}
	g.sumInChains()
	return g, nil
}

func (q *query) newGroup(n *plan.Group, in op, cols []int) (*group, error) {
	g := &group{q: q, node: n, in: in, by: indexes(cols, n.By), cols: cols, set: newIDSet(len(n.By), q.budget)}
	g.key = make([]term.ID, len(n.By))
	for _, a := range n.Aggs {
		agg, err := q.aggregate(a, cols)
		if err != nil {
			return nil, err
		}
		g.aggs = append(g.aggs, agg)
	}
	return g, nil
}

func (g *group) next() (*batch, error) {
	if g.done == nil {
		if err := g.run(); err != nil {
			return nil, err
		}
	}
	for {
		var b *batch
		var err error
		if g.part != nil {
			b, err = g.part.next()
		} else {
			b, err = g.done.next()
		}
		if b != nil || err != nil {
			return b, err
		}
		if g.part != nil {
			g.part.close()
		} else {
			g.free()
		}
		if g.part, err = g.nextPart(); g.part == nil || err != nil {
			return nil, err
		}
	}
}

func (g *group) run() error {
	if err := g.onlyGroup(); err != nil {
		return err
	}
	if g.node.EachGraph {
		if err := g.eachGraph(); err != nil {
			return err
		}
	}
	for {
		if err := g.q.check(); err != nil {
			return err
		}
		b, err := g.in.next()
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		if g.later != nil || g.crowded() && g.onlyRows() {
			if b, err = g.divert(b); err != nil {
				return err
			}
			if b.n == 0 {
				continue
			}
		}
		if err := g.addRows(b); err != nil {
			return err
		}
	}
	g.in.close()
	for _, a := range g.aggs {
		if err := a.finish(); err != nil {
			return err
		}
	}
	return g.finish()
}

// onlyGroup makes the group of all rows if there are no keys: it is there even without rows.
func (g *group) onlyGroup() error {
	if len(g.by) > 0 {
		return nil
	}
	_, _, err := g.set.add(nil)
	g.grow()
	return err
}

// addRows aggregates the rows of a batch.
func (g *group) addRows(b *batch) error {
	if err := g.assign(b); err != nil {
		return err
	}
	g.grow()
	for _, a := range g.aggs {
		if err := a.add(b, g.nrs); err != nil {
			return err
		}
	}
	return nil
}

// eachGraph makes a group for every named graph.
func (g *group) eachGraph() error {
	graphs, err := g.q.openGraphs(nil)
	if err != nil {
		return err
	}
	for {
		b, err := graphs.next()
		if b == nil || err != nil {
			g.grow()
			return err
		}
		for _, id := range b.cols[0][:b.n] {
			if _, _, err := g.set.add([]term.ID{id}); err != nil {
				return err
			}
		}
	}
}

// assign numbers the group of each row of a batch.
func (g *group) assign(b *batch) error {
	g.nrs = g.nrs[:0]
	if len(g.by) == 0 {
		for range b.n {
			g.nrs = append(g.nrs, 0)
		}
		return nil
	}
	last := int32(-1)
	for i := range b.n {
		same := last >= 0
		for k, c := range g.by {
			var id term.ID // 0 for a key that is never bound
			if c >= 0 {
				id = b.cols[c][i]
			}
			same = same && g.key[k] == id
			g.key[k] = id
		}
		if !same {
			nr, _, err := g.set.add(g.key)
			if err != nil {
				return err
			}
			last = int32(nr)
		}
		g.nrs = append(g.nrs, last)
	}
	return nil
}

func (g *group) grow() {
	for _, a := range g.aggs {
		a.grow(g.set.n)
	}
}

func (g *group) finish() error {
	b := &batch{n: g.set.n}
	for k := range g.by {
		col := make([]term.ID, b.n)
		for i := range col {
			col[i] = g.set.rows[i*g.set.width+k]
		}
		b.cols = append(b.cols, col)
	}
	for _, a := range g.aggs {
		col := make([]term.ID, b.n)
		for i := range col {
			id, err := g.q.valueID(a.result(i))
			if err != nil {
				return err
			}
			col[i] = id
		}
		b.cols = append(b.cols, col)
	}
	if b.n == 0 {
		b = nil
	}
	g.done = &pieces{b: b, size: g.q.opts.BatchSize}
	return nil
}

// free gives back the memory of the groups.
func (g *group) free() {
	g.set.free()
	for _, a := range g.aggs {
		a.free()
	}
	g.done = &pieces{}
}

func (g *group) close() {
	g.in.close()
	g.free()
	g.later.close()
	if g.part != nil {
		g.part.close()
	}
}
