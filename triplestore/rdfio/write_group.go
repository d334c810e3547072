package rdfio

import (
	"slices"
	"strings"

	"odarchive/triplestore/term"
)

// maxGroup bounds how many statements of one subject are held to bring them in order.
const maxGroup = 1024

// group holds statements of one subject in one graph until another one comes, so that they can be written together.
type group []term.Quad

// full tells whether what is held must be written before q can be added.
func (g group) full(q term.Quad) bool {
	return len(g) > 0 && (len(g) == maxGroup || g[0].S != q.S || g[0].G != q.G)
}

// sort brings the types first and the rest in the order of predicates; objects keep the order they came in.
func (g group) sort() {
	slices.SortStableFunc(g, func(a, b term.Quad) int {
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
}

// run is the number of statements from i on that have the same predicate.
func (g group) run(i int) int {
	n := 1
	for i+n < len(g) && g[i+n].P == g[i].P {
		n++
	}
	return n
}
