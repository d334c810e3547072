package segments

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestWordsAreSortedByTheirBitsAndOtherwiseKeepTheirOrder(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	for _, n := range []int{0, 1, 2, 100, 1<<digit - 1, 1 << digit, 10_000} {
		for _, bits := range [][2]int{{0, 64}, {0, 1}, {0, 11}, {0, 40}, {24, 64}, {3, 30}, {63, 64}} {
			low, high := bits[0], bits[1]
			words := make([]uint64, n)
			for i := range words {
				words[i] = rnd.Uint64() >> rnd.IntN(64)
			}
			want := slices.Clone(words)
			slices.SortStableFunc(want,
				func(a, b uint64) int { return cmp.Compare(a<<(64-high)>>(64-high)>>low, b<<(64-high)>>(64-high)>>low) })
			if got := RadixSort(words, low, high); !slices.Equal(got, want) {
				t.Fatalf("%d words by bits %d to %d are not in order", n, low, high)
			}
		}
	}
}
