package kv

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	badger "github.com/dgraph-io/badger/v4"

	"odarchive/triplestore/disk/disktest"
)

// grow writes and deletes random entries, enough for the log to roll and for state files to be written.
func grow(t testing.TB, db *DB, rnd *rand.Rand, commits int) {
	t.Helper()
	for range commits {
		err := db.Update(t.Context(), func(tx *Txn) error {
			for range rnd.IntN(20) {
				key := fmt.Appendf(nil, "%04d", rnd.IntN(2000))
				if rnd.IntN(5) == 0 {
					if err := tx.Delete(space, key); err != nil {
						return err
					}
					continue
				}
				val := make([]byte, rnd.IntN(2000))
				for i, some := 0, rnd.Uint64(); i+8 <= len(val); i += 8 {
					binary.LittleEndian.PutUint64(val[i:], some+uint64(i%64)) // compresses as well as records do
				}
				if err := tx.Set(space, key, val); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// killed copies the directory of an open database: what a kill of the process leaves.
func killed(t testing.TB, dir string) string {
	t.Helper()
	to := t.TempDir()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		b, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), b, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// small makes segments and state files frequent.
var small = Options{MemTable: 8 << 20, SaveAt: 256 << 10, MinFree: -1}

// For every file of the database that is truncated or has a bit flipped: the entries are unchanged, whether the process
// was killed or closed the database, and a second opening has nothing to repair.
func TestTheDatabaseSurvivesTheLossOfAnyOneFile(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 3))
	source := t.TempDir()
	db := open(t, source, small)
	grow(t, db, rnd, 400)
	want := all(t, db, "", "")
	afterKill := killed(t, source)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{afterKill, source} {
		var files []string
		for _, pattern := range []string{"db/*", "log/*", "snapshots/*", "OWNER"} {
			names, _ := filepath.Glob(filepath.Join(from, pattern))
			files = append(files, names...)
		}
		for _, victim := range files {
			for _, kind := range []string{"missing", []string{"bit", "zeros", "cut"}[rnd.IntN(3)]} {
				what := kind + " " + strings.TrimPrefix(victim, from)
				dir := killed(t, from)
				hurt(t, rnd, filepath.Join(dir, strings.TrimPrefix(victim, from)), kind)
				if strings.HasSuffix(victim, ".vlog") || strings.HasSuffix(victim, "DISCARD") {
					if kind != "missing" {
						continue // never read
					}
				}
				db, err := Open(dir, small)
				if err != nil {
					t.Errorf("%s: %v", what, err)
					continue
				}
				if got := all(t, db, "", ""); got != want {
					t.Errorf("%s: %d bytes of entries, not %d", what, len(got), len(want))
				}
				if left, err := db.Mend(t.Context()); err != nil || len(left) > 0 {
					t.Errorf("%s: not mended: %v %v", what, left, err)
				}
				for _, d := range db.Damages() {
					if d.Lost != "" {
						t.Errorf("%s: %s", what, d)
					}
				}
				put(t, db, "later", "1")
				if err := db.Close(); err != nil {
					t.Errorf("%s: %v", what, err)
				}
				db, err = Open(dir, small)
				if err != nil {
					t.Errorf("%s: again: %v", what, err)
					continue
				}
				if found := db.Damages(); len(found) > 0 {
					t.Errorf("%s: the second opening still finds %v", what, found)
				}
				if got := all(t, db, "later", ""); got != "later=1" {
					t.Errorf("%s: what was written afterwards reads %q", what, got)
				}
				db.Close()
			}
		}
	}
}

func hurt(t testing.TB, rnd *rand.Rand, name, kind string) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if len(b) == 0 {
		return
	}
	at := rnd.IntN(len(b))
	switch kind {
	case "missing":
		err = os.Remove(name)
	case "bit":
		b[at] ^= 1 << rnd.IntN(8)
		err = os.WriteFile(name, b, 0o644)
	case "zeros":
		clear(b[at:min(len(b), at+512)])
		err = os.WriteFile(name, b, 0o644)
	case "cut":
		err = os.WriteFile(name, b[:at], 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestEachDirectoryOfTheDatabaseCanBeThrownAway(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 3))
	source := t.TempDir()
	db := open(t, source, small)
	grow(t, db, rnd, 300)
	want := all(t, db, "", "")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{cacheDir, logDir, statesDir, tempDir} {
		dir := killed(t, source)
		if err := os.RemoveAll(filepath.Join(dir, gone)); err != nil {
			t.Fatal(err)
		}
		db := open(t, dir, small)
		if got := all(t, db, "", ""); got != want {
			t.Errorf("without %s: other entries", gone)
		}
		if left, err := db.Mend(t.Context()); err != nil || len(left) > 0 {
			t.Errorf("without %s: %v %v", gone, left, err)
		}
	}
}

func TestTheDirectoryOfTemporaryFilesMayBeALink(t *testing.T) {
	t.Parallel()
	dir, elsewhere := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(elsewhere, "left"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, filepath.Join(dir, tempDir)); err != nil {
		t.Fatal(err)
	}
	open(t, dir, small)
	if to, err := os.Readlink(filepath.Join(dir, tempDir)); err != nil || to != elsewhere {
		t.Errorf("the link is to %q: %v", to, err)
	}
	if left, err := os.ReadDir(elsewhere); err != nil || len(left) > 0 {
		t.Errorf("%v is left: %v", left, err)
	}
}

func TestADirectoryOfBeforeTheLogIsTakenOver(t *testing.T) {
	t.Parallel()
	for _, close := range []bool{true, false} {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, cacheDir), 0o755); err != nil {
			t.Fatal(err)
		}
		old, err := badger.Open(badgerOptions(filepath.Join(dir, cacheDir), small.withDefaults()).WithSyncWrites(true))
		if err != nil {
			t.Fatal(err)
		}
		for i := range 50 {
			err := old.Update(func(tx *badger.Txn) error {
				return tx.Set(fullKey(space, fmt.Appendf(nil, "%02d", i)), []byte("old"))
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if close {
			if err := old.Close(); err != nil {
				t.Fatal(err)
			}
		} else {
			dir = killed(t, dir)
			defer old.Close()
		}
		db := open(t, dir, small)
		if got := strings.Count(all(t, db, "", ""), "=old"); got != 50 {
			t.Errorf("%d entries of 50", got)
		}
		put(t, db, "new", "1")
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Join(dir, cacheDir)); err != nil {
			t.Fatal(err)
		}
		if got := all(t, open(t, dir, small), "", ""); strings.Count(got, "=old") != 50 || !strings.Contains(got, "new=1") {
			t.Errorf("from the log: %.200s", got)
		}
	}
}

func TestDamageUnderARunningDatabaseIsMendedByTheScrub(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(2, 3))
	dir := t.TempDir()
	db := open(t, dir, small)
	grow(t, db, rnd, 300)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = open(t, dir, small)
	want := all(t, db, "", "")
	for _, pattern := range []string{"db/*.sst", "log/*.log", "snapshots/*"} {
		names, _ := filepath.Glob(filepath.Join(dir, pattern))
		if len(names) == 0 {
			t.Fatalf("no %s", pattern)
		}
		f, err := os.OpenFile(names[0], os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 1)
		if _, err := f.ReadAt(b, 500); err != nil {
			t.Fatal(err)
		}
		b[0] ^= 16
		if _, err := f.WriteAt(b, 500); err != nil {
			t.Fatal(err)
		}
		f.Close()
		held := db.Snapshot()
		if err := db.scrubOnce(t.Context(), nil); err != nil {
			t.Fatalf("%s: %v", pattern, err)
		}
		if got := all(t, db, "", ""); got != want {
			t.Errorf("%s: other entries", pattern)
		}
		if strings.HasPrefix(pattern, "db") {
			if _, _, err := held.Get(space, []byte("0001")); !errors.Is(err, ErrDamaged) {
				t.Errorf("a snapshot of the damaged database answers: %v", err)
			}
		}
		held.Close()
		if found := db.Damages(); len(found) == 0 || found[len(found)-1].Mended.IsZero() {
			t.Errorf("%s: %v", pattern, found)
		}
		put(t, db, "k", pattern)
		want = all(t, db, "", "")
	}
	afterKill := killed(t, dir)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{dir, afterKill} {
		if got := all(t, open(t, d, small), "", ""); got != want {
			t.Error("after reopening there are other entries")
		}
	}
}

func TestAStateFileAndTheLogBehindItAreTheDatabase(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(4, 3))
	dir := t.TempDir()
	o := small
	o.SaveAt = 64 << 10
	db := open(t, dir, o)
	for range 6 {
		grow(t, db, rnd, 400) // more than Badger holds in memory
		if err := db.save(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	grow(t, db, rnd, 20)
	if n := len(db.states.files()); n != statesKept {
		t.Errorf("%d state files", n)
	}
	if first, oldest := db.log.First(), db.states.files()[0].number; first > oldest+1 || first == 1 {
		t.Errorf("the log begins with %d, the older state file ends with %d", first, oldest)
	}
	want := all(t, db, "", "")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, without := range []string{"", "newest"} {
		dir := killed(t, dir)
		os.RemoveAll(filepath.Join(dir, cacheDir))
		if without != "" {
			names, _ := filepath.Glob(filepath.Join(dir, statesDir, "*"))
			os.Remove(names[len(names)-1])
		}
		if got := all(t, open(t, dir, small), "", ""); got != want {
			t.Errorf("without %q: other entries", without)
		}
	}
}

func TestADroppedSpaceStaysDroppedWhereverTheProcessDies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := open(t, dir, small)
	put(t, db, "a", "1")
	err := db.Update(t.Context(), func(tx *Txn) error { return tx.Set(SpaceMeta, []byte("m"), []byte("1")) })
	if err != nil {
		t.Fatal(err)
	}
	if err := db.DropSpace(space); err != nil {
		t.Fatal(err)
	}
	put(t, db, "b", "2")
	for _, keep := range []bool{true, false} {
		dir := killed(t, dir)
		if !keep {
			os.RemoveAll(filepath.Join(dir, cacheDir))
		}
		db := open(t, dir, small)
		if got := all(t, db, "", ""); got != "b=2" {
			t.Errorf("got %s", got)
		}
		db.View(func(tx *Txn) error {
			if _, ok, err := tx.Get(SpaceMeta, []byte("m")); !ok || err != nil {
				t.Errorf("the other space: %v %v", ok, err)
			}
			return nil
		})
	}
}

func TestReadingNeedsNoLockAndSeesWhatWasCommitted(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(5, 3))
	dir := t.TempDir()
	quiet := small
	quiet.SaveAt = 1 << 30 // nothing else changes the directory
	db := open(t, dir, quiet)
	readOnly := quiet
	readOnly.ReadOnly = true
	for round := range 8 {
		grow(t, db, rnd, 40)
		if round == 5 {
			if err := db.DropSpace(SpaceMeta); err != nil { // an overlay cannot represent a drop
				t.Fatal(err)
			}
		}
		want := all(t, db, "", "")
		before := tree(t, dir)
		r := open(t, dir, readOnly)
		if got := all(t, r, "", ""); got != want {
			t.Fatalf("round %d: the reader sees other entries", round)
		}
		s := r.Snapshot()
		c, err := s.Cursor(space)
		if err != nil {
			t.Fatal(err)
		}
		seen := ""
		for _, key := range []string{"0000", "0500", "0501", "1999"} {
			c.Seek([]byte(key), func(k, v []byte) error { seen += string(k) + " "; return nil })
		}
		expected := ""
		for _, key := range []string{"0000", "0500", "0501", "1999"} {
			if k, _, ok := strings.Cut(all(t, db, "", key), "="); ok {
				expected += k + " "
			}
		}
		if seen != expected {
			t.Errorf("round %d: a cursor finds %q, not %q", round, seen, expected)
		}
		c.Close()
		s.Close()
		if err := r.Update(t.Context(), func(tx *Txn) error { return nil }); !errors.Is(err, ErrReadOnly) {
			t.Errorf("a write: %v", err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if after := tree(t, dir); after != before {
			t.Errorf("reading has changed the directory from\n%s to\n%s", before, after)
		}
	}
}

// tree lists the files below a directory that reading could change.
func tree(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	for _, pattern := range []string{"*", "log/*", "snapshots/*"} {
		names, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, name := range names {
			if info, err := os.Stat(name); err == nil && !info.IsDir() {
				fmt.Fprintln(&b, strings.TrimPrefix(name, dir), info.Size())
			}
		}
	}
	return b.String()
}

func TestAfterAFailedSyncNothingIsWrittenAndReadingGoesOn(t *testing.T) {
	t.Parallel()
	under := disktest.NewCrash(7)
	errs := disktest.NewErrors(under)
	o := Options{CacheInMemory: true, FS: errs, MinFree: -1}
	db := open(t, "/data", o)
	put(t, db, "a", "1")
	errs.Only(disktest.Sync, "*.log")
	errs.FailAt(errs.Count()+1, syscall.EIO)
	write := func(key string) error {
		return db.Update(context.Background(), func(tx *Txn) error { return tx.Set(space, []byte(key), []byte("1")) })
	}
	if err := write("b"); !errors.Is(err, ErrWritesStopped) || !errors.Is(err, syscall.EIO) {
		t.Errorf("the write that was not synced: %v", err)
	}
	if err := write("c"); !errors.Is(err, ErrWritesStopped) {
		t.Errorf("the next one: %v", err)
	}
	if err := db.Batch().Flush(); !errors.Is(err, ErrWritesStopped) {
		t.Errorf("a batch: %v", err)
	}
	if got := all(t, db, "", ""); got != "a=1" {
		t.Errorf("readers see %s", got)
	}
	if err := db.WritesStopped(); !errors.Is(err, syscall.EIO) {
		t.Errorf("the reason: %v", err)
	}
	db.Close()
	db = open(t, "/data", Options{CacheInMemory: true, FS: under.Crash(), MinFree: -1})
	if got := all(t, db, "a", ""); got != "a=1" {
		t.Errorf("afterwards there is %s", got)
	}
	put(t, db, "d", "1")
}

func TestAFullDiskRefusesOneWriteAndNotTheNext(t *testing.T) {
	t.Parallel()
	errs := disktest.NewErrors(disktest.NewCrash(8))
	db := open(t, "/data", Options{CacheInMemory: true, FS: errs, MinFree: -1})
	put(t, db, "a", "1")
	errs.Only(disktest.Write, "*.log")
	errs.FailAt(errs.Count()+1, syscall.ENOSPC)
	err := db.Update(t.Context(), func(tx *Txn) error { return tx.Set(space, []byte("b"), nil) })
	if !errors.Is(err, ErrDiskFull) || errors.Is(err, ErrWritesStopped) {
		t.Errorf("the write without room: %v", err)
	}
	put(t, db, "c", "1")
	if got := all(t, db, "", ""); got != "a=1 c=1" {
		t.Errorf("got %s", got)
	}
}

func TestAReaderOutlivesTheTablesThatItsWriterDeletes(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(6, 3))
	dir := t.TempDir()
	db := open(t, dir, small)
	grow(t, db, rnd, 200)
	if err := db.Compact(); err != nil {
		t.Fatal(err)
	}
	want := all(t, db, "", "")
	r := open(t, dir, Options{ReadOnly: true})
	grow(t, db, rnd, 200)
	for range 2 {
		if err := db.Compact(); err != nil { // truncates the tables that the reader uses
			t.Fatal(err)
		}
	}
	if got := all(t, r, "", ""); got != want {
		t.Error("the reader sees other entries")
	}
}

func TestNobodyWritesWhileTheTablesThemselvesAreRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := open(t, dir, small)
	put(t, db, "a", "1")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	r := open(t, dir, Options{ReadOnly: true})
	other := open(t, dir, Options{ReadOnly: true})
	if _, err := Open(dir, small); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), "is reading") {
		t.Errorf("a writer: %v", err)
	}
	if got := all(t, r, "", "") + all(t, other, "", ""); got != "a=1a=1" {
		t.Errorf("got %s", got)
	}
	r.Close()
	other.Close()
	put(t, open(t, dir, small), "b", "2")
}

func TestADatabaseThatMustExistIsNotMadeAnewOutOfNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := small
	o.MustExist = true
	if _, err := Open(dir, o); !errors.Is(err, ErrMissing) {
		t.Errorf("an empty directory: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "log", "*")); len(left) > 0 {
		t.Errorf("it made %v", left)
	}
	put(t, open(t, dir, small), "a", "1") // it may still be created later
}

func TestWhatIsLostWithLogAndTablesIsNamed(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(9, 3))
	dir := t.TempDir()
	db := open(t, dir, small)
	grow(t, db, rnd, 20)
	if err := db.save(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := all(t, db, "", "")
	put(t, db, "later", "1")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	os.RemoveAll(filepath.Join(dir, cacheDir))
	os.RemoveAll(filepath.Join(dir, logDir))
	db = open(t, dir, small)
	if got := all(t, db, "", ""); got != want {
		t.Error("the state file holds other entries")
	}
	lost := ""
	for _, d := range db.Damages() {
		lost += d.Lost
	}
	if !strings.Contains(lost, "after write set") {
		t.Errorf("lost: %q of %v", lost, db.Damages())
	}
}

// A reader sees what a writer would find, even if the end of the log is damaged.
func TestAReaderTakesBadgersOwnLogWhereOursIsDamaged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := open(t, dir, small)
	for i := range 50 {
		put(t, db, fmt.Sprintf("%02d", i), strings.Repeat("x", 100))
	}
	want := all(t, db, "", "")
	dir = killed(t, dir)
	names, _ := filepath.Glob(filepath.Join(dir, logDir, "*.log"))
	b, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-50] ^= 1
	if err := os.WriteFile(names[0], b, 0o644); err != nil {
		t.Fatal(err)
	}
	r := open(t, dir, Options{ReadOnly: true})
	if got := all(t, r, "", ""); got != want {
		t.Errorf("the reader sees %d bytes of %d", len(got), len(want))
	}
	if len(r.Damages()) == 0 {
		t.Error("the damage is not told")
	}
	r.Close()
	if got := all(t, open(t, dir, small), "", ""); got != want {
		t.Error("the writer sees other entries")
	}
}
