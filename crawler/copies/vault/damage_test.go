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

// keptVault returns a vault of an archive that was started twice, with a tail, pieces of an open pack and a small file.
func keptVault(t *testing.T) *buckettest.Memory {
	t.Helper()
	b := new(buckettest.Memory)
	a := open4(t, filepath.Join(t.TempDir(), "data"))
	if err := os.WriteFile(filepath.Join(a.dir, "odarchive.json"), []byte(`{"format":1}`), 0o640); err != nil {
		t.Fatal(err)
	}
	n := 0
	for range 2 {
		if err := a.keep(b, Options{}); err != nil {
			t.Fatal(err)
		}
		a.waitWhole()
		for range 4 {
			a.mustPut(n)
			a.waitWhole()
			n++
		}
		a.end()
	}
	a.close()
	if faults, err := verify(t, b); err != nil || len(faults) > 0 {
		t.Fatalf("a sound vault: %v, %v", faults, err)
	}
	return b
}

func copyOf(t *testing.T, b *buckettest.Memory) *buckettest.Memory {
	t.Helper()
	c := new(buckettest.Memory)
	for _, key := range b.Keys() {
		raw, _, err := buckettest.Read(t.Context(), b, key, 0, -1)
		if err == nil {
			err = c.Put(t.Context(), key, int64(len(raw)), strings.NewReader(string(raw)), bucket.PutOptions{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func TestVerifyNamesWhateverARestoreMisses(t *testing.T) {
	t.Parallel()
	sound := keptVault(t)
	ways := map[string]func(b *buckettest.Memory, key string){
		"missing": func(b *buckettest.Memory, key string) { _ = b.Delete(ctxOf(), key) },
		"short": func(b *buckettest.Memory, key string) {
			b.Change(key, func(raw []byte) []byte { return raw[:len(raw)*2/3] })
		},
		"empty": func(b *buckettest.Memory, key string) { b.Change(key, func([]byte) []byte { return nil }) },
		"changed": func(b *buckettest.Memory, key string) {
			b.Change(key, func(raw []byte) []byte { c := append([]byte(nil), raw...); c[len(c)/2] ^= 4; return c })
		},
	}
	for _, key := range sound.Keys() {
		for how, damage := range ways {
			raw, _, _ := buckettest.Read(t.Context(), sound, key, 0, -1)
			if len(raw) == 0 && how != "missing" {
				continue
			}
			if strings.HasPrefix(key, filesDir) && how == "missing" {
				continue // each start of a writer has made a copy, and a restore needs one
			}
			b := copyOf(t, sound)
			damage(b, key)
			if faults, err := verify(t, b); err == nil && len(faults) == 0 {
				t.Errorf("%s is %s, and verify finds nothing", key, how)
			}
		}
	}
}

func TestVerifyNamesAFileOfWhichNoCopyIsLeft(t *testing.T) {
	t.Parallel()
	b := keptVault(t)
	for _, key := range b.Keys() {
		if strings.HasPrefix(key, filesDir) {
			_ = b.Delete(t.Context(), key)
		}
	}
	if faults, err := verify(t, b); err != nil || len(faults) != 1 {
		t.Errorf("got %v, %v", faults, err)
	}
}

func TestARestoreStopsAtAHoleUnlessToldToGoOn(t *testing.T) {
	t.Parallel()
	b := keptVault(t)
	h, err := Open(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Delete(t.Context(), tailKey(h.fences[len(h.fences)-1].seq)); err != nil {
		t.Fatal(err)
	}
	if h, err = Open(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	target, err := h.At(t.Context(), time.Time{})
	if err != nil || len(target.Holes) == 0 {
		t.Fatalf("no holes: %+v, %v", target, err)
	}
	dir := filepath.Join(t.TempDir(), "x")
	if err := h.Restore(t.Context(), target, dir, nil, nil); !errors.Is(err, ErrBroken) {
		t.Errorf("restored: %v", err)
	}
	target.GoOn = true
	if err := h.Restore(t.Context(), target, dir, nil, nil); err != nil {
		t.Error(err)
	}
}

func TestACopyDoesNotReplaceALivingWriter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := new(buckettest.Memory)
		me := Candidate{Holder: "same", URL: "http://a/", Lease: 15 * time.Second,
			check: byEnd(func(end wal.Position) (bool, wal.Position, error) {
				return end == wal.Position{}, wal.Position{Log: [16]byte{1}}, nil
			})}
		a, err := Take(t.Context(), b, me)
		if err != nil {
			t.Fatal(err)
		}
		quit := make(chan struct{})
		go func() {
			for {
				select {
				case <-time.After(5 * time.Second):
					_ = a.renew(t.Context())
				case <-quit:
					return
				}
			}
		}()
		if _, err := Take(t.Context(), b, me); !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), "http://a/") {
			t.Errorf("a copy: %v", err)
		}
		if a.renew(t.Context()) != nil || a.Fenced() != nil {
			t.Error("the living writer was disturbed")
		}
		close(quit)
		synctest.Wait()
		began := time.Now()
		c, err := Take(t.Context(), b, me)
		if err != nil {
			t.Fatal(err)
		}
		if d := time.Since(began); d < 5*time.Second || d > 10*time.Second {
			t.Errorf("after a kill the next start took %s", d)
		}
		if err := c.release(t.Context()); err != nil {
			t.Fatal(err)
		}
		began = time.Now()
		if _, err := Take(t.Context(), b, me); err != nil || time.Since(began) > 0 {
			t.Errorf("after a clean end the next start took %s: %v", time.Since(began), err)
		}
		me.Force = true
		began = time.Now()
		if _, err := Take(t.Context(), b, me); err != nil || time.Since(began) > 0 {
			t.Errorf("a promotion took %s: %v", time.Since(began), err)
		}
	})
}
