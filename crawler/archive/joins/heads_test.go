package joins

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"odarchive/triplestore/kv"
)

// TestHeadsThatAreAddedToAnOlderIndexAreThoseOfANewOne drops the heads of an index whose sets come and go, as if an
// older program had written it, adds them in steps, some of which are repeated, and compares.
func TestHeadsThatAreAddedToAnOlderIndexAreThoseOfANewOne(t *testing.T) {
	t.Parallel()
	db, rng := newDB(t), rand.New(rand.NewPCG(7, 9))
	latest := map[int]string{}
	for round := range 16 {
		var all []Replacement
		for n := range 45 {
			r := Replacement{New: fmt.Sprintf("%024x_%d", n, round)}
			if n%3 == 0 {
				r.Old = latest[n]
			}
			for c, values := range worlds["many series"](rng, n*7+round) {
				s := hashed(values)
				r.Columns = append(r.Columns, Column{Place: Place{Version: r.New, Column: c}, Name: "c", Distinct: int64(len(s)), Key: c == 0, Sketch: s})
			}
			latest[n] = r.New
			all = append(all, r)
		}
		putAll(t, db, all...)
	}
	want := contents(t, db)
	blocks := heads{}
	err := db.Update(t.Context(), func(txn *kv.Txn) error {
		err := txn.Scan(kv.SpaceJoins, []byte{tableHeads}, nil, func(k, v []byte) (bool, error) {
			blocks[uint32(k[3])<<8|uint32(k[4])] = slices.Clone(v)
			return true, nil
		})
		for block := range blocks {
			if err == nil {
				err = tables{txn}.setHeads(block, nil)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(blocks) < 2 {
		t.Fatalf("%d blocks of heads: too few to say anything", len(blocks))
	}
	for range 2 { // as after an interruption
		for from, done := uint32(0), false; !done; {
			err := db.Update(t.Context(), func(txn *kv.Txn) (err error) {
				from, err = AddHeads(txn, from, 1)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			done = from == 0
		}
	}
	if got := contents(t, db); !slices.Equal(got, want) {
		t.Errorf("%d entries, want the %d that were there", len(got), len(want))
	}
}

// TestAColumnFindsTheSameWithoutHeads compares what a table finds in an index with its heads and without them.
func TestAColumnFindsTheSameWithoutHeads(t *testing.T) {
	t.Parallel()
	find := func(withHeads bool) []Match {
		db, rng := newDB(t), rand.New(rand.NewPCG(8, 9))
		version := ""
		for n := range 60 {
			if !withHeads {
				err := db.Update(t.Context(), func(txn *kv.Txn) error { return tables{txn}.setHeads(0, nil) })
				if err != nil {
					t.Fatal(err)
				}
			}
			version = fmt.Sprintf("%024x_0", n)
			var columns []Column
			for c, values := range worlds["pipeline"](rng, n) {
				s := hashed(values)
				columns = append(columns, Column{Place: Place{Version: version, Column: c}, Name: "c", Distinct: int64(len(s)), Key: c == 0, Sketch: s})
			}
			put(t, db, "", version, columns...)
		}
		return of(t, db, version)
	}
	with, without := find(true), find(false)
	if len(with) < 5 || !slices.Equal(with, without) {
		t.Errorf("%d matches, and %d without heads", len(with), len(without))
	}
}
