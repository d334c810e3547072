package kv

import (
	"fmt"
	"testing"
)

func TestAFilledDatabaseHoldsWhatItWasFilledWithAndNothingElse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := open(t, dir, Options{})
	put(t, db, "before", "gone")
	const n = 50_000
	err := db.Fill(func(put func(Space, []byte, []byte) error) error {
		for i := range n {
			if err := put(space, fmt.Appendf(nil, "k%06d", i), fmt.Appendf(nil, "of %d", i)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	put(t, db, "k000001", "written since")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = open(t, dir, Options{})
	if err := db.Verify(); err != nil {
		t.Error(err)
	}
	count := 0
	err = db.View(func(txn *Txn) error {
		v, _, err := txn.Get(space, []byte("k000001"))
		if string(v) != "written since" {
			t.Errorf("k000001 is %q", v)
		}
		if err != nil {
			return err
		}
		return txn.Scan(space, nil, nil, func(k, _ []byte) (bool, error) {
			if want := fmt.Sprintf("k%06d", count); string(k) != want {
				t.Errorf("%s, want %s", k, want)
			}
			count++
			return true, nil
		})
	})
	if err != nil || count != n {
		t.Errorf("%d entries, %v", count, err)
	}
}
