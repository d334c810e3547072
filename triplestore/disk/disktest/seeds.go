package disktest

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Seeds returns the seeds for a model test: by default the seeds from 1 to usual; with $ODARCHIVE_SEEDS as many from a
// random one on; with $ODARCHIVE_SEED, which failures print, only that one. With -short there are a fifth of the usual.
func Seeds(t testing.TB, usual int) (seeds []uint64) {
	t.Helper()
	first, n := uint64(1), usual
	if testing.Short() {
		n = (usual + 4) / 5
	}
	number := func(name string, set func(uint64)) {
		s := os.Getenv(name)
		if s == "" {
			return
		}
		v, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		set(v)
	}
	number("ODARCHIVE_SEEDS", func(v uint64) { first, n = rand.Uint64N(1e9), int(v) })
	number("ODARCHIVE_SEED", func(v uint64) { first, n = v, 1 })
	for i := range n {
		seeds = append(seeds, first+uint64(i))
	}
	return seeds
}
