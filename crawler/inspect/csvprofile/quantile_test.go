package csvprofile

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestQuantilesAreThoseOfTheSortedSample(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(6, 6))
	shares := []float64{0, 0.05, 0.25, 0.5, 0.75, 0.95, 1}
	for n, draw := range []func() float64{
		rng.Float64,
		rng.NormFloat64,
		func() float64 { return math.Exp(40 * rng.NormFloat64()) },
		func() float64 { return float64(rng.IntN(3)) },
		func() float64 { return 5 },
		func() float64 { return (rng.Float64() - 0.5) * math.MaxFloat64 },
		func() float64 { return 2 * (rng.Float64() - 0.5) * math.MaxFloat64 },
		func() float64 { return float64(rng.IntN(9)) * math.SmallestNonzeroFloat64 },
		func() float64 { return -float64(rng.IntN(1 << 53)) },
	} {
		for range 200 {
			sample := make([]float64, 1+rng.IntN(reservoirN+100))
			for i := range sample {
				sample[i] = draw()
			}
			sorted := slices.Sorted(slices.Values(sample))
			for i, got := range quantiles(sample, shares) {
				if want := sorted[max(0, int(math.Ceil(shares[i]*float64(len(sorted))))-1)]; got != want {
					t.Fatalf("%d: %v of %d values: %v, want %v", n, shares[i], len(sorted), got, want)
				}
			}
		}
	}
}

func TestHashesAreSortedWhateverTheirNumber(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 7))
	for range 300 {
		h := make([]uint32, rng.IntN(4*SketchSize+10))
		for i := range h {
			h[i] = rng.Uint32() >> rng.IntN(32)
		}
		want := slices.Sorted(slices.Values(h))
		if sortHashes(h); !slices.Equal(h, want) {
			t.Fatalf("%d hashes are not in order", len(h))
		}
	}
}

func TestSketchesComeBackFromJSON(t *testing.T) {
	t.Parallel()
	for _, s := range []Sketch{{0}, {1, 2, 1 << 31}, {0, 127, 128, math.MaxUint32}} {
		text, err := json.Marshal(Column{Sketch: s})
		if err != nil {
			t.Fatal(err)
		}
		var c Column
		if err := json.Unmarshal(text, &c); err != nil || !slices.Equal(c.Sketch, s) {
			t.Errorf("%v as %s comes back as %v (%v)", s, text, c.Sketch, err)
		}
	}
	for _, text := range []string{`{"sketch":"*"}`, `{"sketch":"gA"}`, `{"sketch":7}`, `{"sketch":"/////w//"}`} {
		if err := json.Unmarshal([]byte(text), new(Column)); err == nil {
			t.Errorf("%s is no sketch", text)
		}
	}
}
