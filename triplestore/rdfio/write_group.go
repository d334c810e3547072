package rdfio

import (
	"slices"
	"strings"

	"odarchive/triplestore/term"
)

// maxGroup bounds how many statements of one subject are held to sort them.
const maxGroup = 1024

// group holds consecutive statements of one subject in one graph, to write them together.
type group struct {
	held []term.Quad
	emit func([]term.Quad) // writes a group: types first, then by predicate, otherwise in the order they came
}

func (g *group) write(q term.Quad) error {
	if len(g.held) == maxGroup || len(g.held) > 0 && (g.held[0].S != q.S || g.held[0].G != q.G) {
		g.flush()
	}
	g.held = append(g.held, q)
	return nil
}

func (g *group) flush() {
	if len(g.held) == 0 {
		return
	}
	slices.SortStableFunc(g.held, func(a, b term.Quad) int {
		switch {
		case a.P == b.P:
			return 0
		case a.P == rdfType:
			return -1
		case b.P == rdfType:
			return 1
		}
		return strings.Compare(string(a.P), string(b.P))
	})
	g.emit(g.held)
	g.held = g.held[:0]
}
