package joins

import (
	"context"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"odarchive/triplestore/kv"
)

// change adds a set to a posting, or removes it if it is there.
func change(p *postings, c pair, want map[uint32][]number) error {
	l, err := p.posting(c.hash)
	if err != nil {
		return err
	}
	if slices.Contains(want[c.hash], c.set) {
		l.remove(c.hash, c.set)
		want[c.hash] = slices.DeleteFunc(want[c.hash], func(n number) bool { return n == c.set })
	} else {
		l.add(c.hash, c.set)
		want[c.hash] = append(want[c.hash], c.set)
	}
	return nil
}

// TestPostingsAreThoseOfAMap adds and removes sets at random in updates of all sizes, while arrays are merged and
// partitions are split and emptied, and compares the postings with a map.
func TestPostingsAreThoseOfAMap(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 8))
	db := newDB(t)
	want := map[uint32][]number{}
	filed := map[number][]uint32{}
	next, most, partitions := number(0), 0, 0
	pass := NewPass()
	const rounds = 40 // of 20 each, the last of which removes everything
	for round := range rounds {
		var changes []pair
		for _, n := range slices.Sorted(maps.Keys(filed)) {
			if rng.IntN(8) == 0 || round%20 == 19 {
				for _, h := range filed[n] {
					changes = append(changes, pair{h, n})
				}
				delete(filed, n)
			}
		}
		for range []int{1, 30, 100}[rng.IntN(3)] {
			next++
			for range 100 {
				filed[next] = append(filed[next], rng.Uint32()%4000<<20>>uint(rng.IntN(6)))
			}
			slices.Sort(filed[next])
			filed[next] = slices.Compact(filed[next])
			for _, h := range filed[next] {
				changes = append(changes, pair{h, next})
			}
		}
		var ahead []uint32
		for _, c := range changes[min(20, len(changes)):] { // the others are read when needed
			ahead = append(ahead, c.hash)
		}
		slices.Sort(ahead)
		var u *Update
		if rng.IntN(6) == 0 { // the others know what was read for the one before, and what it changed
			pass = NewPass()
		}
		err := db.View(func(txn *kv.Txn) (err error) {
			u = pass.update(txn, nil)
			u.cursor = txn.Cursor(kv.SpaceJoins)
			defer u.cursor.Close()
			err = u.load(u.unread(nil, slices.Compact(ahead)))
			for _, c := range changes {
				err = errors.Join(err, change(&u.postings, c, want))
			}
			for _, c := range changes {
				if l, err := u.posting(c.hash); err != nil || !slices.Equal(l.list, want[c.hash]) {
					t.Errorf("round %d: %x has %v, want %v; %v", round, c.hash, l.list, want[c.hash], err)
				}
			}
			if err == nil {
				u.filed, err = u.entries()
			}
			return err
		})
		if err == nil {
			err = db.Update(context.Background(), u.Write)
		}
		if err != nil {
			t.Fatal(err)
		}
		u.Committed()
		for _, part := range u.parts {
			most = max(most, len(part.arrays))
		}
		partitions = max(partitions, len(u.parts))
		if round%10 == 9 {
			maps.DeleteFunc(want, func(_ uint32, sets []number) bool { return len(sets) == 0 })
			if got := filedUnder(t, db); !maps.EqualFunc(got, want, slices.Equal) {
				t.Fatalf("round %d: %d hashes, want %d", round, len(got), len(want))
			}
		}
	}
	t.Logf("%d sets, at most %d partitions of at most %d arrays", next, partitions, most)
	if most > 4*mergeAt || most < 3 || partitions < 3 {
		t.Errorf("at most %d partitions of at most %d arrays", partitions, most)
	}
}

func TestADamagedArrayIsSaid(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	err := db.Update(t.Context(), func(txn *kv.Txn) error {
		return txn.Set(kv.SpaceJoins, arrayKey(math.MaxUint32, 1), []byte("12345"))
	})
	if err != nil {
		t.Fatal(err)
	}
	err = db.View(func(txn *kv.Txn) error {
		_, err := NewPass().Prepare(txn, nil, []Replacement{{New: "a", Columns: columnsOf(t, "a", words("x", 0, 50))}})
		return err
	})
	if !errors.Is(err, errDamaged) {
		t.Errorf("%v", err)
	}
}
