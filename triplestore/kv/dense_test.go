package kv

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A directory may have tables of Snappy and of Zstandard side by side, and any options read and verify both.
func TestDenseTablesAndOthersAreReadAndVerifiedAlike(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	options := func(dense bool) Options { return Options{MinFree: -1, NoSync: true, Dense: dense} }
	value := func(i int) string { return strings.Repeat(fmt.Sprint("value ", i, " "), 40) }
	var sizes []int64
	for round, dense := range []bool{false, true, false} {
		db := open(t, dir, options(dense))
		for i := range 300 {
			put(t, db, fmt.Sprintf("key %d %d", round, i), value(i))
		}
		if dense {
			if err := db.Compact(); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Close(); err != nil { // writes a table
			t.Fatal(err)
		}
		sizes = append(sizes, tableBytes(filepath.Join(dir, cacheDir)))
	}
	if sizes[1] > sizes[0] {
		t.Errorf("300 entries take %d bytes, and 600 compacted densely %d", sizes[0], sizes[1])
	}
	forgetVerified(filepath.Join(dir, cacheDir))
	for _, dense := range []bool{false, true} {
		db := open(t, dir, options(dense))
		if found := db.Damages(); len(found) > 0 {
			t.Errorf("sound tables are called damaged: %v", found)
		}
		bad, err := db.cache.Load().verify(t.Context(), verifyOptions{})
		if err != nil || len(bad) > 0 {
			t.Errorf("verify: %v, %v", bad, err)
		}
		entries := all(t, db, "", "")
		for round := range sizes {
			if key := fmt.Sprintf("key %d 299", round); !strings.Contains(entries, key) {
				t.Errorf("%s is lost", key)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	names, err := filepath.Glob(filepath.Join(dir, cacheDir, "*.sst"))
	if err != nil || len(names) < 2 {
		t.Fatalf("tables: %v, %v", names, err)
	}
	for _, name := range names { // a flipped bit is found in either
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		b[len(b)/3] ^= 4
		other := filepath.Join(t.TempDir(), "table")
		if err := os.WriteFile(other, b, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := verifyTable(t.Context(), other, nil, nil); err == nil {
			t.Errorf("%s: a flipped bit is not found", filepath.Base(name))
		}
	}
}
