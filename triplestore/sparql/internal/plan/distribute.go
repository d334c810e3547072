package plan

const (
	maxDistributed = 3  // patterns that are joined with each branch of a union
	maxListed      = 32 // rows of VALUES whose matches are counted one by one
)

// distribute joins the patterns of a group with each branch of its union instead of with all of its rows. The branches
// are sorted, and a merge join costs less than a table. It returns nil if the group is not made of one union and few
// patterns.
func (b *builder) distribute(g *group) (Node, error) {
	if b.opts.Join != "" || b.opts.NoReorder || b.seeded >= maxSeeded || len(g.factors) < 2 || len(g.factors) > maxDistributed+1 {
		return nil, nil
	}
	union := -1
	var others []factor
	for i, f := range g.factors {
		switch {
		case f.around != nil && union < 0:
			union = i
		case f.pos != nil:
			others = append(others, f)
		default:
			return nil, nil
		}
	}
	if union < 0 {
		return nil, nil
	}
	for _, f := range others {
		if !f.cols.Overlaps(g.factors[union].cols) {
			return nil, nil
		}
	}
	b.seeded++
	return g.factors[union].around(others, g.filters)
}

// listedRows returns how many rows the join of a few VALUES with a pattern has, by the store's estimate for each value,
// or -1 if v is not VALUES or shares several variables with the pattern. Values that stand in a query are seldom
// average ones.
func (b *builder) listedRows(v Node, f *factor) float64 {
	list, ok := v.(*Values)
	if !ok || f == nil || f.pos == nil || len(list.Rows) > maxListed {
		return -1
	}
	shared := f.cols.And(setOf(list.Cols...)).List()
	if len(shared) != 1 {
		return -1
	}
	col, rows := 0, 0.0
	for list.Cols[col] != shared[0] {
		col++
	}
	for _, row := range list.Rows {
		pos := *f.pos
		for i := range pos {
			if pos[i].Slot == shared[0] && row[col] != 0 {
				pos[i].ID = row[col]
			}
		}
		rows += b.estimate(pattern(pos)).Count
	}
	return rows
}
