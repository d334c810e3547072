package kv

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestACursorFindsTheFirstKeyAtOrAfterWhatIsSought(t *testing.T) {
	t.Parallel()
	db := inMemory(t)
	r := rand.New(rand.NewPCG(7, 1))
	var keys []string
	for i := range 300 {
		if r.IntN(3) == 0 {
			keys = append(keys, fmt.Sprintf("k%03d", i))
		}
	}
	err := db.Update(t.Context(), func(tx *Txn) error {
		for _, k := range keys {
			if err := tx.Set(space, []byte(k), []byte("of "+k)); err != nil {
				return err
			}
		}
		return tx.Set(space+1, []byte("of another space"), nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	snap := db.Snapshot()
	c, err := snap.Cursor(space)
	if err != nil {
		t.Fatal(err)
	}
	snap.Close() // the cursor still holds it
	for i := range 2000 {
		want := fmt.Sprintf("k%03d", r.IntN(310))
		if i%2 == 0 { // most seeks move forward, by a little
			want = fmt.Sprintf("k%03d", i*310/2000)
		}
		at, _ := slices.BinarySearch(keys, want)
		var key, val string
		found, err := c.Seek([]byte(want), func(k, v []byte) error { key, val = string(k), string(v); return nil })
		switch {
		case err != nil:
			t.Fatal(err)
		case at == len(keys) && found, at < len(keys) && (key != keys[at] || val != "of "+key):
			t.Fatalf("sought %s: found %v %q=%q", want, found, key, val)
		}
	}
	c.Close()
	c.Close()
	if _, err := snap.Cursor(space); err == nil {
		t.Error("a closed snapshot gives a cursor")
	}
}
