package kv

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// writeMany sets n entries of 1,000 bytes in one transaction, which is too large for one of Badger's if n is 2,000.
func writeMany(t testing.TB, db *DB, n int, val string) {
	t.Helper()
	if err := db.Update(t.Context(), func(tx *Txn) error { return setMany(tx.Set, n, val) }); err != nil {
		t.Fatal(err)
	}
}

func setMany(set func(space Space, key, val []byte) error, n int, val string) error {
	for i := range n {
		if err := set(space, fmt.Appendf(nil, "%05d", i), []byte(strings.Repeat(val, 1000))); err != nil {
			return err
		}
	}
	return nil
}

// values returns which values the entries of writeMany have, and how often.
func values(t testing.TB, db *DB) string {
	t.Helper()
	found := map[byte]int{}
	err := db.View(func(tx *Txn) error {
		return tx.Scan(space, nil, nil, func(_, val []byte) (bool, error) { found[val[0]]++; return true, nil })
	})
	if err != nil {
		t.Fatal(err)
	}
	out := ""
	for c := byte('a'); c <= 'z'; c++ {
		if found[c] > 0 {
			out += fmt.Sprintf("%d %c ", found[c], c)
		}
	}
	return strings.TrimSpace(out)
}

func TestReadersSeeATransactionOfSeveralPartsAsAWhole(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir(), small)
	if n := int64(2000 * 1000); n <= db.cache.Load().badger.MaxBatchSize() {
		t.Fatalf("%d bytes are one part", n)
	}
	writeMany(t, db, 2000, "a")
	ended := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				if got := values(t, db); len(strings.Fields(got)) != 2 || !strings.HasPrefix(got, "2000 ") {
					t.Errorf("a reader sees %s", got)
				}
				select {
				case <-ended:
					return
				default:
				}
			}
		})
	}
	for _, val := range []string{"b", "c", "d", "e"} {
		writeMany(t, db, 2000, val)
	}
	close(ended)
	readers.Wait()
}

// diedBetweenParts makes a directory whose log has a write set of which the tables have the first part.
func diedBetweenParts(t testing.TB) (dir string) {
	t.Helper()
	dir = t.TempDir()
	db := open(t, dir, small)
	writeMany(t, db, 2000, "a")
	l := &layer{}
	if err := setMany(func(s Space, k, v []byte) error { l.set(string(fullKey(s, k)), write{val: v}); return nil }, 2000, "b"); err != nil {
		t.Fatal(err)
	}
	number, err := db.log.Append(encodeWrites(l))
	if err == nil {
		err = db.log.Sync()
	}
	if err != nil {
		t.Fatal(err)
	}
	txn := db.cache.Load().badger.NewTransactionAt(number, true)
	for i := range 700 {
		if err := txn.Set([]byte(l.writes[i].key), l.writes[i].val); err != nil {
			t.Fatal(err)
		}
	}
	if err := txn.CommitAt(number, nil); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil { // writes Badger's memory into tables
		t.Fatal(err)
	}
	return dir
}

func TestATransactionIsWholeAlthoughTheProcessDiedBetweenItsParts(t *testing.T) {
	t.Parallel()
	dir := diedBetweenParts(t)
	readOnly := small
	readOnly.ReadOnly = true
	for _, o := range []Options{readOnly, small, small} {
		db := open(t, dir, o)
		if got := values(t, db); got != "2000 b" {
			t.Errorf("read-only %v: the entries are %s", o.ReadOnly, got)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestATransactionOfWhichTheLogIsLostBetweenItsPartsIsLostAsAWhole(t *testing.T) {
	t.Parallel()
	dir := diedBetweenParts(t)
	logs, err := filepath.Glob(filepath.Join(dir, logDir, "*.log"))
	if err != nil || len(logs) == 0 {
		t.Fatal(logs, err)
	}
	last := logs[len(logs)-1]
	info, err := os.Stat(last)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(last, info.Size()-10); err != nil {
		t.Fatal(err)
	}
	db := open(t, dir, small)
	defer db.Close()
	if got := values(t, db); got != "2000 a" {
		t.Errorf("the entries are %s", got)
	}
	writeMany(t, db, 2000, "c")
	if got := values(t, db); got != "2000 c" {
		t.Errorf("afterwards the entries are %s", got)
	}
}

// The log keeps a write set until everything of it is in tables.
func TestTheLogKeepsAWriteSetOfWhichAPartIsInMemory(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir(), small)
	writeMany(t, db, 2000, "a")
	number := db.visible.Load()
	if err := db.Compact(); err != nil { // flushes
		t.Fatal(err)
	}
	if got := db.cache.Load().flushed(); got >= db.visible.Load() || got+1 < number {
		t.Errorf("flushed up to %d; the last write set is %d", got, number)
	}
}
