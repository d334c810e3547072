package csvprofile

import (
	"math"
	"slices"
)

// quantileBuckets is the number of ranges of values that a sample is divided into to find its quantiles.
const quantileBuckets = 256

// quantiles returns the values at the given shares of a sample, which must not be empty. It reorders the sample, and
// sorts only the values near a quantile.
func quantiles(sample []float64, shares []float64) []float64 {
	var ends [quantileBuckets]int // end of each bucket in the sample
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

// bucketSort orders the values by equally wide ranges and sets the end of each. If the values cannot be divided that
// way, it sorts them and returns false.
func bucketSort(sample []float64, ends *[quantileBuckets]int) bool {
	low, high := sample[0], sample[0]
	for _, x := range sample {
		if x < low {
			low = x
		} else if x > high {
			high = x
		}
	}
	scale := (quantileBuckets - 1) / (high - low)
	if len(sample) > reservoirN || !(scale > 0 && scale <= math.MaxFloat64) {
		slices.Sort(sample)
		return false
	}
	var at [reservoirN]uint8
	for i, x := range sample {
		at[i] = uint8((x - low) * scale)
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
