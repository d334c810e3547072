package triplestore

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"odarchive/triplestore/disk/disktest"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// waiting is a context that signals when someone begins to wait for its end.
type waiting struct {
	context.Context
	once  sync.Once
	waits chan struct{}
}

func (w *waiting) Done() <-chan struct{} {
	w.once.Do(func() { close(w.waits) })
	return w.Context.Done()
}

// large inserts so many quads with new terms that they are written directly into blocks.
func large(s *Store, kt *kv.Txn, name string) error {
	t := s.newTxn(context.Background(), kt)
	defer t.end()
	for i := range 200 {
		if err := t.Insert(quad(name, i)); err != nil {
			return err
		}
	}
	return t.commit()
}

func quad(name string, i int) term.Quad {
	return term.Quad{S: term.IRI(fmt.Sprintf("http://e/%s/%d", name, i)), P: term.IRI("http://e/p"), O: term.String(name)}
}

// small leaves quads in the overlay, so that a merge has something to do.
func small(t *testing.T, s *Store, name string) {
	t.Helper()
	err := s.Update(t.Context(), func(tx *Txn) error { return errors.Join(tx.Insert(quad(name, 1)), tx.Insert(quad(name, 2))) })
	if err != nil {
		t.Fatal(err)
	}
}

// onBadDisk returns a store that merges only on request, on a disk whose operations can fail.
func onBadDisk(t *testing.T) (*Store, *disktest.Errors) {
	t.Helper()
	fsys := disktest.NewErrors(disktest.NewCrash(1))
	if err := fsys.MkdirAll("data", 0o755); err != nil {
		t.Fatal(err)
	}
	db, err := kv.Open("data", kv.Options{CacheInMemory: true, FS: fsys, MinFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	s, err := Open(db, Options{MergeAt: 200})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, fsys
}

func sound(t *testing.T, s *Store, quads uint64) {
	t.Helper()
	c, err := s.Check(t.Context())
	if err != nil || c.Quads != quads {
		t.Errorf("check: %+v, %v; want %d quads", c, err, quads)
	}
}

// lists counts the lists of obsolete keys, and all keys besides the root.
func lists(t *testing.T, s *Store) (n int) {
	snap := s.db.Snapshot()
	defer snap.Close()
	err := snap.Scan(kv.SpaceTripleMeta, nil, nil, func(_, _ []byte) (bool, error) { n++; return true, nil })
	if err != nil {
		t.Error(err)
	}
	return n
}

// Regression: a merge waits for its commit while it holds merging. When a large commit, which waits for merging, joined
// that commit, both waited forever.
func TestALargeCommitThatComesRightBehindAMergeDoesNotWaitForItself(t *testing.T) {
	t.Parallel()
	s, _ := onBadDisk(t)
	ctx := &waiting{Context: context.Background(), waits: make(chan struct{})}
	done := make(chan error, 2)
	go func() {
		mctx, end, err := s.beginMerge(context.Background())
		defer end()
		if err == nil {
			err = s.db.Update(mctx, func(kt *kv.Txn) error {
				go func() {
					done <- s.db.Update(ctx, func(kt *kv.Txn) error { return large(s, kt, "large") })
				}()
				<-ctx.waits // for the turn
				next := *s.getTip()
				return s.install(kt, &next)
			})
		}
		done <- err
	}()
	for range 2 {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
		case <-time.After(20 * time.Second):
			panic("the merge and the large commit wait for each other") // closing would wait, too
		}
	}
	sound(t, s, 200)
}

// Regression: a large commit releases merging before it is on disk. A merge that began then overwrote its blocks, or
// deleted them when it gave up.
func TestAMergeGivesUpWhileALargeCommitIsOnItsWayToTheDisk(t *testing.T) {
	t.Parallel()
	s, _ := onBadDisk(t)
	small(t, s, "small")
	var merged error
	err := s.Update(t.Context(), func(tx *Txn) error {
		tx.KV().OnCommit(func() { // on disk, but readers do not see it yet
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
			defer cancel()
			merged = s.merge(ctx)
		})
		for i := range 200 {
			if err := tx.Insert(quad("large", i)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !errors.Is(merged, errGiveUp) {
		t.Errorf("merge: %v", merged)
	}
	sound(t, s, 202)
	if err := s.Merge(t.Context()); err != nil {
		t.Errorf("merge afterwards: %v", err)
	}
	sound(t, s, 202)
}

// Regression: a large commit that the disk had no room for deletes its blocks. A merge that had begun meanwhile had
// written the same long terms, which were deleted with them.
func TestALargeCommitThatFailsDoesNotDeleteWhatAMergeHasWritten(t *testing.T) {
	t.Parallel()
	s, disk := onBadDisk(t)
	small(t, s, "small")
	if err := s.Merge(t.Context()); err != nil {
		t.Fatal(err)
	}
	small(t, s, strings.Repeat("more", 1000)) // the keys of long terms are their numbers
	merged := make(chan error, 1)
	err := s.db.Update(t.Context(), func(kt *kv.Txn) error {
		if err := large(s, kt, "large"); err != nil {
			return err
		}
		kt.OnAbort(func(error) {
			disk.Reset()
			s.dropTip()
			before := lists(t, s)
			go func() { merged <- s.merge(context.Background()) }()
			for lists(t, s) == before { // the list of obsolete keys is the last thing a commit writes
				runtime.Gosched()
			}
		})
		disk.Only(disktest.Write, "*.log")
		disk.FailFrom(1, syscall.ENOSPC)
		return nil
	})
	if !errors.Is(err, kv.ErrDiskFull) || s.db.WritesStopped() != nil {
		t.Fatalf("the large commit: %v, writes stopped: %v", err, s.db.WritesStopped())
	}
	if err := <-merged; err != nil && !errors.Is(err, errGiveUp) {
		t.Errorf("merge: %v", err)
	}
	sound(t, s, 4)
	if err := s.Merge(t.Context()); err != nil {
		t.Errorf("merge afterwards: %v", err)
	}
	sound(t, s, 4)
}
