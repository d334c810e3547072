package vault

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"odarchive/triplestore/bucket"
	"odarchive/triplestore/bucket/buckettest"
	"odarchive/triplestore/wal"
)

// The writer puts an object each time the candidate has read the tail, and so is always there before its fence.
func TestAWriterThatPutsFasterThanACandidateReadsIsReplaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, memory: new(buckettest.Memory)}
		w.beginWhole()
		me := Candidate{Holder: "a", Lease: 9 * time.Second, Force: true,
			check: byEnd(func(end wal.Position) (bool, wal.Position, error) { return false, end, nil })}
		busy, err := Take(t.Context(), w.memory, me)
		if err != nil {
			t.Fatal(err)
		}
		var acked uint64
		slow := buckettest.NewFaulty(w.memory, 1)
		renewed := time.Now()
		slow.Hook(func(op, key string) error {
			if op != "list" || key != logDir { // the tail is read
				return nil
			}
			time.Sleep(time.Second)
			if time.Since(renewed) >= 3*time.Second {
				renewed = time.Now()
				if err := busy.renew(t.Context()); err != nil && !errors.Is(err, errContested) && !errors.Is(err, ErrFenced) {
					t.Error(err)
				}
			}
			at := busy.At()
			if _, err := busy.append(t.Context(),
				[]entry{{Record: wal.Record{Number: at.Number + 1, Sum: uint32(at.Number)}, at: milliOf(time.Now())}}); err == nil {
				acked = at.Number + 1
			}
			return nil
		})
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		me.Holder = "b"
		next, err := Take(ctx, slow, me)
		if err != nil {
			t.Fatalf("after %v: %v", acked, err)
		}
		if next.At().Number != acked || next.IsNew() {
			t.Errorf("%d were acknowledged, and it goes on after %d, anew %v: %s", acked, next.At().Number, next.IsNew(), next.why)
		}
	})
}

// hazy is a bucket whose lists miss an object that is there, as those of a file system may that is read while it is
// written: each such object once.
type hazy struct {
	bucket.Bucket
	left *[]string
}

func (b hazy) List(ctx context.Context, prefix, after string) iter.Seq2[bucket.Info, error] {
	return func(yield func(bucket.Info, error) bool) {
		missed := ""
		if left := *b.left; prefix == tailDir && len(left) > 0 {
			missed, *b.left = left[0], left[1:]
		}
		for info, err := range b.Bucket.List(ctx, prefix, after) {
			if err == nil && info.Key == missed {
				continue
			}
			if !yield(info, err) {
				return
			}
		}
	}
}

func TestWhatAListMissesIsNotTakenForAGap(t *testing.T) {
	t.Parallel()
	b := new(buckettest.Memory)
	a := open4(t, filepath.Join(t.TempDir(), "data"))
	if err := a.keep(b, Options{Wait: true}); err != nil {
		t.Fatal(err)
	}
	a.waitWhole()
	replica := filepath.Join(t.TempDir(), "replica")
	a.replicate(replica)
	for n := range 6 {
		a.mustPut(n)
	}
	a.close()
	var tail []string
	for _, key := range b.Keys() {
		if strings.HasPrefix(key, tailDir) {
			tail = append(tail, key)
		}
	}
	// Each list misses another object of the middle, until all were missed once.
	haze := func() hazy {
		left := tail[1 : len(tail)-1]
		return hazy{b, &left}
	}
	if _, err := Promote(t.Context(), haze(), replica, Candidate{Holder: "b", Lease: time.Second},
		PromoteOptions{Log: testLog(t)}); err != nil {
		t.Fatal(err)
	}
	w := open4(t, replica)
	if err := w.keep(haze(), Options{Holder: "b", Wait: true}); err != nil {
		t.Fatal(err)
	}
	if err := w.keeper.retain(t.Context()); err != nil {
		t.Error(err)
	}
	w.close()
	h, err := Open(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range h.fences[1:] {
		if f.New {
			t.Errorf("epoch %d begins anew", f.Epoch)
		}
	}
}
