// Sorts words by some of their bits, digit by digit, in time proportional to their number.

package segments

import "slices"

// digit is the number of bits that a pass sorts by: the counts of its values fit into a processor's first cache.
const digit = 11

// RadixSort returns the words sorted by their bits from bit low up to, but not including, bit high. Words with equal
// bits there keep their order. It overwrites words, whose memory it may or may not return.
func RadixSort[W ~uint64](words []W, low, high int) []W {
	mask := ^W(0) << low
	if high < 64 {
		mask &= 1<<high - 1
	}
	if len(words) < 1<<digit {
		slices.SortStableFunc(words, func(a, b W) int {
			switch a, b := a&mask, b&mask; {
			case a < b:
				return -1
			case a > b:
				return 1
			}
			return 0
		})
		return words
	}
	other := make([]W, len(words))
	for shift := low; shift < high; shift += digit {
		var at [1 << digit]int
		for _, w := range words {
			at[w&mask>>shift&(1<<digit-1)]++
		}
		sum := 0
		for i, n := range at {
			at[i] = sum
			sum += n
		}
		for _, w := range words {
			d := w & mask >> shift & (1<<digit - 1)
			other[at[d]] = w
			at[d]++
		}
		words, other = other, words
	}
	return words
}
