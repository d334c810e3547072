package triplestore

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"odarchive/triplestore/term"
)

func TestKeysAreSortedAsStrings(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(11, 11))
	for round := range 60 {
		keys := make([]term.Key, rnd.IntN(3000))
		for i := range keys {
			prefix := strings.Repeat("http://example.org/", rnd.IntN(4))
			switch rnd.IntN(4) {
			case 0:
				keys[i] = term.Key(fmt.Sprintf("%s%d", prefix, rnd.IntN(1+round*round)))
			case 1: // zeros, as at the end of a part
				keys[i] = term.Key(prefix + strings.Repeat("\x00", rnd.IntN(20)))
			case 2:
				keys[i] = term.Key(prefix + strings.Repeat("a", rnd.IntN(40)))
			default:
				b := make([]byte, rnd.IntN(30))
				for j := range b {
					b[j] = byte(rnd.IntN(3) * 127)
				}
				keys[i] = term.Key(prefix + string(b))
			}
		}
		var numbers []uint32
		var want []term.Key
		for i := range keys {
			if rnd.IntN(5) > 0 {
				numbers = append(numbers, uint32(i))
				want = append(want, keys[i])
			}
		}
		slices.Sort(want)
		got := make([]term.Key, 0, len(want))
		for _, n := range sortedKeys(keys, numbers) {
			got = append(got, keys[n])
		}
		if !slices.Equal(got, want) {
			t.Fatalf("round %d: %d keys are out of order", round, len(keys))
		}
	}
}

// BenchmarkSortedKeys sorts the names of an archive.
func BenchmarkSortedKeys(b *testing.B) {
	rnd := rand.New(rand.NewPCG(12, 12))
	keys := make([]term.Key, 300_000)
	for i := range keys {
		switch rnd.IntN(3) {
		case 0:
			keys[i] = term.IRI(fmt.Sprintf("https://archive.example.org/version/%016x%016x", rnd.Uint64(), rnd.Uint64()))
		case 1:
			keys[i] = term.IRI(fmt.Sprintf("https://portal-%d.example.org/dataset/%d/resource/%d.csv", rnd.IntN(200), rnd.IntN(5000),
				rnd.IntN(100)))
		default:
			keys[i] = term.IRI(fmt.Sprintf("https://archive.example.org/activity/%d", rnd.IntN(1<<30)))
		}
	}
	numbers := make([]uint32, len(keys))
	for name, f := range map[string]func(){
		"whole": func() {
			slices.SortFunc(numbers, func(a, b uint32) int { return strings.Compare(string(keys[a]), string(keys[b])) })
		},
		"parts": func() { sortedKeys(keys, numbers) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				for i := range numbers {
					numbers[i] = uint32(i)
				}
				f()
			}
		})
	}
}
