package plan

import (
	"slices"

	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/term"
)

// Rule is a rewrite of a finished plan that keeps its answer.
type Rule struct {
	Name  string // as in Options.Without
	About string // what the rule does, in one line
	apply func(b *builder, n Node) Node
}

// rules are applied one after the other, each to the whole tree.
var rules = []Rule{
	{"constants", "a variable that a filter makes equal to an IRI or a string is replaced by it", nil},   // by joinFactors
	{"computed-keys", "patterns that only a filter f(?a) = g(?b) connects are joined by its value", nil}, // by joinFactors
	// by leaves and probe
	{"places", "patterns whose geometries a filter wants to be near something start from the index of geometries", nil},
	{"distinct-first", "DISTINCT comes before an ORDER BY of its own columns, which then sorts fewer rows", distinctFirst},
	{"top-k", "a LIMIT over a sort keeps only the first rows while sorting", topK},
	{"sorted-distinct", "DISTINCT over a sorted input compares neighbours", sortedDistinct},
	{"loose-scan", "DISTINCT over a prefix of an index order skips from value to value", looseScan},
	{"counts", "COUNT over one pattern is answered from the index's statistics", countsFromIndex},
}

// distinctFirst finds Distinct(Project(Sort)) if equal rows have equal sort keys.
func distinctFirst(b *builder, root Node) Node {
	return rewrite(root, func(n Node) Node {
		d, p, ok := distinctProject(n)
		if !ok {
			return n
		}
		s, ok := p.In.(*Sort)
		if !ok || s.Limit >= 0 || !readBy(s.exprs()).In(setOf(p.Cols...)) ||
			slices.ContainsFunc(s.exprs(), func(e Expr) bool { return algebra.Volatile(e.Expr) }) {
			return n
		}
		p.In = s.In
		p.Sorted = sortedPrefix(s.In.Info().Sorted, setOf(p.Cols...))
		p.Cost -= s.Cost - s.In.Info().Cost
		d.Sorted = p.Sorted
		d.Cost -= s.Cost - s.In.Info().Cost
		props := d.Props
		props.Sorted = s.Sorted
		s.In, s.Props = d, props
		return s
	})
}

// distinctProject reports whether n is Distinct(Project(...)).
func distinctProject(n Node) (d *Distinct, p *Project, ok bool) {
	if d, ok = n.(*Distinct); ok {
		p, ok = d.In.(*Project)
	}
	return d, p, ok
}

// topK finds Slice(Project*(Sort)).
func topK(b *builder, root Node) Node {
	return rewrite(root, func(n Node) Node {
		s, ok := n.(*Slice)
		if !ok || s.Limit < 0 || s.Per >= 0 || s.Limit+s.Offset > 100000 {
			return n
		}
		in := s.In
		for {
			p, ok := in.(*Project)
			if !ok {
				break
			}
			in = p.In
		}
		if sort, ok := in.(*Sort); ok {
			sort.Limit = s.Limit + s.Offset
			sort.Rows = min(sort.Rows, float64(sort.Limit))
		}
		return n
	})
}

// sortedDistinct finds Distinct over rows sorted by all columns.
func sortedDistinct(b *builder, root Node) Node {
	return rewrite(root, func(n Node) Node {
		if d, ok := n.(*Distinct); ok {
			p := d.In.Info()
			d.Streaming = len(p.Cols) > 0 && sortedBy(p, p.Cols)
		}
		return n
	})
}

// looseScan finds Distinct(Project(Scan)) if the wanted columns are the first free positions of the scan's order, or
// of another order of the same pattern.
func looseScan(b *builder, root Node) Node {
	return rewrite(root, func(n Node) Node {
		_, p, ok := distinctProject(n)
		if !ok {
			return n
		}
		s, ok := p.In.(*Scan)
		if !ok || s.Ranges != nil {
			return n
		}
		want := setOf(p.Cols...)
		for o := range b.orders {
			if !b.orders[o] || len(s.Props.Cols) < 1 {
				continue
			}
			cand := looseScanOf(s, o, want)
			if cand == nil {
				continue
			}
			groups := 1.0
			for _, c := range p.Cols {
				groups *= distinctOf(&s.Props, c)
			}
			if groups*costSeek > s.Rows*costScan {
				continue // jumping would cost more than reading on
			}
			cand.Rows = min(groups, s.Rows)
			cand.Cost = cand.Rows * costSeek
			p.In = cand
			p.Sorted = cand.Sorted
			p.Rows = cand.Rows
			return p
		}
		return n
	})
}

// looseScanOf returns a scan in order o that yields each combination of the wanted columns once, or nil if these
// columns do not follow the constants.
func looseScanOf(s *Scan, o int, want Set) *Scan {
	left := want
	free := false
	for _, c := range components[o] {
		p := s.Pos[c]
		switch {
		case p.ID != 0:
			if free && !left.Empty() {
				return nil // a constant after a variable does not limit the range
			}
		case p.Slot >= 0 && left.Has(p.Slot):
			left = left.Minus(setOf(p.Slot))
			free = true
		case !left.Empty():
			return nil
		}
	}
	if !left.Empty() || repeats(s.Pos) || constantAfterFree(s.Pos, o) || s.Pos[3].Slot >= 0 {
		return nil
	}
	n := *s
	n.Order = term.Order(o)
	n.Cols = want.List()
	n.Sure = want
	n.OneEach = true
	n.Sorted = sortedPrefix(scanOrder(n.Pos, n.Order), want)
	return &n
}

// repeats reports whether a variable occurs twice.
func repeats(pos [4]Pos) bool {
	seen := Set{}
	for _, p := range pos {
		if p.Slot >= 0 {
			if seen.Has(p.Slot) {
				return true
			}
			seen = seen.With(p.Slot)
		}
	}
	return false
}

// constantAfterFree reports whether a constant follows a position that is not constant, in order o.
func constantAfterFree(pos [4]Pos, o int) bool {
	free := false
	for _, c := range components[o] {
		if pos[c].ID == 0 {
			free = true
		} else if free {
			return true
		}
	}
	return false
}
