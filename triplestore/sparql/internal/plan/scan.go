package plan

import "odarchive/triplestore/term"

// components lists the positions (0 subject, 1 predicate, 2 object) of each order.
var components = [4][3]int{term.SPO: {0, 1, 2}, term.POS: {1, 2, 0}, term.OSP: {2, 0, 1}, term.PSO: {1, 0, 2}}

// Components returns which of subject, predicate and object (0, 1, 2) comes first, second and third in an order.
func Components(o term.Order) [3]int { return components[o] }

// scans returns the ways to read one pattern: one for each order in which its constants come first, which is every
// order if it has none.
func (b *builder) scans(pos [4]Pos) []*Scan {
	est := b.estimate(pattern(pos))
	var out []*Scan
	constants := 0
	for _, p := range pos[:3] {
		if p.ID != 0 {
			constants++
		}
	}
	for o := term.SPO; o <= term.PSO; o++ {
		if !b.orders[o] {
			continue
		}
		prefix := 0
		for _, c := range components[o] {
			if pos[c].ID == 0 {
				break
			}
			prefix++
		}
		if prefix == constants {
			out = append(out, newScan(pos, o, est))
		}
	}
	if len(out) == 0 {
		out = append(out, newScan(pos, term.SPO, est))
	}
	return out
}

// pattern returns what a scan asks the dataset for.
func pattern(pos [4]Pos) term.Pattern {
	p := term.Pattern{S: pos[0].ID, P: pos[1].ID, O: pos[2].ID, G: pos[3].ID}
	if pos[3].Slot >= 0 {
		p.G = term.AnyNamed
	}
	return p
}

func newScan(pos [4]Pos, o term.Order, est term.Estimate) *Scan {
	n := &Scan{Pos: pos, Order: o}
	n.Rows = max(est.Count, 0)
	n.Cost = costSeek + n.Rows*costScan
	n.Distinct = map[int]float64{}
	seen := Set{}
	for i, p := range pos {
		if p.Slot < 0 {
			continue
		}
		if seen.Has(p.Slot) {
			n.Rows /= 10 // ?x p ?x
			continue
		}
		seen = seen.With(p.Slot)
		n.Cols = append(n.Cols, p.Slot)
		if i < 3 && est.Distinct[i] > 0 {
			n.Distinct[p.Slot] = est.Distinct[i]
		}
	}
	n.Sure = seen
	n.Sorted = scanOrder(pos, o)
	return n
}

// scanOrder returns the slots by which a scan is sorted.
func scanOrder(pos [4]Pos, o term.Order) []int {
	var sorted []int
	seen := Set{}
	c := components[o]
	for _, i := range [4]int{c[0], c[1], c[2], 3} {
		p := pos[i]
		if p.ID != 0 || p.Slot >= 0 && seen.Has(p.Slot) {
			continue
		}
		if p.Slot < 0 {
			break
		}
		seen = seen.With(p.Slot)
		sorted = append(sorted, p.Slot)
	}
	return sorted
}

// probeOrder returns an order in which the constants and the bound slots of a pattern come first, and the bound slots
// in that order as keys. ok is false if the store has no such order.
func (b *builder) probeOrder(pos [4]Pos, bound Set) (o term.Order, keys []int, ok bool) {
	fixed := 0
	for _, p := range pos[:3] {
		if p.ID != 0 || p.Slot >= 0 && bound.Has(p.Slot) {
			fixed++
		}
	}
	best := -1
	for cand := term.SPO; cand <= term.PSO; cand++ {
		if !b.orders[cand] {
			continue
		}
		var ks []int
		n, score := 0, 0
		seen := Set{}
		for _, c := range components[cand] {
			p := pos[c]
			if p.ID != 0 {
				if len(ks) == 0 {
					score++ // constants before keys keep the keys close together
				}
			} else if p.Slot < 0 || !bound.Has(p.Slot) {
				break
			} else if !seen.Has(p.Slot) {
				seen = seen.With(p.Slot)
				ks = append(ks, p.Slot)
			}
			n++
		}
		if n == fixed && len(ks) > 0 && score > best {
			best, o, keys, ok = score, cand, ks, true
		}
	}
	return o, keys, ok
}

// rangeRows returns the number of quads between the first and the last one that probes of a pattern may read: those
// that match the constants before the first key.
func (b *builder) rangeRows(pos [4]Pos, o term.Order) float64 {
	var p term.Pattern
	for _, c := range components[o] {
		if pos[c].ID == 0 {
			break
		}
		switch c {
		case 0:
			p.S = pos[c].ID
		case 1:
			p.P = pos[c].ID
		default:
			p.O = pos[c].ID
		}
	}
	return b.estimate(p).Count
}
