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
					r.Columns = append(r.Columns,
						Column{Place: Place{Version: r.New, Column: c}, Name: fmt.Sprint("column ", c), Distinct: int64(len(s)),
							Key: c == 0 || c == 3, Sketch: s})
				}
			}
			all = append(all, r)
		}
		samples := samplesOf(shared, all)
		samplesOf(single, all)
		pass := NewPass()
		pass.ahead.from = 0
		if err := shared.ViewAscending(func(txn *kv.Txn) error { return pass.Read(txn, samples, all[:30]) }); err != nil {
			t.Fatal(err)
		}
		for some := range slices.Chunk(all, 1+round*12/rounds) {
			update(t, shared, pass, samples, some)
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

// update carries out one update of a pass.
func update(t *testing.T, db *kv.DB, pass *Pass, samples Samples, some []Replacement) {
	t.Helper()
	var u *Update
	err := db.View(func(txn *kv.Txn) (err error) {
		u, err = pass.Prepare(txn, samples, some)
		return err
	})
	if err == nil {
		err = db.Update(t.Context(), u.Write)
	}
	if err != nil {
		t.Fatal(err)
	}
	u.Committed()
}

// TestWhatReadFoundOutIsWhatUpdatesFind compares matches among more relatives than a column is compared with, whose
// sets go while the pass runs, with those that single updates find.
func TestWhatReadFoundOutIsWhatUpdatesFind(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(8, 1))
	shared, single := newDB(t), newDB(t)
	version := func(n, round int) string { return fmt.Sprintf("%024x_%d", n*7919, round) }
	const tables = 90
	for round := range 3 {
		var all []Replacement
		for _, n := range rng.Perm(tables)[:60] {
			r := Replacement{New: version(n, round+1)}
			for old := round; old > 0 && r.Old == ""; old-- {
				if len(of(t, shared, version(n, old))) > 0 {
					r.Old = version(n, old)
				}
			}
			for c, pool := range []uint64{1, 2 + uint64(n/60)} {
				s := hashed(sample(rng, pool, 700, 900))
				r.Columns = append(r.Columns,
					Column{Place: Place{Version: r.New, Column: c}, Name: fmt.Sprint("column ", c), Distinct: int64(len(s)), Key: true,
						Sketch: s})
			}
			all = append(all, r)
		}
		samples := samplesOf(shared, all)
		samplesOf(single, all)
		pass := NewPass()
		pass.ahead.from = 0
		if err := shared.ViewAscending(func(txn *kv.Txn) error { return pass.Read(txn, samples, all) }); err != nil {
			t.Fatal(err)
		}
		judged := 0
		for _, columns := range pass.coming {
			for _, c := range columns {
				for _, x := range c.close {
					if x.compared {
						judged++
					}
				}
			}
		}
		if (judged > 0) != (round > 0) || round > 0 && (len(pass.ahead.sets) == 0 || len(pass.ahead.matches) == 0) {
			t.Errorf("round %d: Read compared %d candidates, and kept %d sets and the matches of %d versions", round, judged,
				len(pass.ahead.sets), len(pass.ahead.matches))
		}
		for some := range slices.Chunk(all, 7) {
			update(t, shared, pass, samples, some)
			putAll(t, single, some...)
		}
		if a, b := contents(t, shared), contents(t, single); !slices.Equal(a, b) {
			t.Fatalf("round %d: %d entries, and %d by single updates", round, len(a), len(b))
		}
	}
}
