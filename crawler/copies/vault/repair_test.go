package vault

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"odarchive/triplestore/bucket"
	"odarchive/triplestore/bucket/buckettest"
	"odarchive/triplestore/wal"
)

func TestACopyWaitsAlsoIfNothingSaysWhoWrites(t *testing.T) {
	t.Parallel()
	for how, harm := range map[string]func(b *buckettest.Memory){
		"missing": func(b *buckettest.Memory) { _ = b.Delete(ctxOf(), writerKey) },
		"damaged": func(b *buckettest.Memory) {
			b.Change(writerKey, func(raw []byte) []byte { return append([]byte("x"), raw...) })
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := new(buckettest.Memory)
			me := Candidate{Holder: "same", Lease: 15 * time.Second, check: byEnd(func(end wal.Position) (bool, wal.Position, error) {
				return end == wal.Position{}, wal.Position{Log: [16]byte{1}}, nil
			})}
			a, err := Take(t.Context(), b, me)
			if err != nil {
				t.Fatal(err)
			}
			harm(b)
			quit, ended := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(ended)
				for {
					select {
					case <-time.After(5 * time.Second):
						if err := a.renew(t.Context()); err != nil {
							t.Errorf("%s: the living writer: %v", how, err)
						}
					case <-quit:
						return
					}
				}
			}()
			if _, err := Take(t.Context(), b, me); !errors.Is(err, ErrInUse) {
				t.Errorf("%s: a copy: %v", how, err)
			}
			other := me
			other.Holder = "other"
			if _, err := Take(t.Context(), b, other); !errors.Is(err, ErrNotOwner) {
				t.Errorf("%s: another directory: %v", how, err)
			}
			close(quit)
			<-ended
			harm(b)
			if _, err := Take(t.Context(), b, me); err != nil {
				t.Errorf("%s: the writer has ended: %v", how, err)
			}
			if err := a.renew(t.Context()); !errors.Is(err, ErrFenced) {
				t.Errorf("%s: the old writer renews: %v", how, err)
			}
		})
	}
}

// The writer renews its lease each time while another process reads the tail, which takes a long time.
func TestAPromotionReplacesAWriterThatLives(t *testing.T) {
	t.Parallel()
	memory := new(buckettest.Memory)
	me := Candidate{Holder: "a", Lease: 15 * time.Second, check: byEnd(func(end wal.Position) (bool, wal.Position, error) {
		return end == wal.Position{}, wal.Position{Log: [16]byte{1}}, nil
	})}
	a, err := Take(t.Context(), memory, me)
	if err != nil {
		t.Fatal(err)
	}
	b := buckettest.NewFaulty(memory, 1)
	b.Hook(func(op, key string) error {
		if op == "get" && key == tailKey(1) && a.Fenced() == nil {
			if err := a.renew(t.Context()); err != nil && !errors.Is(err, errContested) {
				t.Error(err)
			}
		}
		return nil
	})
	other := me
	other.Holder, other.Force = "b", true
	c, err := Take(t.Context(), b, other)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.renew(t.Context()); !errors.Is(err, ErrFenced) {
		t.Errorf("the old writer renews: %v", err)
	}
	if a.Fenced() == nil || c.Fenced() != nil || c.renew(t.Context()) != nil {
		t.Errorf("the old writer: %v, the new one: %v", a.Fenced(), c.Fenced())
	}
}

// The object store goes away while a copy of a directory waits to see whether the other one is used.
func TestACopyWritesNothingUntilItIsKnownWhetherTheOtherLives(t *testing.T) {
	t.Parallel()
	memory := new(buckettest.Memory)
	a := open4(t, filepath.Join(t.TempDir(), "data"))
	a.mustPut(0)
	if err := a.keep(memory, Options{Holder: "same", Lease: 600 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	a.waitWhole()
	dir := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(dir, os.DirFS(a.dir)); err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(filepath.Join(dir, "LOCK"))
	c := open4(t, dir)
	b := buckettest.NewFaulty(memory, 1)
	c.keeper = New(b, Source{DB: c.db, Content: c.store, Dir: dir}, c.gate,
		Options{Holder: "same", Lease: 600 * time.Millisecond, Log: testLog(t)})
	c.keeper.patience = 100 * time.Millisecond
	looked := 0
	b.Hook(func(op, key string) error {
		if op == "get" && key == writerKey {
			if looked++; looked > 2 && looked < 30 {
				return bucket.ErrUnavailable
			}
		}
		return nil
	})
	if err := c.keeper.Begin(t.Context()); !errors.Is(err, ErrInUse) {
		t.Errorf("the copy begins: %v", err)
	}
	if err := a.put(1); err != nil {
		t.Error(err)
	}
	a.waitWhole()
}

func TestADamagedTailIsRepairedByTheWriter(t *testing.T) {
	t.Parallel()
	for _, restart := range []bool{true, false} {
		b := new(buckettest.Memory)
		a := open4(t, filepath.Join(t.TempDir(), "data"))
		if err := a.keep(b, Options{}); err != nil {
			t.Fatal(err)
		}
		a.waitWhole()
		n := 0
		for range 6 {
			a.mustPut(n)
			a.waitWhole()
			n++
		}
		if restart {
			a.end()
		}
		h, err := Open(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		b.Change(tailKey(h.next-2), func(raw []byte) []byte { raw[len(raw)/2] ^= 4; return raw })
		if faults, err := verify(t, b); err != nil || len(faults) == 0 {
			t.Errorf("a damaged object is not named: %v, %v", faults, err)
		}
		if restart {
			if err := a.keep(b, Options{}); err != nil {
				t.Fatal(err)
			}
		} else if err := a.keeper.retain(t.Context()); !errors.Is(err, errAgain) {
			t.Errorf("pruning: %v", err)
		} else {
			a.end() // maintain does that by itself, after ten seconds
			if err := a.keep(b, Options{}); err != nil {
				t.Fatal(err)
			}
		}
		a.waitWhole()
		a.mustPut(n)
		n++
		a.waitWhole()
		if s := a.keeper.State(); s.Epoch > 3 {
			t.Errorf("the repair took more than one new history: %+v", s)
		}
		m := a.remember(n)
		a.end()
		if err := a.keeper.setAside(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := a.keeper.retain(t.Context()); err != nil {
			t.Errorf("pruning: %v", err)
		}
		restored(t, b, m)
		if h, err = Open(t.Context(), b); err != nil || len(h.damaged) > 0 {
			t.Errorf("damaged: %v, %v", h.damaged, err)
		}
		aside := 0
		for _, key := range b.Keys() {
			if strings.HasPrefix(key, damagedDir+tailDir) {
				aside++
			}
		}
		if aside != 1 {
			t.Errorf("%d objects were set aside", aside)
		}
		a.close()
	}
}
