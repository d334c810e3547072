package plan

import (
	"cmp"
	"slices"

	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/term"
	"odarchive/triplestore/xsdval"
)

func (b *builder) newFilter(in Node, conds []Expr) Node {
	p := in.Info()
	if f, ok := in.(*Filter); ok {
		n := *f
		n.Conds = append(append([]Expr(nil), f.Conds...), conds...)
		return b.estimateFilter(&n, len(f.Conds))
	}
	n := &Filter{In: in, Conds: conds, Props: *p}
	return b.estimateFilter(n, 0)
}

func (b *builder) estimateFilter(n *Filter, from int) Node {
	for _, c := range n.Conds[from:] {
		n.Cost += n.Rows * exprCost(c.Expr)
		n.Rows *= b.selectivity(c.Expr, &n.Props)
	}
	return n
}

// exprCost estimates the nanoseconds of an expression for one row. One that needs the text of terms costs more.
func exprCost(e algebra.Expr) float64 {
	switch e := e.(type) {
	case algebra.Call:
		c := costExpr / 2
		if onIDs(e.Func) {
			c = costExpr / 16
		}
		for _, a := range e.Args {
			c += exprCost(a)
		}
		switch e.Func {
		case "REGEX", "CONTAINS", "STR", "LCASE", "UCASE", "STRSTARTS", "STRENDS", "LANG", "REPLACE":
			c += costTerm
		}
		if geometryCall(e) {
			c += costGeometry
		}
		return c
	case algebra.In:
		c := exprCost(e.Expr) + costExpr // for looking the constants up
		for _, a := range e.List {
			if _, ok := a.(algebra.ConstExpr); !ok {
				c += costExpr + exprCost(a)
			}
		}
		return c
	}
	return costExpr / 8
}

// onIDs reports whether a function is computed from inline ids, many rows at a time.
func onIDs(fn string) bool {
	switch fn {
	case "+", "-", "*", "/", "YEAR", "MONTH", "DAY", "HOURS", "MINUTES", "SECONDS", "ABS", "CEIL", "FLOOR", "ROUND", "&&", "||", "!", "IF",
		"COALESCE", "BOUND":
		return true
	}
	return false
}

// selectivity guesses the share of rows that a condition keeps.
func (b *builder) selectivity(e algebra.Expr, p *Props) float64 {
	c, ok := e.(algebra.Call)
	if !ok {
		if in, ok := e.(algebra.In); ok && !in.Not {
			return min(1, float64(len(in.List))*b.selectivity(algebra.Call{Func: "=", Args: []algebra.Expr{in.Expr}}, p))
		}
		return 0.5
	}
	switch c.Func {
	case "=", "SAMETERM":
		for _, a := range c.Args {
			if v, ok := a.(algebra.VarExpr); ok {
				if d, ok := p.Distinct[b.plan.Slot(v.Var)]; ok && d > 0 {
					return 1 / d
				}
			}
		}
		return 0.1
	case "<", ">", "<=", ">=":
		return 0.35
	case "REGEX", "CONTAINS", "STRSTARTS", "STRENDS":
		return 0.15
	case "&&":
		return b.selectivity(c.Args[0], p) * b.selectivity(c.Args[1], p)
	case "||":
		return min(1, b.selectivity(c.Args[0], p)+b.selectivity(c.Args[1], p))
	case "!=", "BOUND":
		return 0.9
	case "!":
		return 1 - min(0.9, b.selectivity(c.Args[0], p))
	}
	if _, near := nearnessOf(c); near {
		return 0.05
	}
	return 0.5
}

// filterScan puts conditions on a scan. Those that limit the first free position of its order become ranges of ids,
// outside of which the scan reads nothing. All conditions are still evaluated.
func (b *builder) filterScan(s *Scan, conds []Expr) Node {
	n := *s
	if first := firstFree(s); first >= 0 {
		for _, c := range conds {
			slot, ranges, ok := b.ranges(c.Expr)
			if !ok || slot != first || len(ranges) > fewRanges && float64(len(ranges))*costSeek > n.Rows*(costScan+costExpr) {
				continue
			}
			n.Ranges = intersect(n.Ranges, ranges)
			sel := b.selectivity(c.Expr, &n.Props)
			n.Rows *= sel
			n.Cost = costSeek*float64(len(n.Ranges)+1) + n.Rows*costScan
		}
	}
	rows := n.Rows
	f := b.newFilter(&n, conds)
	if n.Ranges != nil {
		f.Info().Rows = rows
	}
	return f
}

// fewRanges is the number of ranges up to which a scan jumps to each. For more, jumping must be cheaper than reading
// on.
const fewRanges = 8

// firstFree returns the slot of the first position of a scan's order that is not constant, or -1.
func firstFree(s *Scan) int {
	for _, c := range components[s.Order] {
		if s.Pos[c].ID == 0 {
			return s.Pos[c].Slot
		}
	}
	return -1
}

// ranges returns ranges of ids that contain every value for which a comparison of a variable with constants may be
// true. ok is false if e is not such a comparison.
func (b *builder) ranges(e algebra.Expr) (slot int, out []Range, ok bool) {
	in, is := e.(algebra.In)
	op := "="
	if c, call := e.(algebra.Call); call && len(c.Args) == 2 {
		in, is, op = algebra.In{Expr: c.Args[0], List: c.Args[1:]}, true, c.Func
		if _, ok := in.Expr.(algebra.ConstExpr); ok {
			in.Expr, in.List = c.Args[1], c.Args[:1]
			op = map[string]string{"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "="}[op]
		}
	}
	v, isVar := in.Expr.(algebra.VarExpr)
	switch op {
	case "<", ">", "<=", ">=", "=":
	default:
		return 0, nil, false
	}
	if !is || !isVar || in.Not {
		return 0, nil, false
	}
	// A literal of the dictionary may have any value. Inline ids of a constant's own tag are in the order of their
	// values.
	out = []Range{{term.Make(term.TagLiteral, 0), term.Make(term.TagLiteral, 1<<60-1)}}
	for _, x := range in.List {
		k, ok := x.(algebra.ConstExpr)
		if !ok {
			return 0, nil, false
		}
		tags, lo, hi := comparableTags(k.Term)
		if tags == nil {
			return 0, nil, false
		}
		for _, t := range tags {
			r := Range{term.Make(t, 0), term.Make(t, 1<<60-1)}
			if t == lo.Tag() {
				if op != "<" && op != "<=" {
					r.From = lo
				}
				if op != ">" && op != ">=" {
					r.To = hi
				}
			}
			out = append(out, r)
		}
	}
	return b.plan.Slot(v.Var), mergeRanges(out), true
}

// mergeRanges sorts ranges and joins those that overlap.
func mergeRanges(list []Range) []Range {
	slices.SortFunc(list, func(a, b Range) int { return cmp.Compare(a.From, b.From) })
	out := list[:1]
	for _, r := range list[1:] {
		if last := &out[len(out)-1]; r.From <= last.To {
			last.To = max(last.To, r.To)
		} else {
			out = append(out, r)
		}
	}
	return out
}

// comparableTags returns the inline tags whose values can be compared with a constant, and the first and last id of
// its own tag that may equal it. If they are 0, the whole tag must be read.
func comparableTags(k term.Key) (tags []term.Tag, lo, hi term.ID) {
	kind := xsdval.KindOf(k.Datatype())
	id, inline := term.Inline(k)
	if inline {
		lo, hi = id, id
	}
	switch {
	case k.Datatype() == term.XSDString:
		if !inline {
			lo, hi = 0, 0
		}
		return []term.Tag{term.TagString}, 0, 0
	case kind.Numeric():
		if id.Tag() != term.TagInteger && id.Tag() != term.TagDecimal {
			lo, hi = 0, 0
		}
		return []term.Tag{term.TagInteger, term.TagDecimal, term.TagDouble}, lo, hi
	case kind == xsdval.DateTime, kind == xsdval.Date:
		tag := term.TagDateTime
		if kind == xsdval.Date {
			tag = term.TagDate
		}
		// Ids of one instant differ by zone and written precision. Without a zone, an instant is known to ±14 hours.
		if inline {
			lo, hi = spread(lo, -1), spread(hi, 1)
		}
		return []term.Tag{tag}, lo, hi
	}
	return nil, 0, 0
}

// spread moves the id of a dateTime or date by 15 hours. The instant is in the high bits of the payload.
func spread(id term.ID, sign int64) term.ID {
	shift, unit := 13, int64(15*3600*1000)
	if id.Tag() == term.TagDate {
		shift, unit = 11, 15*60
	}
	p := int64(id.Payload()>>shift) + sign*unit
	p = max(0, p)
	return term.Make(id.Tag(), uint64(p)<<shift)
}

func intersect(a, b []Range) []Range {
	if a == nil {
		return b
	}
	var out []Range
	for _, x := range a {
		for _, y := range b {
			r := Range{max(x.From, y.From), min(x.To, y.To)}
			if r.From <= r.To {
				out = append(out, r)
			}
		}
	}
	if out == nil {
		out = []Range{}
	}
	return out
}
