package vault

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"odarchive/triplestore/bucket"
	"odarchive/triplestore/bucket/buckettest"
	"odarchive/triplestore/kv"
)

func TestAnObjectStoreThatFailsLeavesNoGap(t *testing.T) {
	t.Parallel()
	for seed := range uint64(1) {
		memory := new(buckettest.Memory)
		a := open4(t, filepath.Join(t.TempDir(), "data"))
		a.mustPut(0)
		if err := a.keep(memory, Options{}); err != nil {
			t.Fatal(err)
		}
		a.waitWhole()
		a.end()
		r := rand.New(rand.NewPCG(seed, 0))
		var moments []moment
		n := 1
		for range 4 { // each round is a process; the last one is killed
			b := buckettest.NewFaulty(memory, seed)
			b.Break(buckettest.Faults{Fail: 0.05, Lose: 0.05, Cut: 0.05, Stall: 0.02, For: 50 * time.Millisecond})
			for { // a start may fail; an operator starts again
				err := a.keep(b, Options{Lease: 50 * time.Millisecond})
				if err == nil {
					break
				}
				if errors.Is(err, ErrNotOwner) || errors.Is(err, ErrBehind) {
					t.Fatal(err)
				}
			}
			for end := n + 15; n < end; n++ {
				a.mustPut(n)
				if r.IntN(4) == 0 {
					moments = append(moments, a.remember(n+1))
				}
				if r.IntN(8) == 0 {
					b.Away(r.IntN(2) == 0)
				}
			}
			b.Away(true)
			a.end()
			a.close()
			a = open4(t, a.dir)
		}
		if err := a.keep(memory, Options{}); err != nil {
			t.Fatal(err)
		}
		a.waitWhole()
		a.end()
		restored(t, memory, moment{time.Now(), dump(t, a.db), n})
		for _, m := range moments {
			if r.IntN(3) == 0 {
				m.content, m.files = "", -1 // a kill leaves the times of the last commits uncertain
				restored(t, memory, m)
			}
		}
	}
}

func TestACommitThatWaitsIsInTheVaultWhenItReturns(t *testing.T) {
	t.Parallel()
	memory := new(buckettest.Memory)
	b := buckettest.NewFaulty(memory, 1)
	a := open4(t, filepath.Join(t.TempDir(), "data"))
	if err := a.keep(b, Options{Wait: true}); err != nil {
		t.Fatal(err)
	}
	a.waitWhole()
	b.Break(buckettest.Faults{Fail: 0.05, Lose: 0.05, Cut: 0.05})
	acked := 0
	for ; acked < 25; acked++ {
		a.mustPut(acked)
	}
	b.Away(true)
	late := make(chan error, 1)
	go func() { late <- a.put(acked) }()
	time.Sleep(30 * time.Millisecond)
	select {
	case err := <-late:
		t.Fatalf("a commit was acknowledged that the object store does not have: %v", err)
	default:
	}
	restored(t, memory, moment{time.Now(), "", acked}) // the machine is lost
	b.Away(false)
	if err := <-late; err != nil {
		t.Fatal(err)
	}
	restored(t, memory, moment{time.Now(), "", acked + 1})
}

func TestWritersShareOneObject(t *testing.T) {
	t.Parallel()
	memory := new(buckettest.Memory)
	b := buckettest.NewFaulty(memory, 1)
	a := open4(t, filepath.Join(t.TempDir(), "data"))
	if err := a.keep(b, Options{Wait: true}); err != nil {
		t.Fatal(err)
	}
	a.waitWhole()
	b.Hook(func(op, key string) error {
		if op == "put" && strings.HasPrefix(key, tailDir) {
			time.Sleep(5 * time.Millisecond)
		}
		return nil
	})
	before := b.Count().Puts
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() {
			for k := range 10 {
				if err := a.note(i*10 + k); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if n := b.Count().Puts - before; n > 80 {
		t.Errorf("160 commits took %d objects", n)
	}
}

func TestWhatIsOlderThanItMustBeGoes(t *testing.T) {
	t.Parallel()
	b := new(buckettest.Memory)
	a := open4(t, filepath.Join(t.TempDir(), "data"))
	var moments []moment
	for n := range 90 {
		a.mustPut(n)
		if n%30 == 29 {
			moments = append(moments, a.remember(n+1))
			a.tidy(b, time.Time{})
		}
	}
	for _, m := range moments[1:] {
		restored(t, b, m)
	}
	a.tidy(b, moments[2].at)
	h, err := Open(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.At(t.Context(), moments[1].at); !errors.Is(err, ErrNoMoment) {
		t.Errorf("a moment that is too old: %v", err)
	}
	if list := h.Moments(); len(list) != 1 {
		t.Errorf("there is %+v", list)
	}
	restored(t, b, moments[2])
}

// tidy runs a Keeper that makes a state file, and deletes what no moment from a time on needs.
func (a *archive) tidy(b bucket.Bucket, before time.Time) {
	a.t.Helper()
	if err := a.keep(b, Options{Lease: 300 * time.Millisecond}); err != nil {
		a.t.Fatal(err)
	}
	a.waitWhole()
	ctx := a.t.Context()
	if err := a.db.Purge(ctx); err != nil { // it makes a state file
		a.t.Fatal(err)
	}
	a.waitWhole()
	a.end()
	err := a.keeper.snapshot(ctx, true)
	if err == nil {
		err = a.keeper.prune(ctx, before, false)
	}
	if err != nil {
		a.t.Fatal(err)
	}
}

func TestWhatIsWithdrawnLeavesTheVault(t *testing.T) {
	t.Parallel()
	b := new(buckettest.Memory)
	a := open4(t, filepath.Join(t.TempDir(), "data"))
	for n := range 30 {
		a.mustPut(n)
	}
	if err := a.keep(b, Options{}); err != nil {
		t.Fatal(err)
	}
	a.waitWhole()
	secret := []byte("the secret of a person")
	ref, err := a.store.Put(t.Context(), bytesOf(secret), noOptions)
	if err == nil {
		err = a.db.Update(t.Context(), func(tx *kv.Txn) error { return tx.Set(kv.SpaceTest, []byte("who"), secret) })
	}
	if err != nil {
		t.Fatal(err)
	}
	before := a.remember(-1)
	for n := 30; n < 60; n++ {
		a.mustPut(n)
	}
	a.waitWhole()
	if n := has(b, secret); n == 0 {
		t.Fatal("the secret was not copied")
	}
	// The archive withdraws it.
	if err := a.db.Update(t.Context(), func(tx *kv.Txn) error { return tx.Delete(kv.SpaceTest, []byte("who")) }); err != nil {
		t.Fatal(err)
	}
	if _, err := a.store.Purge(t.Context(), digests(ref.SHA256), nil); err != nil {
		t.Fatal(err)
	}
	if err := a.db.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.withdrawn.Store(true)
	a.keeper.Forget()
	for range 1000 {
		if !a.withdrawn.Load() {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if a.withdrawn.Load() {
		t.Fatalf("not forgotten: %+v", a.keeper.State())
	}
	if n := has(b, secret); n > 0 {
		t.Errorf("%d objects have the secret", n)
	}
	h, err := Open(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.At(t.Context(), before.at); !errors.Is(err, ErrNoMoment) {
		t.Errorf("a moment before: %v", err)
	}
	a.mustPut(60)
	m := a.remember(61)
	a.end()
	restored(t, b, m)
}

// has returns how many objects contain a text, in plain or deflated as one segment.
func has(b *buckettest.Memory, text []byte) (n int) {
	for _, key := range b.Keys() {
		raw, _, err := buckettest.Read(ctxOf(), b, key, 0, -1)
		if err == nil && containsText(raw, text) {
			n++
		}
	}
	return n
}

func TestDamageIsFoundBeforeAnythingIsRestored(t *testing.T) {
	t.Parallel()
	b := new(buckettest.Memory)
	a := begun(t, b, Options{})
	for n := 1; n < 15; n++ {
		a.mustPut(n)
		time.Sleep(time.Millisecond)
	}
	a.end()
	if faults, err := verify(t, b); err != nil || len(faults) > 0 {
		t.Fatalf("a sound one: %v, %v", faults, err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for _, key := range b.Keys() {
		if strings.HasPrefix(key, filesDir) || key == writerKey || key == archiveKey {
			continue
		}
		raw, _, _ := buckettest.Read(t.Context(), b, key, 0, -1)
		if len(raw) == 0 {
			continue
		}
		at := r.IntN(len(raw))
		b.Change(key, func(raw []byte) []byte { raw[at] ^= 4; return raw })
		faults, err := verify(t, b)
		if err == nil && len(faults) == 0 {
			t.Errorf("byte %d of %s was changed, and nothing is noticed", at, key)
		}
		h, err := Open(t.Context(), b)
		if err == nil && r.IntN(4) == 0 {
			var target Target
			dir := filepath.Join(t.TempDir(), "x")
			if target, err = h.At(t.Context(), time.Time{}); err == nil {
				err = h.Restore(t.Context(), target, dir, nil, nil)
			}
			if _, there := os.Stat(dir); err != nil && there == nil {
				t.Errorf("%s: a directory was made of a damaged backup", key)
			}
		}
		b.Change(key, func(raw []byte) []byte { raw[at] ^= 4; return raw })
	}
}
