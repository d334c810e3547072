package kv

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"odarchive/triplestore/disk/disktest"
)

// TestAPurgeWithoutRoomForASecondDatabaseChangesNothing purges a database that is larger than the space that is left.
func TestAPurgeWithoutRoomForASecondDatabaseChangesNothing(t *testing.T) {
	t.Parallel()
	disk := disktest.Small(t, "128m")
	const entries, value = 150, 100_000
	db, err := Open(filepath.Join(disk, "data"), Options{MemTable: 8 << 20, MinFree: 16 << 20, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	random := rand.NewChaCha8([32]byte{1})
	for i := range entries {
		v := make([]byte, value)
		random.Read(v)
		if err := db.Update(t.Context(), func(txn *Txn) error { return txn.Set(SpaceTest, []byte(fmt.Sprint(i)), v) }); err != nil {
			t.Fatal(err)
		}
	}
	count := func() (n int) {
		err := db.View(func(txn *Txn) error {
			return txn.Scan(SpaceTest, nil, nil, func(_, _ []byte) (bool, error) { n++; return true, nil })
		})
		if err != nil {
			t.Error(err)
		}
		return n
	}
	if err := db.Purge(t.Context()); err != nil { // tables and a state file, without a log
		t.Fatal(err)
	}
	filler, refused := filepath.Join(disk, "filler"), 0
	for _, leave := range []int64{8, 18, 26, 40} {
		disktest.Fill(t, filler, leave)
		err := db.Purge(t.Context())
		if errors.Is(err, ErrDiskFull) {
			refused++
		} else if err != nil {
			t.Errorf("with %d MiB free: %v", leave, err)
		}
		t.Log(leave, err)
		if n := count(); n != entries {
			t.Errorf("with %d MiB free: %d entries, want %d", leave, n, entries)
		}
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
	}
	if refused == 0 {
		t.Error("no purge found too little room")
	}
}
