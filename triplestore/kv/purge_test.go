package kv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// random returns bytes that no codec shortens, so that they can be found in files.
func random(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// foldersWith returns the folders of a database's directory that have a file with some bytes.
func foldersWith(t *testing.T, dir string, part []byte) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		if bytes.Contains(b, part) {
			rel, _ := filepath.Rel(dir, name)
			found[strings.Split(filepath.ToSlash(rel), "/")[0]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestNoFileHasWhatWasDeletedBeforeAPurge(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := open(t, dir, Options{MemTable: 1 << 20})
	secret, kept := random(1, 3000), random(2, 3000)
	put(t, db, "secret", string(secret))
	put(t, db, "overwritten", string(random(3, 3000)))
	put(t, db, "kept", string(kept))
	for i := range 200 {
		put(t, db, fmt.Sprintf("k%03d", i), string(random(uint64(10+i), 3000)))
	}
	if err := db.saveState(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	put(t, db, "later", "1")
	put(t, db, "overwritten", "2")
	err := db.Update(t.Context(), func(tx *Txn) error { return tx.Delete(space, []byte("secret")) })
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(db.path(filepath.Join(logDir, "1.log.damaged")), secret, 0o600); err != nil {
		t.Fatal(err)
	}
	if found := foldersWith(t, dir, secret[100:140]); len(found) != 3 {
		t.Fatalf("before, there are bytes in %v only", found)
	}
	want := all(t, db, "", "")
	if err := db.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, gone := range [][]byte{secret[100:140], random(3, 3000)[100:140]} {
		if found := foldersWith(t, dir, gone); len(found) != 0 {
			t.Errorf("there are bytes in %v", found)
		}
	}
	if len(foldersWith(t, dir, kept[100:140])) == 0 {
		t.Error("what was not deleted is nowhere")
	}
	if got := all(t, db, "", ""); got != want {
		t.Error("the content has changed")
	}
	put(t, db, "after", "1")
	want = all(t, db, "", "")
	for range 2 {
		if found, err := db.VerifyAll(t.Context(), nil); err != nil || len(found) > 0 {
			t.Errorf("%v, %v", found, err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if made, err := filepath.Glob(filepath.Join(dir, madeDir+"*")); err != nil || len(made) > 0 {
			t.Errorf("closed, it leaves %q, %v: who only reads finds no tables", made, err)
		}
		db = open(t, dir, Options{})
		if got := all(t, db, "", ""); got != want {
			t.Error("the content has changed")
		}
	}
	if found := foldersWith(t, dir, secret[100:140]); len(found) != 0 {
		t.Errorf("after opening again, there are bytes in %v", found)
	}
}

func TestAPurgeWaitsForReadersAndKeepsWhatTheyRead(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir(), Options{})
	put(t, db, "a", "1")
	s := db.Snapshot()
	defer s.Close()
	if err := db.Update(t.Context(), func(tx *Txn) error { return tx.Delete(space, []byte("a")) }); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := db.Purge(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Purge did not wait: %v", err)
	}
	if val, ok, err := s.Get(space, []byte("a")); string(val) != "1" || !ok || err != nil {
		t.Errorf("%q, %v, %v", val, ok, err)
	}
	s.Close()
	if err := db.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := all(t, db, "", ""); got != "" {
		t.Error(got)
	}
}

func TestWritersAndReadersGoOnAroundPurges(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir(), Options{MemTable: 1 << 20})
	ctx, stop := context.WithCancel(t.Context())
	var workers sync.WaitGroup
	written := make([]int, 4)
	for w := range written {
		workers.Go(func() {
			for ctx.Err() == nil {
				n := written[w]
				err := db.Update(context.Background(), func(tx *Txn) error {
					return tx.Set(space, fmt.Appendf(nil, "%d-%06d", w, n), random(uint64(n), 300))
				})
				if err != nil {
					t.Error(err)
					return
				}
				if written[w]++; n%8 == 0 {
					_ = all(t, db, fmt.Sprintf("%d-", w), "")
				}
			}
		})
	}
	for range 4 {
		if err := db.Purge(t.Context()); err != nil {
			t.Error(err)
		}
	}
	stop()
	workers.Wait()
	for w, n := range written {
		for i := range n {
			err := db.View(func(tx *Txn) error {
				val, ok, err := tx.Get(space, fmt.Appendf(nil, "%d-%06d", w, i))
				if err == nil && (!ok || !bytes.Equal(val, random(uint64(i), 300))) {
					err = fmt.Errorf("entry %d of writer %d is lost", i, w)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}
