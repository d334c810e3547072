package index

import (
	"math/rand/v2"
	"testing"

	"odarchive/triplestore/term"
)

// BenchmarkNewRun sorts the changes of one version's description.
func BenchmarkNewRun(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	var changes []Change
	for range 250 {
		changes = append(changes,
			Change{
				term.IDQuad{G: term.DefaultGraph, S: term.ID(1000 + r.IntN(40)), P: term.ID(10 + r.IntN(30)), O: term.ID(r.Uint64() >> 8)},
				1})
	}
	for b.Loop() {
		NewRun(changes)
	}
}
