package csvprofile

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// sketchOf returns the sketch of n random values.
func sketchOf(random *rand.Rand, n int) Sketch {
	var b bottom
	for range n {
		b.add(random.Uint64())
	}
	return b.sketch()
}

func TestAPackedSketchIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	sketches := []Sketch{nil, {0}, {math.MaxUint32}, {0, math.MaxUint32}, {1, 2, 3}, {64, 128, 1 << 31}}
	for _, n := range []int{1, 2, 3, 50, 255, 256, 257, 1000, 1024, 4000, 60_000, 200_000} {
		sketches = append(sketches, sketchOf(random, n))
	}
	for _, s := range sketches {
		b := s.AppendPacked(nil)
		got, err := UnpackSketch(b)
		if err != nil || !slices.Equal(got, s) {
			t.Fatalf("%d hashes in %d bytes: %d, %v", len(s), len(b), len(got), err)
		}
		for i := range b {
			if _, err := UnpackSketch(b[:i]); err == nil {
				t.Errorf("%d of %d bytes are a sketch, too", i, len(b))
			}
		}
		if n := len(s); n >= WholeSketch && len(b) > n*5/2 {
			t.Errorf("%d hashes take %d bytes", n, len(b))
		}
	}
}

func TestTheLastHashesOfASampleAreRough(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(4, 5))
	for _, n := range []int{192, 193, 200, 255, 256, 300, 700, 1023, 1024, 2000, 4000, 5000, 60_000} {
		rough := 0
		for range 40 {
			all := make(Sketch, n)
			for i := range all {
				all[i] = random.Uint32()
			}
			slices.Sort(all)
			all = all[:min(n, SketchSize)]
			whole := slices.Clone(all).Coarse()
			s := slices.Clone(all).Reduced()
			low := uint32(1)<<s.Rough() - 1
			if s.Rough() > coarseBits {
				rough++
			}
			if !slices.IsSorted(s) || len(slices.Compact(slices.Clone(s))) != len(s) {
				t.Fatalf("%d values: %v is not ascending", n, s)
			}
			if f := s.Finders(); f < 64 || !slices.Equal(s[:f], whole[:f]) {
				t.Fatalf("%d values: the first %d hashes differ", n, f)
			}
			among := map[uint32]bool{}
			for _, h := range s {
				among[h&^low] = true
			}
			for _, h := range whole {
				if h <= s[len(s)-1] && !among[h&^low] {
					t.Fatalf("%d values: %x is missing", n, h)
				}
			}
			packed := s.AppendPacked(nil)
			if got, err := UnpackSketch(packed); err != nil || !slices.Equal(got, s) {
				t.Fatalf("%d values: read back as %d hashes, %v", n, len(got), err)
			}
			if n == 700 && s.Rough() > coarseBits && len(packed) > 365 {
				t.Fatalf("%d values: %d hashes take %d bytes", n, len(s), len(packed))
			}
		}
		if want := n > 200 && n < 4096; want && rough < 20 || n > 4096 && rough > 0 {
			t.Errorf("%d values: %d of 40 sketches are rough", n, rough)
		}
	}
}

func TestASketchHasTheSizeAndPrecisionOfItsColumn(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for values, want := range map[int]int{3: 3, 191: 191, 192: 192, 300: 192, 700: 192, 2000: 500, 3000: 750, 10_000: 1024, 500_000: 1024} {
		s := sketchOf(random, values)
		if len(s) < want*9/10 || len(s) > want*11/10 || values <= 700 && len(s) != want {
			t.Errorf("%d values: %d hashes, want about %d", values, len(s), want)
		}
		if off := float64(s.Values()) / float64(values); off < .85 || off > 1.15 {
			t.Errorf("%d values are taken for %d", values, s.Values())
		}
		if s.IsCoarse() != (values < fineFrom) {
			t.Errorf("%d values: coarse is %v", values, s.IsCoarse())
		}
		if again := slices.Clone(s).Reduced(); values <= WholeSketch && !slices.Equal(again, s) {
			t.Errorf("%d values: reducing again changes the sketch", values)
		}
	}
}

func FuzzUnpackSketch(f *testing.F) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{0, 1, 3, 300, 100_000} {
		f.Add(sketchOf(random, n).AppendPacked(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := UnpackSketch(b)
		if err != nil {
			return
		}
		if !slices.IsSorted(s) || len(slices.Compact(slices.Clone(s))) != len(s) {
			t.Fatalf("%v is not ascending", s)
		}
		again, err := UnpackSketch(s.AppendPacked(nil))
		if err != nil || !slices.Equal(again, s) {
			t.Errorf("%v is read back as %v, %v", s, again, err)
		}
	})
}
