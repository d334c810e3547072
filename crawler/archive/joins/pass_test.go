package joins

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"odarchive/triplestore/kv"
)

// contents returns everything in an index but the postings, as text.
func contents(t *testing.T, db *kv.DB) (all []string) {
	t.Helper()
	err := db.View(func(txn *kv.Txn) error {
		return txn.Scan(kv.SpaceJoins, nil, nil, func(k, v []byte) (bool, error) {
			if k[0] != tablePosting {
				all = append(all, fmt.Sprintf("%x=%x", k, v))
			}
			return true, nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestAPassMakesTheIndexThatSingleUpdatesMake replaces versions at random, by passes of several updates and by updates
// that know nothing of each other, and compares the two indexes.
func TestAPassMakesTheIndexThatSingleUpdatesMake(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	shared, single := newDB(t), newDB(t)
	latest := map[int]string{}
	versions, rounds := 0, 12
	if testing.Short() {
		rounds = 4
	}
	for round := range rounds {
		var all []Replacement
		for range 40 {
			r := Replacement{}
			n := rng.IntN(120)
			r.Old = latest[n]
			versions++
			r.New = fmt.Sprintf("%024x_%d", n, versions)
			latest[n] = r.New
			if rng.IntN(10) > 0 { // the others have no columns any more
				for c, values := range worlds["many series"](rng, n%7) {
					s := hashed(values)
					r.Columns = append(r.Columns, Column{Place: Place{Version: r.New, Column: c}, Name: fmt.Sprint("column ", c), Distinct: int64(len(s)), Key: c == 0 || c == 3, Sketch: s})
				}
			}
			all = append(all, r)
		}
		samples := samplesOf(shared, all)
		samplesOf(single, all)
		pass := NewPass()
		if err := shared.View(func(txn *kv.Txn) error { return pass.Read(txn, samples, all[:30]) }); err != nil {
			t.Fatal(err)
		}
		for some := range slices.Chunk(all, 1+round*12/rounds) {
			var u *Update
			err := shared.View(func(txn *kv.Txn) (err error) {
				u, err = pass.Prepare(txn, samples, some)
				return err
			})
			if err == nil {
				err = shared.Update(t.Context(), u.Write)
			}
			if err != nil {
				t.Fatal(err)
			}
			u.Committed()
			putAll(t, single, some...)
		}
		if a, b := contents(t, shared), contents(t, single); !slices.Equal(a, b) {
			t.Fatalf("round %d: %d entries, and %d by single updates", round, len(a), len(b))
		}
		if a, b := filedUnder(t, shared), filedUnder(t, single); fmt.Sprint(a) != fmt.Sprint(b) {
			t.Fatalf("round %d: the postings differ", round)
		}
	}
}
