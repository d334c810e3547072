package joins

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"odarchive/crawler/inspect/csvprofile"
)

// TestASketchOfAnOlderProgramMatchesThatOfTheSameValues compares sketches whose hashes all have 26 bits with those of
// today, whose last ones have fewer.
func TestASketchOfAnOlderProgramMatchesThatOfTheSameValues(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(9, 4))
	for _, values := range []int{192, 300, 700, 3000} {
		all := make(csvprofile.Sketch, values)
		for i := range all {
			all[i] = rng.Uint32()
		}
		slices.Sort(all)
		now := slices.Clone(all[:min(values, csvprofile.SketchSize)]).Reduced()
		older := all.Coarse()[:len(now)]
		a := Column{Place: Place{Version: "a_0"}, Distinct: int64(values), Key: true, Sketch: older}
		b := Column{Place: Place{Version: "b_0"}, Distinct: int64(values), Key: true, Sketch: now}
		for _, pair := range [][2]Column{{a, b}, {b, a}} {
			if m, ok := compare(pair[0], pair[1], overlapOf(pair[0].Sketch, pair[1].Sketch)); !ok || m.Containment < .98 ||
				m.Reverse < .98 {
				t.Errorf("%d values: %+v, %v; want all of them in both", values, m, ok)
			}
		}
	}
}

func TestTheBestCandidatesAreTheFirstOfTheSortedList(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	for _, size := range []int{0, 1, 7, 128, 129, 256, 257, 300, 1000, 5000} {
		for range 20 {
			list := make([]candidate, size)
			distinct := 1 + rng.IntN(200)
			for i := range list {
				list[i] = candidate{number: number(i + 1), share: float64(rng.IntN(distinct)) / 100}
			}
			want := slices.Clone(list)
			slices.SortFunc(want, compareCandidates)
			want = want[:min(size, 128)]
			if got := bestCandidates(list, 128); !slices.Equal(got, want) {
				t.Fatalf("of %d candidates of %d shares: %d, not the first %d of the sorted list", size, distinct, len(got), len(want))
			}
		}
	}
}

// TestAFullListChangesForAClearlyBetterMatchOnly adds relatives of a column that has as many matches as it may have.
func TestAFullListChangesForAClearlyBetterMatchOnly(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	put(t, db, "", "a_0", columnsOf(t, "a_0", words("x", 0, 100))...)
	add := func(id string, shared int) []Change {
		return put(t, db, "", id, columnsOf(t, id, append(words("x", 0, shared), words("own "+id, 0, 100-shared)...))...)
	}
	for i := range perColumn {
		add(fmt.Sprintf("b%d_0", i), 55)
	}
	before := of(t, db, "a_0")
	if len(before) != perColumn || before[perColumn-1].Containment != .55 {
		t.Fatalf("%+v", before)
	}
	add("c_0", 58)
	if got := of(t, db, "a_0"); !slices.Equal(got, before) {
		t.Errorf("a match of .58 changes matches of .55: %+v", got)
	}
	add("d_0", 65)
	if got := of(t, db, "a_0"); len(got) != perColumn || got[0].Other.Version != "d_0" {
		t.Errorf("a match of .65 does not change matches of .55: %+v", got)
	}
}
