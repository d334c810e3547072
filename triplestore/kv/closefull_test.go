package kv

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// TestADatabaseOnAFullDiskIsClosedWithoutWritingTables closes a database while its disk is full, and opens a copy of
// its directory, since the process keeps the directory itself locked.
func TestADatabaseOnAFullDiskIsClosedWithoutWritingTables(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, err := Open(dir, Options{MemTable: 8 << 20, MinFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		err := db.Update(t.Context(), func(txn *Txn) error { return txn.Set(SpaceTest, []byte(fmt.Sprint(i)), []byte("value")) })
		if err != nil {
			t.Fatal(err)
		}
	}
	db.opts.MinFree = math.MaxInt64
	if err := db.checkSpace(); err == nil {
		t.Skip("free disk space is not watched on this system")
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if tables, err := filepath.Glob(filepath.Join(dir, cacheDir, "*.sst")); err != nil || len(tables) > 0 {
		t.Errorf("Close wrote %d tables, %v", len(tables), err)
	}
	later := t.TempDir()
	if err := os.CopyFS(later, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if db, err = Open(later, Options{MemTable: 8 << 20, MinFree: -1}); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	n := 0
	err = db.View(func(txn *Txn) error {
		return txn.Scan(SpaceTest, nil, nil, func(k, v []byte) (bool, error) { n++; return true, nil })
	})
	if err != nil || n != 100 {
		t.Errorf("%d entries after it, %v; want 100", n, err)
	}
}
