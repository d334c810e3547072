package kv

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestAscendingReadsFindWhatOtherReadsFind reads keys in order and out of order, near and far, of several series.
func TestAscendingReadsFindWhatOtherReadsFind(t *testing.T) {
	t.Parallel()
	db := inMemory(t)
	r := rand.New(rand.NewPCG(3, 4))
	err := db.Update(t.Context(), func(tx *Txn) error {
		for i := range 900 {
			if r.IntN(3) > 0 {
				if err := tx.Set(space, fmt.Appendf(nil, "%c%03d", 'a'+i%3, i/3), fmt.Append(nil, i)); err != nil {
					return err
				}
			}
		}
		return tx.Set(space+1, []byte("a000"), []byte("of another space"))
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, stride := range []int{1, 2, 40, 0} {
		err = db.ViewAscending(func(tx *Txn) error {
			for i := range 1200 {
				n := i / 3 * stride % 320
				if stride == 0 {
					n = r.IntN(320)
				}
				key := fmt.Appendf(nil, "%c%03d", 'a'+i%3, n)
				want, exists, err := db.get(space, key)
				if err != nil {
					return err
				}
				got, ok, err := tx.Get(space, key)
				if err != nil || ok != exists || string(got) != string(want) {
					return fmt.Errorf("%s: %q, %t, %v; want %q, %t", key, got, ok, err, want, exists)
				}
			}
			if got, ok, err := tx.Get(space+1, []byte("a000")); err != nil || !ok || string(got) != "of another space" {
				return fmt.Errorf("in another space: %q, %t, %v", got, ok, err)
			}
			if _, ok, err := tx.Get(space, nil); err != nil || ok {
				return fmt.Errorf("the empty key: %t, %v", ok, err)
			}
			return tx.Set(space, []byte("a"), nil)
		})
		if !errors.Is(err, ErrReadOnly) {
			t.Errorf("stride %d: %v", stride, err)
		}
	}
	failed := errors.New("failed")
	err = db.ViewAscending(func(tx *Txn) error {
		_, err := tx.Read(space+1, []byte("a000"), func([]byte) error { return failed })
		return err
	})
	if !errors.Is(err, failed) {
		t.Errorf("the error of the function that reads is lost: %v", err)
	}
}

// get returns a value in a transaction of its own.
func (db *DB) get(space Space, key []byte) (val []byte, ok bool, err error) {
	err = db.View(func(tx *Txn) (err error) {
		val, ok, err = tx.Get(space, key)
		return err
	})
	return val, ok, err
}
