package oracle

import (
	"slices"

	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/term"
)

// triple matches a triple pattern against the active graph.
func (o *Oracle) triple(t algebra.TriplePattern, d dataset) []Solution {
	if !o.step(len(d.active)) {
		return nil
	}
	var out []Solution
	for _, q := range d.active {
		s := Solution{}
		if bind(t.S, q.S, s) && bind(t.P, q.P, s) && bind(t.O, q.O, s) {
			out = append(out, s)
		}
	}
	return out
}

// bind binds the variables of n in s so that n means k. It returns false if that is impossible.
func bind(n algebra.Node, k term.Key, s Solution) bool {
	switch {
	case n.Triple != nil:
		a, b, c, ok := k.Parts()
		return ok && bind(n.Triple.S, a, s) && bind(n.Triple.P, b, s) && bind(n.Triple.O, c, s)
	case n.Var != "":
		if old, ok := s[n.Var]; ok {
			return old == k
		}
		s[n.Var] = k
		return true
	}
	return n.Term == k
}

// edge is a pair of terms that a path connects.
type edge struct{ from, to term.Key }

// path evaluates a property path pattern (§18.4).
func (o *Oracle) path(p algebra.PathPattern, d dataset) []Solution {
	var out []Solution
	for _, e := range o.edges(p.Path, d, constants(p.S, p.O)) {
		s := Solution{}
		if bind(p.S, e.from, s) && bind(p.O, e.to, s) {
			out = append(out, s)
		}
	}
	return out
}

// constants returns the ends of a path that are terms. Paths of length zero connect them with themselves even if the
// graph does not contain them.
func constants(nodes ...algebra.Node) []term.Key {
	var out []term.Key
	for _, n := range nodes {
		if n.Var == "" && n.Triple == nil {
			out = append(out, n.Term)
		}
	}
	return out
}

// edges returns the pairs that a path connects, with the duplicates that the definition of the path implies. more are
// terms outside the graph that paths of length zero connect.
func (o *Oracle) edges(p algebra.Path, d dataset, more []term.Key) []edge {
	if !o.step(len(d.active)) {
		return nil
	}
	var out []edge
	switch p := p.(type) {
	case algebra.PathIRI:
		for _, q := range d.active {
			if q.P == term.IRI(p.IRI) {
				out = append(out, edge{q.S, q.O})
			}
		}
	case algebra.PathInverse:
		for _, e := range o.edges(p.Path, d, more) {
			out = append(out, edge{e.to, e.from})
		}
	case algebra.PathSeq:
		l, r := o.edges(p.L, d, more), o.edges(p.R, d, more)
		if !o.step(len(l) * len(r)) {
			return nil
		}
		for _, a := range l {
			for _, b := range r {
				if a.to == b.from {
					out = append(out, edge{a.from, b.to})
				}
			}
		}
	case algebra.PathAlt:
		out = append(o.edges(p.L, d, more), o.edges(p.R, d, more)...)
	case algebra.PathNot:
		for _, q := range d.active {
			if (len(p.Forward) > 0 || len(p.Inverse) == 0) && !slices.Contains(p.Forward, q.P.Value()) {
				out = append(out, edge{q.S, q.O})
			}
			if len(p.Inverse) > 0 && !slices.Contains(p.Inverse, q.P.Value()) {
				out = append(out, edge{q.O, q.S})
			}
		}
	case algebra.PathMany:
		out = o.many(p, d, more)
	}
	return out
}

// many evaluates ZeroOrOnePath, ZeroOrMorePath and OneOrMorePath, without duplicates.
func (o *Oracle) many(p algebra.PathMany, d dataset, more []term.Key) []edge {
	next := map[term.Key][]term.Key{}
	for _, e := range o.edges(p.Path, d, more) {
		next[e.from] = append(next[e.from], e.to)
	}
	nodes := map[term.Key]bool{}
	for _, q := range d.active {
		nodes[q.S], nodes[q.O] = true, true
	}
	for _, k := range more {
		nodes[k] = true
	}
	var out []edge
	for from := range nodes {
		reached := map[term.Key]bool{}
		var visit func(term.Key)
		visit = func(k term.Key) {
			if !reached[k] && o.step(1) {
				reached[k] = true
				if !p.Once {
					for _, n := range next[k] {
						visit(n)
					}
				}
			}
		}
		if p.Min == 0 {
			reached[from] = true
		}
		for _, n := range next[from] {
			visit(n)
		}
		for to := range reached {
			out = append(out, edge{from, to})
		}
	}
	return out
}
