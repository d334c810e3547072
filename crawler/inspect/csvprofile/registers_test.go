package csvprofile

import (
	"math/rand/v2"
	"testing"

	"github.com/axiomhq/hyperloglog"
)

func TestRegistersEstimateAsTheLibraryDoes(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	ours, theirs := new(registers), hyperloglog.NewNoSparse()
	for _, h := range []uint64{0, 1, 1 << 13, 1 << 49, 1 << 50, 1<<64 - 1} { // the lowest and highest ranks
		ours.add(h)
		theirs.InsertHash(h)
	}
	for i := range 300_000 {
		h := rng.Uint64()
		ours.add(h)
		theirs.InsertHash(h)
		if i%60_000 == 0 {
			if got, want := ours.estimate(), int64(theirs.Estimate()); got != want {
				t.Fatalf("after %d hashes: %d, the library says %d", i, got, want)
			}
		}
	}
}
