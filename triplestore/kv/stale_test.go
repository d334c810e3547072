package kv

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	badger "github.com/dgraph-io/badger/v4"
)

// replaceDir replaces a directory by an old copy of it.
func replaceDir(t testing.TB, from, to, name string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(to, name)); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
		t.Fatal(err)
	}
}

func TestAnOldCopyOfTheLogIsNoticed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := open(t, dir, small)
	put(t, db, "a", "1")
	old := killed(t, dir)
	put(t, db, "b", "2")
	put(t, db, "c", "3")
	now := killed(t, dir)
	replaceDir(t, old, now, logDir)
	db = open(t, now, small)
	if got := all(t, db, "", ""); got != "a=1 b=2 c=3" {
		t.Errorf("got %s", got)
	}
	if found := db.Damages(); len(found) == 0 || found[0].Mended.IsZero() || found[0].Lost != "" {
		t.Errorf("found: %v", found)
	}
}

func TestASnapshotThatIsNewerThanTheLogIsNotForgotten(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(11, 3))
	dir := t.TempDir()
	db := open(t, dir, small)
	put(t, db, "first", "1")
	old := killed(t, dir)
	grow(t, db, rnd, 60)
	if err := db.save(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := all(t, db, "", "")
	for _, gone := range []string{"", witnessName} {
		now := killed(t, dir)
		replaceDir(t, killed(t, old), now, logDir)
		if gone != "" {
			os.Remove(filepath.Join(now, gone))
			os.RemoveAll(filepath.Join(now, cacheDir))
		}
		db := open(t, now, small)
		if got := all(t, db, "", ""); got != want {
			t.Errorf("without %q: %d bytes of entries, not %d", gone, len(got), len(want))
		}
		put(t, db, "later", "1")
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		os.RemoveAll(filepath.Join(now, cacheDir))
		if got := all(t, open(t, now, small), "later", ""); got != "later=1" {
			t.Errorf("without %q: what was written afterwards is gone: %s", gone, got)
		}
	}
}

// oldFormat makes a directory of format 1, with tables, and with entries that only Badger's own log has.
func oldFormat(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, cacheDir), 0o755); err != nil {
		t.Fatal(err)
	}
	for part := range 2 {
		old, err := badger.Open(badgerOptions(filepath.Join(dir, cacheDir), small.withDefaults()).WithSyncWrites(true))
		if err != nil {
			t.Fatal(err)
		}
		for i := range 20 {
			err := old.Update(func(tx *badger.Txn) error {
				return tx.Set(fullKey(space, fmt.Appendf(nil, "%d%02d", part, i)), []byte("old"))
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if part == 1 {
			defer old.Close()
			return killed(t, dir)
		}
		if err := old.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestAnOlderDirectoryIsReadWithoutTakingItOver(t *testing.T) {
	t.Parallel()
	dir := oldFormat(t)
	before := tree(t, dir)
	r := open(t, dir, Options{ReadOnly: true})
	if n := strings.Count(all(t, r, "", ""), "=old"); n != 40 {
		t.Errorf("%d entries of 40", n)
	}
	if after := tree(t, dir); after != before {
		t.Errorf("reading changed %s to %s", before, after)
	}
}

func TestADamagedOlderDirectoryIsRefusedAndLeftAlone(t *testing.T) {
	t.Parallel()
	for name, hurt := range map[string]func(dir string) error{
		"MANIFEST cut short": func(dir string) error {
			info, err := os.Stat(filepath.Join(dir, "MANIFEST"))
			if err != nil {
				return err
			}
			return os.Truncate(filepath.Join(dir, "MANIFEST"), info.Size()-1)
		},
		"MANIFEST cut to its head": func(dir string) error { return os.Truncate(filepath.Join(dir, "MANIFEST"), manifestHead) },
		"a bit of a table": func(dir string) error {
			names, _ := filepath.Glob(filepath.Join(dir, "*.sst"))
			b, err := os.ReadFile(names[0])
			if err != nil {
				return err
			}
			b[len(b)/2] ^= 1
			return os.WriteFile(names[0], b, 0o644)
		},
	} {
		dir := oldFormat(t)
		if err := hurt(filepath.Join(dir, cacheDir)); err != nil {
			t.Fatal(err)
		}
		tables, _ := filepath.Glob(filepath.Join(dir, cacheDir, "*.sst"))
		for _, o := range []Options{small, {ReadOnly: true}} {
			if db, err := Open(dir, o); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "packs-only") {
				t.Errorf("%s, read-only %v: %v", name, o.ReadOnly, err)
				if err == nil {
					db.Close()
				}
			}
		}
		if left, _ := filepath.Glob(filepath.Join(dir, cacheDir, "*.sst")); len(left) != len(tables) {
			t.Errorf("%s: %d tables of %d are left", name, len(left), len(tables))
		}
	}
}

func TestTheCacheCanBeThrownAwayUnderARunningDatabase(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(12, 3))
	dir := t.TempDir()
	db := open(t, dir, small)
	grow(t, db, rnd, 100)
	if err := db.Compact(); err != nil {
		t.Fatal(err)
	}
	put(t, db, "a", "1")
	want := all(t, db, "", "")
	if err := os.RemoveAll(filepath.Join(dir, cacheDir)); err != nil {
		t.Fatal(err)
	}
	if left, err := db.Mend(t.Context()); err != nil || len(left) > 0 {
		t.Fatal(left, err)
	}
	if got := all(t, db, "", ""); got != want {
		t.Error("other entries")
	}
	put(t, db, "b", "2")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if got := all(t, open(t, dir, small), "b", ""); got != "b=2" {
		t.Errorf("afterwards: %s", got)
	}
}

// The newest write set of a snapshot may have left no entry.
func TestASnapshotWhoseLastWriteSetOnlyDeletedIsWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := open(t, dir, small)
	put(t, db, "a", "1")
	put(t, db, "b", "2")
	err := db.Update(t.Context(), func(tx *Txn) error { return tx.Delete(space, []byte("b")) })
	if err == nil {
		err = db.save(t.Context())
	}
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	os.RemoveAll(filepath.Join(dir, cacheDir))
	db = open(t, dir, small)
	for _, d := range db.Damages() {
		if d.Lost != "" {
			t.Errorf("lost: %s", d)
		}
	}
	if got := all(t, db, "", ""); got != "a=1" {
		t.Errorf("got %s", got)
	}
}

func TestCompactShrinksStateFilesAndLogAfterDeletions(t *testing.T) {
	t.Parallel()
	for _, keep := range []int{10, 20_000} { // one in ten; only the first
		testCompactAfterDeletions(t, keep)
	}
}

func testCompactAfterDeletions(t *testing.T, keep int) {
	dir := t.TempDir()
	db := open(t, dir, small)
	rnd := rand.New(rand.NewPCG(3, 9))
	batch := db.Batch()
	key := func(i int) []byte { return fmt.Appendf(nil, "key %06d", i) }
	for i := range 20_000 {
		val := make([]byte, 100)
		for j := range val {
			val[j] = byte(rnd.Uint32())
		}
		if err := batch.Set(SpaceDict, key(i), val); err != nil {
			t.Fatal(err)
		}
	}
	if err := batch.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := db.save(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range 20_000 {
		if i%keep > 0 {
			if err := batch.Delete(SpaceDict, key(i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := batch.Flush(); err != nil {
		t.Fatal(err)
	}
	want, before := all(t, db, "", ""), db.Sizes()
	if err := db.Compact(); err != nil {
		t.Fatal(err)
	}
	after := db.Sizes()
	if after.Log+after.Snapshots > (before.Log+before.Snapshots)/3 {
		t.Errorf("one in %d is left: %+v before, %+v after", keep, before, after)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if got := all(t, open(t, dir, small), "", ""); got != want {
		t.Error("other entries after Compact")
	}
}
