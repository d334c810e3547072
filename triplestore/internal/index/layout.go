package index

import "odarchive/triplestore/term"

// Layout is a sort order of quads that the index keeps. The letters are the components from the most significant on.
//
// The first four hold every quad and serve one known graph, the default graph among them, as if it were an index of
// its own. The other four hold the quads of named graphs once more, for questions that leave the graph open.
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
	Layouts = 8 // how many there are
)

func (l Layout) String() string {
	return [...]string{"GSPO", "GPOS", "GOSP", "GPSO", "SPOG", "POSG", "OSPG", "PSOG"}[l&7]
}

// Holds reports whether quads of graph g are kept in the layout.
func (l Layout) Holds(g term.ID) bool { return l < SPOG || g != term.DefaultGraph }

// Tuple is a quad with its components in a layout's order, most significant first.
type Tuple [4]term.ID

// Tuple puts q's components into the layout's order.
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

// Quad is the quad a tuple of the layout stands for.
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

// Compare tuples of one layout.
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

// Less is Compare(u) < 0.
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

// search finds the first of the rows, sorted in layout l, that is not before t.
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

// gallop is search for a row that is expected near the beginning.
func gallop(l Layout, rows []term.IDQuad, t Tuple) int {
	step := 1
	for step < len(rows) && l.Tuple(rows[step]).Less(t) {
		step *= 2
	}
	lo := step / 2
	return lo + search(l, rows[lo:min(step+1, len(rows))], t)
}

// Range is a set of tuples of one layout: From is in it, To is not. A zero To has no end.
type Range struct {
	Layout   Layout
	From, To Tuple
}

func (r Range) open() bool { return r.To == Tuple{} }

// clip cuts rows that are sorted in the range's layout down to those in it.
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

// prefixRange is the range of all tuples that begin with the first n components of t.
func prefixRange(l Layout, t Tuple, n int) Range {
	r := Range{Layout: l}
	copy(r.From[:n], t[:n])
	if n > 0 {
		copy(r.To[:n], t[:n])
		r.To[n-1]++
	}
	return r
}

// Plan says how a pattern is read in a layout: which range, and what is left to compare row by row.
type Plan struct {
	Range  Range
	Prefix int          // known components that lead the layout, and so need no comparing
	Rest   term.Pattern // known components that do not; zero where none are left
}

// PlanFor reads pattern p in layout l. p.G is a graph's id, or AnyNamed or AnyGraph in the layouts that end in G.
func PlanFor(l Layout, p term.Pattern) Plan {
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

// Matches reports whether a row agrees with every known component of p.
func Matches(p term.Pattern, q term.IDQuad) bool {
	return (p.S == 0 || p.S == q.S) && (p.P == 0 || p.P == q.P) && (p.O == 0 || p.O == q.O) && (p.G == 0 || p.G == q.G)
}

// ForGraph is the layout that serves order o for one known graph, AcrossGraphs the one for all named graphs.
func ForGraph(o term.Order) Layout     { return Layout(o & 3) }
func AcrossGraphs(o term.Order) Layout { return SPOG + Layout(o&3) }

// Order is the sort order that the layout serves.
func (l Layout) Order() term.Order { return term.Order(l & 3) }

// CompareQuads compares in the sort order o, then by graph.
func CompareQuads(o term.Order, a, b term.IDQuad) int {
	l := AcrossGraphs(o)
	return l.Tuple(a).Compare(l.Tuple(b))
}

// BestOrder is the order in which p's known components (other than the graph) come first.
func BestOrder(p term.Pattern) term.Order {
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

// sorter sorts rows in a layout's order.
func compareIn(l Layout) func(a, b term.IDQuad) int {
	return func(a, b term.IDQuad) int { return l.Tuple(a).Compare(l.Tuple(b)) }
}
