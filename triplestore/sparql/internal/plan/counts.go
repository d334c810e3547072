package plan

import "odarchive/triplestore/term"

// countsFromIndex finds Group(Scan) if all aggregates count rows, by COUNT(*) or COUNT of a variable that the scan
// always binds, and the group has no key or one position that comes right after the constants in some order.
func countsFromIndex(b *builder, root Node) Node {
	return rewrite(root, func(n Node) Node {
		g, ok := n.(*Group)
		if !ok || len(g.By) > 1 || b.plan.HasFrom {
			return n
		}
		in := g.In
		if p, ok := in.(*Project); ok {
			in = p.In
		}
		s, ok := in.(*Scan)
		if !ok || s.Ranges != nil || s.OneEach || repeats(s.Pos) || s.Pos[3].Slot >= 0 {
			return n
		}
		c := &Counts{Pos: s.Pos, By: -1, Order: s.Order}
		for _, a := range g.Aggs {
			if a.Func != "COUNT" || a.Distinct || a.Arg != nil && !boundVar(b, *a.Arg, s) {
				return n
			}
			c.Out = append(c.Out, a.Slot)
		}
		if len(c.Out) == 0 || !b.estimate(pattern(s.Pos)).Exact {
			return n
		}
		c.Props = g.Props
		c.Cost = costSeek
		if len(g.By) == 0 {
			return c
		}
		for i, p := range s.Pos[:3] {
			if p.Slot == g.By[0] {
				c.By = i
			}
		}
		if c.By < 0 || distinctOf(&s.Props, g.By[0])*costSeek*2 > s.Rows*costScan {
			return n
		}
		for o := range b.orders {
			if b.orders[o] && firstAfterConstants(s.Pos, o) == c.By {
				c.Order = term.Order(o)
				c.Sorted = g.By
				c.Cost = g.Rows * costSeek * 2
				return c
			}
		}
		return n
	})
}

// firstAfterConstants returns the position that follows the constants in an order, or -1 if the constants do not come
// first.
func firstAfterConstants(pos [4]Pos, o int) int {
	if constantAfterFree(pos, o) {
		return -1
	}
	for _, c := range components[o] {
		if pos[c].ID == 0 {
			return c
		}
	}
	return -1
}

// boundVar reports whether e is a variable that a scan always binds.
func boundVar(b *builder, e Expr, s *Scan) bool {
	return len(e.Slots) == 1 && e.IsVar() && s.Sure.Has(e.Slots[0])
}
