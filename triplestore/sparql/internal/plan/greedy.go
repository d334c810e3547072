package plan

import (
	"cmp"
	"slices"
)

// greedy starts with the smallest factor and adds, step by step, the one that is cheapest to join.
func (b *builder) greedy(g *group) Node {
	left := make([]int, 0, len(g.factors))
	leaves := make([][]Node, len(g.factors))
	for i := range g.factors {
		leaves[i] = b.leaves(&g.factors[i], g.filters)
		left = append(left, i)
	}
	if !b.opts.NoReorder {
		slices.SortStableFunc(left, func(x, y int) int { return cmp.Compare(leafRows(leaves[x]), leafRows(leaves[y])) })
	}
	start := 0
	for start < len(left)-1 && len(leaves[left[start]]) == 0 {
		start++
	}
	cur := cheapest(leaves[left[start]])
	left = slices.Delete(left, start, start+1)
	for len(left) > 0 {
		var best Node
		at := -1
		have := setOf(cur.Info().Cols...)
		for pass := 0; pass < 2 && best == nil; pass++ { // connected factors first
			for i, fi := range left {
				f := &g.factors[fi]
				if pass == 0 && f.cols.And(have).Empty() {
					continue
				}
				c := &joiner{b: b, rows: -1, filters: b.newlyCovered(g.filters, cur.Info().Sure, f.sure)}
				c.want = func(cost float64, _ []int) bool { return best == nil || cost < best.Info().Cost }
				c.add = func(n Node) {
					p := n.Info()
					if best == nil || p.Cost+p.Rows*costScan < best.Info().Cost+best.Info().Rows*costScan {
						best, at = n, i
					}
				}
				for k, leaf := range leaves[fi] {
					if k == 0 {
						c.shape(cur.Info(), leaf.Info())
					}
					c.pair(cur, leaf)
				}
				c.probe(cur, f, g.filters)
				if b.opts.NoReorder && best != nil {
					break
				}
				if len(left) > 64 && best != nil { // very many factors: take the first one that is connected, or just the first
					break // very many factors: take the first that is connected, or just the first
				}
			}
		}
		cur = best
		left = slices.Delete(left, at, at+1)
	}
	return cur
}

func leafRows(list []Node) float64 {
	if len(list) == 0 {
		return 1e18
	}
	return list[0].Info().Rows
}
