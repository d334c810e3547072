package vault

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/triplestore/bucket/buckettest"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/wal"
)

// empty deletes the objects that a function names.
func empty(b *buckettest.Memory, which func(key string) bool) {
	for _, key := range b.Keys() {
		if which(key) {
			_ = b.Delete(context.Background(), key)
		}
	}
}

// fill puts all objects of another bucket into one, last those that make it a vault.
func fill(t *testing.T, b, from *buckettest.Memory) {
	t.Helper()
	isLast := func(key string) int { return cmp.Compare(strings.Index(key, "/"), 0) } // -1 for one without a folder
	for _, key := range slices.SortedStableFunc(slices.Values(from.Keys()),
		func(a, b string) int { return cmp.Compare(isLast(b), isLast(a)) }) {
		data, _, err := buckettest.Read(t.Context(), from, key, 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		put(t, b, key, string(data))
	}
}

// acknowledged commits, and reports whether that was acknowledged within a time.
func (a *archive) acknowledged(n int, within time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	err := a.db.Update(ctx, func(tx *kv.Txn) error { return tx.Set(kv.SpaceTest, keyOf(n), nil) })
	return err == nil
}

// Somebody empties the bucket under a running writer, or its file system is not mounted any more: nothing is
// acknowledged that is put into the void, and the Keeper says so. When the backup comes back, it has everything again.
func TestNothingIsAcknowledgedIntoAnEmptiedBackup(t *testing.T) {
	t.Parallel()
	b := new(buckettest.Memory)
	a := open4(t, filepath.Join(t.TempDir(), "data"))
	for n := range 5 {
		a.mustPut(n)
	}
	if err := a.keep(b, Options{Wait: true, Lease: 300 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	a.waitWhole()
	before := copyOf(t, b)
	empty(b, func(string) bool { return true })
	if a.acknowledged(1000, 500*time.Millisecond) {
		t.Error("it was acknowledged, and there is no backup")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, _ = a.store.Put(ctx, strings.NewReader("bytes that are copied into the void"), noOptions)
	for deadline := time.Now().Add(20 * time.Second); !a.keeper.State().Lost; {
		if time.Now().After(deadline) {
			t.Fatalf("nobody says so: %+v", a.keeper.State())
		}
		time.Sleep(10 * time.Millisecond)
	}
	if s := a.keeper.State(); s.Whole || !strings.Contains(s.Error, "--detach") {
		t.Errorf("%+v", s)
	}
	fill(t, b, before)
	a.mustPut(5)
	a.waitWhole()
	if s := a.keeper.State(); s.Lost {
		t.Errorf("%+v", s)
	}
	m := a.remember(6)
	a.close()
	restored(t, b, m)
	if faults, err := verify(t, b); err != nil || len(faults) > 0 {
		t.Errorf("verify: %v, %v", faults, err)
	}
}

// The object store comes back as it was a while ago, or lacks some objects in between: later moments can be restored.
func TestABackupThatWasRolledBackIsFilledAgain(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(b, early *buckettest.Memory, t *testing.T){
		"rolled back": func(b, early *buckettest.Memory, t *testing.T) {
			empty(b, func(string) bool { return true })
			fill(t, b, early)
		},
		"a gap": func(b, early *buckettest.Memory, t *testing.T) {
			there := map[string]bool{}
			for _, key := range early.Keys() {
				there[key] = true
			}
			var late []string
			for _, key := range b.Keys() {
				if strings.HasPrefix(key, tailDir) && !there[key] {
					late = append(late, key)
				}
			}
			for _, key := range late[:len(late)-1] {
				_ = b.Delete(context.Background(), key)
			}
		},
		"no state file": func(b, _ *buckettest.Memory, _ *testing.T) {
			empty(b, func(key string) bool { return strings.HasPrefix(key, snapshotsDir) })
		},
		"no fence": func(b, _ *buckettest.Memory, t *testing.T) {
			h, err := Open(t.Context(), b)
			if err != nil {
				t.Fatal(err)
			}
			f, _ := h.newest()
			_ = b.Delete(t.Context(), tailKey(f.seq))
		},
		"no description": func(b, _ *buckettest.Memory, _ *testing.T) {
			empty(b, func(key string) bool { return key == archiveKey })
		},
	} {
		for _, running := range []bool{false, true} {
			if running && name == "a gap" { // found within an hour
				continue
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				b := new(buckettest.Memory)
				a := begun(t, b, Options{Wait: true})
				early := copyOf(t, b)
				for n := 1; n < 5; n++ {
					a.mustPut(n)
				}
				if running {
					lose(b, early, t)
					if err := a.keeper.isThere(t.Context()); !errors.Is(err, errAgain) {
						t.Fatalf("the Keeper looks: %v", err)
					}
					if name != "rolled back" { // that is seen by the next commit
						a.end()
					}
				} else {
					a.end()
					lose(b, early, t)
				}
				if a.stop == nil {
					if err := a.keep(b, Options{Wait: true}); err != nil {
						t.Fatal(err)
					}
				}
				a.mustPut(5)
				a.waitWhole()
				m := a.remember(6)
				a.close()
				restored(t, b, m)
			})
		}
	}
}

func TestAGapIsFoundWhileTheWriterRuns(t *testing.T) {
	t.Parallel()
	b := new(buckettest.Memory)
	a := begun(t, b, Options{})
	for n := 1; n < 5; n++ {
		a.mustPut(n)
		a.waitWhole()
	}
	var tail []string
	for _, key := range b.Keys() {
		if strings.HasPrefix(key, tailDir) {
			tail = append(tail, key)
		}
	}
	_ = b.Delete(t.Context(), tail[len(tail)-2])
	if err := a.keeper.retain(t.Context()); !errors.Is(err, errAgain) {
		t.Errorf("it is found: %v", err)
	}
	a.end()
	if err := a.keep(b, Options{}); err != nil {
		t.Fatal(err)
	}
	a.mustPut(5)
	a.waitWhole()
	m := a.remember(6)
	a.close()
	restored(t, b, m)
}

// The object store comes back as it was before another directory became the writer. That one, which runs, takes the
// backup back; one that starts only when the former writer has begun again leaves it to people, and both keep what they
// have.
func TestABackupOfBeforeAPromotionIsNotBelieved(t *testing.T) {
	t.Parallel()
	for _, runs := range []bool{true, false} {
		b := new(buckettest.Memory)
		a := begun(t, b, Options{Holder: "a", Wait: true, Lease: 300 * time.Millisecond})
		early, dir := copyOf(t, b), filepath.Join(t.TempDir(), "replica")
		a.replicate(dir)
		a.close()
		p, err := Promote(t.Context(), b, dir, Candidate{Holder: "f", Lease: time.Second}, PromoteOptions{Log: testLog(t)})
		if err != nil {
			t.Fatal(err)
		}
		f := open4(t, dir)
		if err := f.keep(b, Options{Holder: "f", Wait: true, Lease: 300 * time.Millisecond}); err != nil {
			t.Fatal(err)
		}
		f.waitWhole()
		f.mustPut(1)
		epoch := f.keeper.State().Epoch
		if epoch <= p.Epoch {
			t.Errorf("epoch %d after %d", epoch, p.Epoch)
		}
		if !runs {
			f.end()
		}
		empty(b, func(string) bool { return true })
		fill(t, b, early)
		if runs {
			for ; Ask(t.Context(), b, "f", epoch).Who != ThisOne; time.Sleep(10 * time.Millisecond) { // it is idle
			}
			f.waitWhole()
			f.mustPut(2)
			if is := Ask(t.Context(), b, "a", 1); is.Who != AnotherOne {
				t.Errorf("the former writer: %+v", is)
			}
			m := f.remember(3)
			f.close()
			restored(t, b, m)
			continue
		}
		for now := uint64(1); now < epoch; now++ { // the former one starts, several times
			if is := Ask(t.Context(), b, "f", epoch); is.Who != NobodyKnows || !errors.Is(is.Err, ErrUnknownWriter) {
				t.Errorf("epoch %d: %+v", now, is)
			}
			if _, err := Take(t.Context(), b,
				Candidate{Holder: "a",
					check: byEnd(func(end wal.Position) (bool, wal.Position, error) { return false, end, nil })}); err != nil {
				t.Fatal(err)
			}
		}
		for range 3 { // in the same epoch, and in later ones
			if is := Ask(t.Context(), b, "f", epoch); is.Who != NobodyKnows || is.Epoch < epoch {
				t.Errorf("%+v", is)
			}
			if _, err := Take(t.Context(), b,
				Candidate{Holder: "a",
					check: byEnd(func(end wal.Position) (bool, wal.Position, error) { return false, end, nil })}); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.keep(b, Options{Holder: "f", Begun: true, Epoch: epoch}); !errors.Is(err, ErrUnknownWriter) {
			t.Errorf("it starts: %v", err)
		}
	}
}
