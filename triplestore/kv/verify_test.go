package kv

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"odarchive/triplestore/disk"
)

// Regression: Badger truncates the file of a table before it removes it. A sound database was called damaged because of
// that.
func TestATableThatIsJustBeingRemovedIsNotDamaged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 3 {
		db := open(t, dir, Options{MinFree: -1})
		put(t, db, fmt.Sprint("key", i), "value")
		if err := db.Close(); err != nil { // each round writes a table
			t.Fatal(err)
		}
	}
	db := open(t, dir, Options{MinFree: -1})
	c := db.cache.Load()
	before := c.tables()
	if len(before) < 2 {
		t.Fatalf("tables: %v", before)
	}
	var once sync.Once
	removed := 0
	bad, err := c.verify(t.Context(), verifyOptions{throttle: disk.NewThrottle(1 << 30) /* one by one */, progress: func(int64) {
		once.Do(func() {
			if err := db.Compact(); err != nil {
				t.Error(err)
			}
			for _, id := range before { // as they are for a moment
				name := filepath.Join(c.dir, tableName(id))
				if _, err := os.Stat(name); os.IsNotExist(err) {
					removed++
					if err := os.WriteFile(name, nil, 0o644); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}})
	if err != nil || len(bad) > 0 || removed == 0 {
		t.Errorf("%d tables removed, found damaged: %v, %v", removed, bad, err)
	}
}
