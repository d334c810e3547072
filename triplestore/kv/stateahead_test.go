package kv

import (
	"testing"

	"odarchive/triplestore/disk/disktest"
)

// What a batch has written is visible before it is durable. A state file of it, which is durable, must not be ahead of
// the log after a power cut: the database could not be opened, or its log would number other write sets alike.
func TestAStateFileIsNotAheadOfTheLogAfterAPowerCut(t *testing.T) {
	t.Parallel()
	fsys := disktest.NewCrash(1)
	o := Options{CacheInMemory: true, FS: fsys, MinFree: -1}
	db, err := Open("data", o)
	if err != nil {
		t.Fatal(err)
	}
	put(t, db, "a", "1")
	l := &layer{}
	l.set(string(fullKey(space, []byte("b"))), write{val: []byte("1")})
	if err := db.writeLayer(l, false); err != nil {
		t.Fatal(err)
	}
	if err := db.save(t.Context()); err != nil {
		t.Fatal(err)
	}
	after := fsys.Crash()
	_ = db.Close()
	if db, err = Open("data", Options{CacheInMemory: true, FS: after, MinFree: -1}); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	put(t, db, "c", "1")
	if got := all(t, db, "", ""); got != "a=1 b=1 c=1" {
		t.Errorf("got %q", got)
	}
}
