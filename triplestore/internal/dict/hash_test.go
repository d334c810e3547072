package dict

import (
	"math/rand/v2"
	"slices"
	"sort"
	"testing"
	"time"
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

func TestMergedCursorsReturnAllEntriesInOrder(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	for sources := range 12 {
		var cursors []*cursor
		var want []entry
		for range sources {
			es := make([]entry, rnd.IntN(300))
			for i := range es {
				es[i] = entry{hash: rnd.Uint64N(100), number: rnd.Uint64N(1000)}
			}
			slices.SortFunc(es, compareEntries)
			want = append(want, es...)
			cursors = append(cursors, cursorOf(es))
		}
		slices.SortFunc(want, compareEntries)
		all, err := mergeCursors(t.Context(), cursors...)
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range want {
			if got, ok, err := all.next(); err != nil || !ok || got != w {
				t.Fatalf("of %d sources, entry %d is %v instead of %v: %v, %v", sources, i, got, w, ok, err)
			}
		}
		if _, ok, err := all.next(); ok || err != nil {
			t.Fatalf("of %d sources, there is one more entry: %v, %v", sources, ok, err)
		}
	}
}

func TestEntriesAreSortedByHashAndThenByNumber(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{0, 1, 2, 50, 5000} {
		es := make([]entry, n)
		for i := range es {
			es[i] = entry{hash: rnd.Uint64() >> (64 - hashBits) &^ 0xFFFFFFF, number: uint64(i)}
		}
		want := slices.Clone(es)
		slices.SortFunc(want, compareEntries)
		if sortByHash(es); !slices.Equal(es, want) {
			t.Errorf("%d entries are not in order", n)
		}
	}
}
