package exec

import "odarchive/triplestore/term"

// If a group operator uses more than its share of memory, it makes no further groups: it writes rows that belong to
// none of its groups to partitions. After its own groups, it returns those of the partitions. Each partition is
// computed by a new group operator.

// crowded reports whether the groups and their aggregates hold more than their share.
func (g *group) crowded() bool {
	if g.q.opts.Spill == nil || len(g.by) == 0 {
		return false
	}
	n := g.set.paid
	for _, a := range g.aggs {
		n += a.sizes
	}
	return n > g.q.budget.share()
}

// divert writes the rows of b that belong to new groups to partitions, and returns the others.
func (g *group) divert(b *batch) (*batch, error) {
	if g.later == nil {
		g.later = &partitions{q: g.q}
		g.row = make([]term.ID, len(g.cols))
	}
	known := make([]int32, 0, b.n)
	for i := range b.n {
		for k, c := range g.by {
			g.key[k] = 0
			if c >= 0 {
				g.key[k] = b.cols[c][i]
			}
		}
		if nr, _ := g.set.find(g.key); nr >= 0 {
			known = append(known, int32(i))
			continue
		}
		f, err := g.later.file(g.set.hash(g.key))
		if err != nil {
			return nil, err
		}
		for c := range g.row {
			g.row[c] = b.cols[c][i]
		}
		if err := f.writeIDs(g.row...); err != nil {
			return nil, err
		}
	}
	out := &batch{n: len(known)}
	for _, col := range b.cols {
		part := make([]term.ID, len(known))
		for i, k := range known {
			part[i] = col[k]
		}
		out.cols = append(out.cols, part)
	}
	return out, nil
}

// nextPart makes the group of the next partition; it is nil if there are no more.
func (g *group) nextPart() (*group, error) {
	if g.later == nil {
		return nil, nil
	}
	for i, f := range g.later.files {
		if f == nil {
			continue
		}
		g.later.files[i] = nil
		in, err := g.q.readSpilled(f, len(g.cols))
		if err != nil {
			f.close()
			return nil, err
		}
		node := *g.node
		node.EachGraph = false // this group has them
		o, err := g.q.openGroup(&node, in, g.cols)
		if err != nil {
			in.close()
			return nil, err
		}
		return o.(*group), nil
	}
	return nil, nil
}
