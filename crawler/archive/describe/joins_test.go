package describe

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"odarchive/crawler/archive/joins"
	"odarchive/ns"
	"odarchive/triplestore/term"
)

func TestWhatGoesAndComesOfJoinsIsTheirDifference(t *testing.T) {
	t.Parallel()
	m := ns.Mint{Base: "http://archive.example/"}
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	some := func() (list []joins.Match) {
		for i := range 24 { // three columns, four other files with two columns each, in one of two states
			if r.IntN(2) == 0 {
				continue
			}
			list = append(list, joins.Match{
				Column:      joins.Place{Version: "a_0", Column: i % 3},
				Other:       joins.Place{Version: fmt.Sprintf("b%d_0", i/3%4), Member: []string{"", "in.csv"}[i/12], Column: i % 2},
				Containment: []float64{0.4, 1}[r.IntN(2)], Reverse: 0.9, Jaccard: 0.5,
			})
		}
		return list
	}
	for range 200 {
		before, after := some(), some()
		want := map[term.Quad]bool{}
		for _, q := range Joins(m, before) {
			want[q] = true
		}
		gone, come := JoinsChange(m, before, after)
		for _, q := range gone {
			if !want[q] {
				t.Fatalf("seed %d: %v goes and was not there", seed, q)
			}
			delete(want, q)
		}
		for _, q := range come {
			want[q] = true
		}
		for _, q := range Joins(m, after) {
			if !want[q] {
				t.Fatalf("seed %d: %v is missing", seed, q)
			}
			delete(want, q)
		}
		if len(want) > 0 {
			t.Fatalf("seed %d: %v stays", seed, want)
		}
	}
	if gone, come := JoinsChange(m, some(), nil); slices.ContainsFunc(come, func(term.Quad) bool { return true }) || len(gone) == 0 {
		t.Errorf("nothing comes after the last match: %v", come)
	}
}
