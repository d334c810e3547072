package dict

import (
	"math/rand/v2"
	"slices"
	"sort"
	"testing"
)

func TestSearchSpreadFindsWhatABinarySearchFinds(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(7, 7))
	for round := range 2000 {
		n := rnd.IntN(60)
		limit := uint64(1) << (1 + rnd.IntN(hashBits))
		hashes := make([]uint64, n)
		for i := range hashes {
			hashes[i] = rnd.Uint64N(limit)
			if round%3 == 0 { // all but evenly spread
				hashes[i] /= 1 + rnd.Uint64N(1000)
			}
		}
		slices.Sort(hashes)
		low, high := uint64(0), uint64(1)<<hashBits
		if n > 0 && round%2 == 0 {
			low, high = hashes[0], hashes[n-1]
		}
		for range 50 {
			want := rnd.Uint64N(limit + 1)
			if n > 0 && rnd.IntN(2) == 0 {
				want = hashes[rnd.IntN(n)]
			}
			got := searchSpread(n, low, high, want, func(i int) uint64 { return hashes[i] })
			if exp := sort.Search(n, func(i int) bool { return hashes[i] >= want }); got != exp {
				t.Fatalf("%d in %d: found at %d, not %d", want, hashes, got, exp)
			}
		}
	}
}
