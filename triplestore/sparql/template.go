package sparql

import (
	"errors"
	"io"
	"strconv"
	"strings"

	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/sparql/internal/exec"
	"odarchive/triplestore/term"
)

// filler fills templates with solutions (SPARQL 1.1 §16.2, Update §3.1.3). Blank nodes of the template are new for
// each solution. What would not be a triple is left out.
type filler struct {
	column map[algebra.Var]int
	prefix string // of the labels of new blank nodes
	n      int64  // solutions so far
	check  bool   // the solutions may have terms that RDF does not have
}

// newFiller returns a filler for solutions of in, whose columns are vars. The store, the parsers, and the functions
// have only terms of RDF. Other endpoints may send anything, and a store that takes it could not be written as RDF any
// more.
func newFiller(in algebra.Op, vars []algebra.Var) *filler {
	m := &filler{column: make(map[algebra.Var]int, len(vars)), prefix: rdfio.NewBlankPrefix(), check: asksOthers(in)}
	for i, v := range vars {
		m.column[v] = i
	}
	return m
}

// node fills one position. It returns "" if a variable is unbound.
func (m *filler) node(n algebra.Node, row []term.Key) term.Key {
	switch {
	case n.Triple != nil:
		q, ok := m.triple(*n.Triple, row)
		if !ok {
			return ""
		}
		return term.Triple(q.S, q.P, q.O)
	case n.Var != "":
		if i, ok := m.column[n.Var]; ok {
			return row[i]
		}
		return ""
	case n.Term.Kind() == term.KindBlank:
		return term.Blank(m.prefix + strconv.FormatInt(m.n, 36) + "X" + label(n.Term.Value()))
	}
	return n.Term
}

// label replaces the dots of a label, such as those that package syntax generates ("0.1"): some readers of results
// accept letters and digits only. Different labels stay different.
func label(s string) string { return dotless.Replace(s) }

var dotless = strings.NewReplacer("Y", "YY", ".", "Yp")

// triple fills a triple. It returns false if the result would not be one.
func (m *filler) triple(t algebra.TriplePattern, row []term.Key) (term.Quad, bool) {
	q := term.Quad{S: m.node(t.S, row), P: m.node(t.P, row), O: m.node(t.O, row)}
	s := q.S.Kind()
	return q, (s == term.KindIRI || s == term.KindBlank) && q.P.Kind() == term.KindIRI && q.O.Kind() != term.KindNone
}

// isRDF reports whether a statement that was made can be in a graph.
func (m *filler) isRDF(q term.Quad) bool { return !m.check || rdfio.Check(q) == nil }

// template streams the triples of a CONSTRUCT, each once.
type template struct {
	list   []algebra.TriplePattern
	in     solutions
	make   *filler
	unique *exec.Unique
	row    []term.Key
	pos    int
	ended  bool // there are no more solutions
}

// newTemplate fills the template of q with its solutions, whose columns are vars.
func newTemplate(q *algebra.Query, in *rows, vars []algebra.Var) *template {
	return &template{list: q.Template, in: in, make: newFiller(q.Pattern, vars), unique: in.run.Unique(), pos: len(q.Template)}
}

func (t *template) next() (term.Quad, error) {
	for !t.ended {
		for t.pos < len(t.list) {
			p := t.list[t.pos]
			t.pos++
			q, ok := t.make.triple(p, t.row)
			if !ok || !t.make.isRDF(q) {
				continue
			}
			fresh, err := t.unique.Add(string(term.Triple(q.S, q.P, q.O)))
			if fresh || err != nil {
				return q, err
			}
		}
		row, err := t.in.Next()
		if errors.Is(err, io.EOF) {
			t.ended = true
			break
		}
		if err != nil {
			return term.Quad{}, err
		}
		t.row, t.pos = row, 0
		t.make.n++
	}
	text, err := t.unique.Next()
	if err != nil {
		return term.Quad{}, err
	}
	s, p, o, _ := term.Key(text).Parts()
	return term.Quad{S: s, P: p, O: o}, nil
}

func (t *template) close() { t.unique.Close() }

func (t *template) ready() bool { return t.pos < len(t.list) || t.in.Ready() }
