package kv

import (
	"fmt"
	"testing"
)

func TestWhatBulkWorkLeavesIsReadAndMergedByOthers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	opts := Options{MemTable: 8 << 20, MinFree: -1, NoSync: true, Bulk: true}
	db, err := Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	const entries, turns = 100_000, 3
	val := func(i, turn int) []byte { return fmt.Appendf(nil, "%0400d of turn %d", i*7919, turn) }
	for turn := range turns {
		b := db.Batch()
		for i := range entries {
			if err := b.Set(SpaceTest, fmt.Appendf(nil, "%09d", i*7919%entries), val(i*7919%entries, turn)); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	opts.Bulk = false
	if db, err = Open(dir, opts); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for i := 0; i < entries; i += 997 {
		err := db.View(func(txn *Txn) error {
			got, ok, err := txn.Get(SpaceTest, fmt.Appendf(nil, "%09d", i))
			if err == nil && (!ok || string(got) != string(val(i, turns-1))) {
				err = fmt.Errorf("entry %d is %.20q, %t", i, got, ok)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
