package plan

import (
	"errors"
	"fmt"
	"slices"

	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// ErrArguments is wrapped by every error about the arguments of a property function.
var ErrArguments = errors.New("wrong arguments")

// propertyFunction plans a pattern whose predicate computes its solutions. The arguments are the members of the list
// at that position, or the single node there.
type propertyFunction func(b *builder, subject, object []algebra.Node, sc scope) (Node, error)

// propertyFunctions by IRI.
var propertyFunctions = map[string]propertyFunction{
	vocab.ArcMatches: matchesFunction,
	vocab.ArcSearch:  searchFunction,
	jenaText:         queryFunction,
}

// IsPropertyFunction reports whether an IRI names a predicate that computes its solutions.
func IsPropertyFunction(iri string) bool {
	_, ok := propertyFunctions[iri]
	return ok || isSpatialCall(iri)
}

// propertyCalls takes the calls of property functions, and the lists that are their arguments, out of a BGP and plans
// them. rest are the other patterns.
func (b *builder) propertyCalls(op algebra.BGP, sc scope) (rest []algebra.TriplePattern, calls []factor, err error) {
	isCall := func(t algebra.TriplePattern) bool {
		return t.P.Term.Kind() == term.KindIRI && IsPropertyFunction(t.P.Term.Value())
	}
	if !slices.ContainsFunc(op.Patterns, isCall) {
		return op.Patterns, nil, nil
	}
	cells := map[algebra.Var]*cell{}
	for i, t := range op.Patterns {
		if p := t.P.Term.Value(); t.S.Var != "" && (p == vocab.RDFFirst || p == vocab.RDFRest) {
			c := cells[t.S.Var]
			if c == nil {
				c = &cell{}
				cells[t.S.Var] = c
			}
			c.patterns = append(c.patterns, i)
			if p == vocab.RDFFirst {
				c.first = t.O
			} else {
				c.rest = t.O
			}
		}
	}
	used := map[int]bool{}
	for i, t := range op.Patterns {
		if !isCall(t) {
			continue
		}
		used[i] = true
		iri := t.P.Term.Value()
		subject, object := arguments(t.S, cells, used), arguments(t.O, cells, used)
		f, err := b.propertyCall(iri, subject, object, sc)
		if err != nil {
			return nil, nil, fmt.Errorf("<%s>: %w", iri, err)
		}
		calls = append(calls, f)
	}
	for i, t := range op.Patterns {
		if !used[i] {
			rest = append(rest, t)
		}
	}
	return rest, calls, nil
}

func (b *builder) propertyCall(iri string, subject, object []algebra.Node, sc scope) (factor, error) {
	f, ok := propertyFunctions[iri]
	if !ok {
		return b.spatialFactor(iri, subject, object, sc)
	}
	n, err := f(b, subject, object, sc)
	if err != nil {
		return factor{}, err
	}
	return nodeFactor(n), nil
}

// cell is one member of a list in a pattern.
type cell struct {
	first, rest algebra.Node
	patterns    []int
}

// arguments returns the members of the list that begins at a node, or the node alone. It marks the patterns of the
// list.
func arguments(n algebra.Node, cells map[algebra.Var]*cell, used map[int]bool) []algebra.Node {
	var out []algebra.Node
	for at := n; ; {
		c := cells[at.Var]
		if at.Var == "" || c == nil || len(c.patterns) != 2 || used[c.patterns[0]] {
			break
		}
		for _, i := range c.patterns {
			used[i] = true
		}
		out = append(out, c.first)
		at = c.rest
	}
	if out == nil && n.Term != term.IRI(vocab.RDFNil) {
		out = []algebra.Node{n}
	}
	return out
}

func wrongArguments(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrArguments, fmt.Sprintf(format, args...))
}
