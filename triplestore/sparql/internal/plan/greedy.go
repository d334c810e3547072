package plan

import (
	"cmp"
	"slices"
)

// greedy starts with the smallest factor and adds, step by step, the one that is cheapest to join.
func (b *builder) greedy(g *group) Node {
	left := make([]int, 0, len(g.factors))
	leaves := make([][]Node, len(g.factors))
	users := map[int]int{} // factors that are not joined yet, by slot
	many := len(g.factors) > manyFactors
	for i := range g.factors {
		if many {
			for _, s := range g.factors[i].cols.List() {
				users[s]++
			}
		}
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
	joined := left[start]
	left = slices.Delete(left, start, start+1)
	for len(left) > 0 {
		if many {
			forget(cur, &g.factors[joined], users)
		}
		if b.check() != nil { // joinFactors returns it
			return cur
		}
		var best Node
		at := -1
		have := setOf(cur.Info().Cols...)
		for pass := 0; pass < 2 && best == nil; pass++ { // connected factors first
			for i, fi := range left {
				f := &g.factors[fi]
				if pass == 0 && !f.cols.Overlaps(have) && !g.near(cur.Info().Sure, f.sure) {
					continue
				}
				c := &joiner{b: b, rows: b.listedRows(cur, f), filters: b.newlyCovered(g.filters, cur.Info().Sure, f.sure)}
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
				if len(left) > manyFactors && best != nil { // take the first that is connected, or just the first
					break
				}
			}
		}
		cur, joined = best, left[at]
		left = slices.Delete(left, at, at+1)
	}
	return cur
}

// manyFactors is the number of factors above which greedy compares less and keeps fewer estimates.
const manyFactors = 64

// forget removes the estimates of cur for slots that no remaining factor has, after f was joined. Without it, the
// estimates of a long chain of patterns would take memory by the square of its length.
func forget(cur Node, f *factor, users map[int]int) {
	for _, s := range f.cols.List() {
		users[s]--
	}
	for s := range cur.Info().Distinct {
		if users[s] <= 0 {
			delete(cur.Info().Distinct, s)
		}
	}
}

func leafRows(list []Node) float64 {
	if len(list) == 0 {
		return 1e18
	}
	return list[0].Info().Rows
}
