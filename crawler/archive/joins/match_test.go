package joins

import (
	"math/rand/v2"
	"slices"
	"testing"
)

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
