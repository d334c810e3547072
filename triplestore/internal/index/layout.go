package index

import "odarchive/triplestore/term"

// Layout is a sort order of quads kept by the index. The letters are the components, most significant first.
//
// The first four layouts hold every quad. For one known graph, which may be the default graph, they serve as an index
// of that graph. The other four hold the quads of named graphs again, for queries with an unknown graph.
type Layout byte

const (
	GSPO Layout = iota
	GPOS
	GOSP
	GPSO
	SPOG
	POSG
	OSPG
	PSOG
	Layouts = 8 // number of layouts
)

func (l Layout) String() string {
	return [...]string{"GSPO", "GPOS", "GOSP", "GPSO", "SPOG", "POSG", "OSPG", "PSOG"}[l&7]
}

// Holds reports whether the layout has quads of graph g.
func (l Layout) Holds(g term.ID) bool { return l < SPOG || g != term.DefaultGraph }

// Tuple is a quad with its components in a layout's order, most significant first.
type Tuple [4]term.ID

// Tuple returns q with its components in the layout's order.
func (l Layout) Tuple(q term.IDQuad) Tuple {
	switch l {
	case GSPO:
		return Tuple{q.G, q.S, q.P, q.O}
	case GPOS:
		return Tuple{q.G, q.P, q.O, q.S}
	case GOSP:
		return Tuple{q.G, q.O, q.S, q.P}
	case GPSO:
		return Tuple{q.G, q.P, q.S, q.O}
	case SPOG:
		return Tuple{q.S, q.P, q.O, q.G}
	case POSG:
		return Tuple{q.P, q.O, q.S, q.G}
	case OSPG:
		return Tuple{q.O, q.S, q.P, q.G}
	default:
		return Tuple{q.P, q.S, q.O, q.G}
	}
}

// Quad returns the quad of a tuple of the layout.
func (l Layout) Quad(t Tuple) term.IDQuad {
	switch l {
	case GSPO:
		return term.IDQuad{G: t[0], S: t[1], P: t[2], O: t[3]}
	case GPOS:
		return term.IDQuad{G: t[0], P: t[1], O: t[2], S: t[3]}
	case GOSP:
		return term.IDQuad{G: t[0], O: t[1], S: t[2], P: t[3]}
	case GPSO:
		return term.IDQuad{G: t[0], P: t[1], S: t[2], O: t[3]}
	case SPOG:
		return term.IDQuad{S: t[0], P: t[1], O: t[2], G: t[3]}
	case POSG:
		return term.IDQuad{P: t[0], O: t[1], S: t[2], G: t[3]}
	case OSPG:
		return term.IDQuad{O: t[0], S: t[1], P: t[2], G: t[3]}
	default:
		return term.IDQuad{P: t[0], S: t[1], O: t[2], G: t[3]}
	}
}

// Compare compares tuples of one layout.
func (t Tuple) Compare(u Tuple) int {
	for i := range t {
		if t[i] != u[i] {
			if t[i] < u[i] {
				return -1
			}
			return 1
		}
	}
	return 0
}

// Less reports whether Compare(u) < 0.
func (t Tuple) Less(u Tuple) bool {
	if t[0] != u[0] {
		return t[0] < u[0]
	}
	if t[1] != u[1] {
		return t[1] < u[1]
	}
	if t[2] != u[2] {
		return t[2] < u[2]
	}
	return t[3] < u[3]
}

// search returns the index of the first row, in rows sorted in layout l, that is not less than t.
func search(l Layout, rows []term.IDQuad, t Tuple) int {
	lo, hi := 0, len(rows)
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if l.Tuple(rows[m]).Less(t) {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

// gallop is like search, for an index expected to be small.
func gallop(l Layout, rows []term.IDQuad, t Tuple) int {
	step := 1
	for step < len(rows) && l.Tuple(rows[step]).Less(t) {
		step *= 2
	}
	lo := step / 2
	return lo + search(l, rows[lo:min(step+1, len(rows))], t)
}

// Range is a range of tuples of one layout, including From and excluding To. A zero To means no end.
type Range struct {
	Layout   Layout
	From, To Tuple
}

func (r Range) open() bool { return r.To == Tuple{} }

// clip returns those of the rows, which are sorted in the range's layout, that are in the range.
func (r Range) clip(rows []term.IDQuad) []term.IDQuad {
	if len(rows) == 0 {
		return nil
	}
	if r.Layout.Tuple(rows[0]).Less(r.From) {
		rows = rows[search(r.Layout, rows, r.From):]
	}
	if len(rows) > 0 && !r.open() && !r.Layout.Tuple(rows[len(rows)-1]).Less(r.To) {
		rows = rows[:search(r.Layout, rows, r.To)]
	}
	return rows
}

// prefixRange returns the range of all tuples that begin with the first n components of t.
func prefixRange(l Layout, t Tuple, n int) Range {
	r := Range{Layout: l}
	copy(r.From[:n], t[:n])
	if n > 0 {
		copy(r.To[:n], t[:n])
		r.To[n-1]++
	}
	return r
}

// Plan describes how a pattern is read in a layout: a range, and a filter for its rows.
type Plan struct {
	Range  Range
	Prefix int          // number of known components that lead the layout and are matched by the range
	Rest   term.Pattern // other known components, to be matched row by row; zero if there are none
}

// planFor returns the plan for pattern p in layout l. p.G is a graph's id, or AnyNamed or AnyGraph in the layouts that
// end in G.
func planFor(l Layout, p term.Pattern) Plan {
	q := term.IDQuad(p)
	if q.G == term.AnyNamed {
		q.G = 0
	}
	t := l.Tuple(q)
	n := 0
	for n < 4 && t[n] != 0 {
		n++
	}
	rest := t
	for i := range n {
		rest[i] = 0
	}
	return Plan{Range: prefixRange(l, t, n), Prefix: n, Rest: term.Pattern(l.Quad(rest))}
}

// Matches reports whether q matches every known component of p.
func Matches(p term.Pattern, q term.IDQuad) bool {
	return (p.S == 0 || p.S == q.S) && (p.P == 0 || p.P == q.P) && (p.O == 0 || p.O == q.O) && (p.G == 0 || p.G == q.G)
}

// forGraph returns the layout that serves order o for one known graph.
func forGraph(o term.Order) Layout { return Layout(o & 3) }

// acrossGraphs returns the layout that serves order o for all named graphs.
func acrossGraphs(o term.Order) Layout { return SPOG + Layout(o&3) }

// Order returns the sort order that the layout serves.
func (l Layout) Order() term.Order { return term.Order(l & 3) }

// bestOrder returns the order that begins with the known components of p other than the graph.
func bestOrder(p term.Pattern) term.Order {
	switch s, pr, o := p.S != 0, p.P != 0, p.O != 0; {
	case s && (pr || !o):
		return term.SPO
	case s: // and o
		return term.OSP
	case pr:
		return term.POS
	case o:
		return term.OSP
	}
	return term.SPO
}

// compareIn returns a function that compares quads in a layout's order.
func compareIn(l Layout) func(a, b term.IDQuad) int {
	return func(a, b term.IDQuad) int { return l.Tuple(a).Compare(l.Tuple(b)) }
}
