package vault

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"odarchive/triplestore/bucket"
	"odarchive/triplestore/bucket/buckettest"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/wal"
)

// world is several processes that want to write the log of one vault, over an object store that stalls and fails.
type world struct {
	t      *testing.T
	memory *buckettest.Memory

	mu    sync.Mutex // guards acked
	acked map[uint64]uint32
}

// process takes the archive again and again, and appends; it acknowledges what Append has returned for. Those with
// numbers below three take it whoever has it; the others have copies of the directories of these, and wait until they
// are silent.
func (w *world) process(ctx context.Context, id int, seed uint64) {
	r := rand.New(rand.NewPCG(seed, uint64(id)))
	b := buckettest.NewFaulty(w.memory, seed+uint64(id))
	pause := func(most time.Duration) { rest(ctx, time.Duration(r.Int64N(int64(most)))) }
	var taking atomic.Bool
	b.Hook(func(op, key string) error { // it is stopped between reading the tail and putting its fence
		if op == "put" && taking.Load() && strings.HasPrefix(key, tailDir) && id%2 == 0 {
			pause(time.Minute)
		}
		return nil
	})
	for ctx.Err() == nil {
		b.Break(buckettest.Faults{Fail: 0.01, Lose: 0.05, Cut: 0.01, Stall: 0.02, For: time.Duration(r.IntN(20)) * time.Second})
		pause(5 * time.Second)
		taking.Store(true)
		me, err := Take(ctx, b,
			Candidate{Holder: Holder(fmt.Sprint(id % 3)), Lease: time.Second, Force: id < 3,
				check: byEnd(func(end wal.Position) (bool, wal.Position, error) {
					return false, end, nil // it has applied what the vault has
				})})
		taking.Store(false)
		if err != nil {
			continue
		}
		m := &merger{b: b, count: 2} // soon, so that places of the tail are free again
		if h, err := Open(ctx, b); err == nil {
			m.begin(h)
		}
		for range r.IntN(30) {
			at := me.At()
			var list []entry
			for i := range 1 + r.IntN(3) {
				list = append(list,
					entry{Record: wal.Record{Number: at.Number + 1 + uint64(i), Sum: r.Uint32(), Body: []byte{byte(id)}},
						at: milliOf(time.Now())})
			}
			if r.IntN(10) == 0 {
				pause(time.Minute) // it is stopped between the commit and the copy
			}
			done := 0
			for try := 0; done < len(list) && try < 20 && err == nil; try++ {
				n, failed := me.append(ctx, list[done:])
				done += n
				if errors.Is(failed, ErrFenced) {
					err = failed
				} else if failed != nil && !errors.Is(failed, bucket.ErrUnavailable) && !errors.Is(failed, errContested) &&
					ctx.Err() == nil {
					w.t.Errorf("append: %v", failed)
				}
				if failed != nil {
					pause(5 * time.Second)
				}
			}
			w.mu.Lock()
			for _, e := range list[:done] {
				if old, twice := w.acked[e.Number]; twice && old != e.Sum {
					w.t.Errorf("seed %d: record %d was acknowledged twice, with different content", seed, e.Number)
				}
				w.acked[e.Number] = e.Sum
			}
			w.mu.Unlock()
			if err != nil || done < len(list) { // fenced, or it dies
				break
			}
			m.note(me.recent()...)
			if r.IntN(2) == 0 {
				_, _ = m.all(ctx, me.Epoch())
			}
			if r.IntN(2) == 0 {
				if me.renew(ctx) == nil && me.Fenced() != nil {
					w.t.Error("a writer that is fenced has renewed its lease")
				}
			}
			pause(2 * time.Second)
		}
	}
}

// TestWhatIsAcknowledgedIsInTheOneHistory lets processes take the archive from one another at random moments.
func TestWhatIsAcknowledgedIsInTheOneHistory(t *testing.T) {
	t.Parallel()
	seeds := 15
	if n, err := strconv.Atoi(os.Getenv("ROUNDS")); err == nil {
		seeds = n
	}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			w := &world{t: t, memory: new(buckettest.Memory), acked: make(map[uint64]uint32)}
			w.beginWhole()
			ctx, stop := context.WithTimeout(t.Context(), time.Hour)
			defer stop()
			var group sync.WaitGroup
			for id := range 5 {
				group.Go(func() { w.process(ctx, id, uint64(seed)*1000) })
			}
			group.Wait()
			w.judge(seed)
		})
	}
}

// beginWhole makes a vault with an empty state file.
func (w *world) beginWhole() {
	me, err := Take(w.t.Context(), w.memory,
		Candidate{Holder: "first", Lease: time.Second, check: byEnd(func(wal.Position) (bool, wal.Position, error) {
			return true, wal.Position{Log: [16]byte{1}}, nil
		})})
	if err != nil {
		w.t.Fatal(err)
	}
	s := snapshot{epoch: me.Epoch(), at: milliOf(time.Now())}
	if err := w.memory.Put(w.t.Context(), s.name(), 0, nothing(), bucket.PutOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

// judge reads the whole history, and compares it with what was acknowledged.
func (w *world) judge(seed int) {
	w.t.Helper()
	h, err := Open(w.t.Context(), w.memory)
	if err != nil {
		w.t.Fatal(err)
	}
	target, err := h.At(w.t.Context(), time.Time{})
	if err != nil {
		w.t.Fatal(err)
	}
	found := make(map[uint64]uint32)
	for e, err := range h.records(w.t.Context(), target) {
		if err != nil {
			w.t.Fatalf("seed %d: %v", seed, err)
		}
		found[e.Number] = e.Sum
	}
	for number, sum := range w.acked {
		if found[number] != sum {
			w.t.Errorf("seed %d: record %d was acknowledged, and the history of %d records has another or none", seed, number, len(found))
		}
	}
	if len(w.acked) < 20 || len(h.fences) < 5 {
		w.t.Errorf("seed %d: too little happened: %d records, %d epochs", seed, len(w.acked), len(h.fences))
	}
}

func TestAWriterThatIsReplacedAcknowledgesNothingMore(t *testing.T) {
	t.Parallel()
	b := new(buckettest.Memory)
	a := open4(t, filepath.Join(t.TempDir(), "data"))
	if err := a.keep(b, Options{Wait: true, URL: "http://a/"}); err != nil {
		t.Fatal(err)
	}
	a.waitWhole()
	n := 0
	for ; n < 30; n++ {
		a.mustPut(n)
	}
	// Another machine restores what the vault has, and becomes the writer while the first one goes on.
	w, err := Take(t.Context(), b,
		Candidate{Holder: "other", URL: "http://b/", Lease: time.Second, Force: true,
			check: byEnd(func(end wal.Position) (bool, wal.Position, error) {
				return false, end, nil
			})})
	if err != nil {
		t.Fatal(err)
	}
	if w.At().Number != a.db.Committed() {
		t.Errorf("the other writer continues after %d, not %d", w.At().Number, a.db.Committed())
	}
	err = a.put(n)
	if !errors.Is(err, ErrFenced) {
		t.Fatalf("a commit after that: %v", err)
	}
	if err := <-a.ended; !errors.Is(err, ErrFenced) {
		t.Errorf("the Keeper ended with %v", err)
	}
	a.stop = nil
	if err := a.note(n); !errors.Is(err, kv.ErrWritesStopped) {
		t.Errorf("a later commit: %v", err)
	}
	if n := a.check(); n < 30 { // it can still be read
		t.Errorf("%d files", n)
	}
	if s := a.keeper.State(); !s.Fenced {
		t.Errorf("%+v", s)
	}
	a.close()
	restored(t, b, moment{time.Now(), "", 30})

	a = open4(t, a.dir)
	if err := a.keep(b, Options{}); !errors.Is(err, ErrNotOwner) {
		t.Errorf("the old writer starts again: %v", err)
	}
}

func TestAnArchiveIsNotCopiedOverAnother(t *testing.T) {
	t.Parallel()
	b := new(buckettest.Memory)
	a := open4(t, filepath.Join(t.TempDir(), "a"))
	a.mustPut(1)
	if err := a.keep(b, Options{}); err != nil {
		t.Fatal(err)
	}
	a.waitWhole()
	a.close()
	c := open4(t, filepath.Join(t.TempDir(), "b"))
	c.mustPut(1)
	if err := c.keep(b, Options{}); !errors.Is(err, ErrNotOwner) {
		t.Errorf("got %v", err)
	}
	other := new(buckettest.Memory)
	if err := other.Put(t.Context(), "photos/1.jpg", 0, nothing(), bucket.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := Take(t.Context(), other, Candidate{}); err == nil {
		t.Error("a bucket with other objects was taken")
	}
}
