package csvprofile

import (
	"math"
	"slices"
)

// quantileBuckets are as many ranges of values as a sample is divided in to find its quantiles.
const quantileBuckets = 256

// quantiles are the values below or at which the given shares of a sample lie, which is not empty. Only the values that are
// near one of them are sorted. The sample is in another order afterwards.
func quantiles(sample []float64, shares []float64) []float64 {
	var ends [quantileBuckets]int // in the sample, of each bucket's values
	bucketed := bucketSort(sample, &ends)
	out := make([]float64, len(shares))
	for i, p := range shares {
		at := max(0, min(int(math.Ceil(p*float64(len(sample))))-1, len(sample)-1))
		if bucketed {
			n, _ := slices.BinarySearch(ends[:], at+1)
			begin := 0
			if n > 0 {
				begin = ends[n-1]
			}
			slices.Sort(sample[begin:ends[n]])
		}
		out[i] = sample[at] + 0 // without the sign of a zero
	}
	return out
}

// bucketSort brings the values into the order of equally wide ranges of them; ends is where each range ends. Where the
// values cannot be divided so it sorts them, and is false.
func bucketSort(sample []float64, ends *[quantileBuckets]int) bool {
	least, greatest := sample[0], sample[0]
	for _, x := range sample {
		if x < least {
			least = x
		} else if x > greatest {
			greatest = x
		}
	}
	scale := (quantileBuckets - 1) / (greatest - least)
	if len(sample) > reservoirN || !(scale > 0 && scale <= math.MaxFloat64) {
		slices.Sort(sample)
		return false
	}
	var at [reservoirN]uint8
	for i, x := range sample {
		at[i] = uint8((x - least) * scale)
		ends[at[i]]++
	}
	end := 0
	for i, n := range ends {
		ends[i] = end
		end += n
	}
	var all [reservoirN]float64
	copy(all[:], sample)
	for i, x := range all[:len(sample)] {
		sample[ends[at[i]]] = x
		ends[at[i]]++
	}
	return true
}
