package joins

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"odarchive/triplestore/kv"
)

// seenPairs returns the entries of tableSeen, each as the version and the one that names it.
func seenPairs(t *testing.T, db *kv.DB) map[[2]string]bool {
	t.Helper()
	pairs := map[[2]string]bool{}
	err := db.View(func(txn *kv.Txn) error {
		return txn.Scan(kv.SpaceJoins, []byte{tableSeen}, nil, func(k, _ []byte) (bool, error) {
			var r reader
			r.B = k[1:]
			pairs[[2]string{r.id(), r.id()}] = true
			return true, r.End()
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return pairs
}

// oneSided returns the pairs of which the matches of the second name the first, but not the other way round.
func oneSided(t *testing.T, db *kv.DB, versions map[string]bool) map[[2]string]bool {
	t.Helper()
	pairs := map[[2]string]bool{}
	for version := range versions {
		for other := range named(of(t, db, version)) {
			if !versions[other] {
				t.Errorf("the matches of %s name %s, which is not in the index", version, other)
			}
			if !names(of(t, db, other), version) {
				pairs[[2]string{other, version}] = true
			}
		}
	}
	return pairs
}

func TestNoMatchNamesAVersionThatLeftWhileOnlyOneSidedOnesAreListed(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	db := newDB(t)
	live, number, sided := map[string]bool{}, 0, 0
	for round := range 40 {
		var batch []Replacement
		for range 1 + rng.IntN(8) {
			r := Replacement{}
			if olds := slices.Sorted(maps.Keys(live)); len(olds) > 0 && rng.IntN(3) == 0 {
				r.Old = olds[rng.IntN(len(olds))]
				delete(live, r.Old)
			}
			if r.Old == "" || rng.IntN(4) > 0 {
				number++
				r.New = fmt.Sprintf("%024x_0", number)
				from := rng.IntN(60)
				r.Columns = columnsOf(t, r.New, words("code", from, from+100+rng.IntN(100)), words("place", 0, 90))
			}
			batch = append(batch, r)
		}
		putAll(t, db, batch...)
		for _, r := range batch {
			if r.New != "" && !slices.ContainsFunc(batch, func(o Replacement) bool { return o.Old == r.New }) {
				live[r.New] = true
			}
		}
		want := oneSided(t, db, live)
		if got := seenPairs(t, db); !maps.Equal(got, want) {
			t.Fatalf("round %d, %d versions: %d pairs are listed, %d are one-sided", round, len(live), len(got), len(want))
		}
		sided += len(want)
	}
	if sided == 0 {
		t.Error("no match was one-sided: nothing was tested")
	}
}
