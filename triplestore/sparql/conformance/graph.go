package conformance

import (
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// Graph finds triples in a small graph.
type Graph struct{ out map[term.Key][]term.Quad }

// NewGraph indexes triples by subject and keeps their order.
func NewGraph(quads []term.Quad) *Graph {
	g := &Graph{out: map[term.Key][]term.Quad{}}
	for _, q := range quads {
		g.out[q.S] = append(g.out[q.S], q)
	}
	return g
}

// All returns the objects of a subject and a predicate.
func (g *Graph) All(s term.Key, predicate string) []term.Key {
	var out []term.Key
	for _, q := range g.out[s] {
		if q.P.Value() == predicate {
			out = append(out, q.O)
		}
	}
	return out
}

// One returns the first of All, or "".
func (g *Graph) One(s term.Key, predicate string) term.Key {
	if all := g.All(s, predicate); len(all) > 0 {
		return all[0]
	}
	return ""
}

// List returns the members of an RDF collection.
func (g *Graph) List(head term.Key) []term.Key {
	var out []term.Key
	for head != "" && head.Value() != vocab.RDFNil && len(out) < 1e5 {
		out = append(out, g.One(head, vocab.RDFFirst))
		head = g.One(head, vocab.RDFRest)
	}
	return out
}

// Subjects returns the subjects of a predicate and an object.
func (g *Graph) Subjects(predicate string, object term.Key) []term.Key {
	var out []term.Key
	for s, quads := range g.out {
		for _, q := range quads {
			if q.P.Value() == predicate && q.O == object {
				out = append(out, s)
			}
		}
	}
	return out
}
