package vault

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"odarchive/triplestore/bucket"
	"odarchive/triplestore/bucket/buckettest"
	"odarchive/triplestore/wal"
)

// byEnd returns what decides for a candidate by the end of the history alone.
func byEnd(f func(end wal.Position) (isNew bool, at wal.Position, err error)) func(context.Context, *History) (bool, wal.Position, error) {
	return func(_ context.Context, h *History) (bool, wal.Position, error) {
		end, _, _ := h.end()
		return f(end)
	}
}

// candidate is one whose log continues that of the vault.
func candidate(holder Holder) Candidate {
	return Candidate{Holder: holder, Lease: 15 * time.Second, check: byEnd(func(end wal.Position) (bool, wal.Position, error) {
		return end == wal.Position{}, wal.Position{Log: [16]byte{1}}, nil
	})}
}

// twoWriters returns a vault that a wrote and b took over, and the writer.json of a, which has ended.
func twoWriters(t *testing.T) (b *buckettest.Memory, old []byte, second *Writer) {
	t.Helper()
	b = new(buckettest.Memory)
	first, err := Take(t.Context(), b, candidate("a"))
	if err == nil {
		err = first.release(t.Context())
	}
	if err == nil {
		old, _, err = buckettest.Read(t.Context(), b, writerKey, 0, -1)
	}
	if err != nil {
		t.Fatal(err)
	}
	me := candidate("b")
	me.Force = true
	if second, err = Take(t.Context(), b, me); err != nil {
		t.Fatal(err)
	}
	if _, err := second.append(t.Context(), []entry{{Record: wal.Record{Number: 1, Body: []byte("x")}, at: 1}}); err != nil {
		t.Fatal(err)
	}
	return b, old, second
}

func put(t *testing.T, b bucket.Bucket, key, text string) {
	t.Helper()
	if err := b.Put(t.Context(), key, int64(len(text)), strings.NewReader(text), bucket.PutOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestAnOlderWriterJSONIsNotBelieved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, old, second := twoWriters(t)
		put(t, b, writerKey, string(old))
		if last, err := lastWriterOf(t.Context(), b); err != nil || last.Holder != "b" {
			t.Errorf("the last writer is %+v, %v", last, err)
		}
		if _, err := Take(t.Context(), b, candidate("a")); !errors.Is(err, ErrNotOwner) {
			t.Errorf("the writer before takes it back: %v", err)
		}
		if faults, err := verify(t, b); err != nil || !strings.Contains(fmt.Sprint(faults), "older than the last epoch") {
			t.Errorf("verify: %v, %v", faults, err)
		}
		if err := second.renew(t.Context()); err != nil { // a living writer mends it
			t.Fatal(err)
		}
		if h, err := Open(t.Context(), b); err != nil || h.stale || h.writer.Holder != "b" || len(h.flaws) > 0 {
			t.Errorf("afterwards: %+v, %v", h, err)
		}
		// A copy of the directory of the living writer is refused, too, when it comes back once more.
		put(t, b, writerKey, string(old))
		go func() {
			time.Sleep(4 * time.Second)
			if err := second.renew(t.Context()); err != nil {
				t.Error(err)
			}
		}()
		if _, err := Take(t.Context(), b, candidate("b")); !errors.Is(err, ErrInUse) {
			t.Errorf("a copy of its directory: %v", err)
		}
		put(t, b, writerKey, string(old))
		third, err := Take(t.Context(), b, candidate("b")) // it has ended
		if err != nil || third.Epoch() != second.Epoch()+1 {
			t.Fatalf("the writer starts again: %v", err)
		}
	})
}

func TestNobodyIsTakenForTheWriterIfNothingSaysWhoIs(t *testing.T) {
	t.Parallel()
	sound := new(buckettest.Memory)
	a := open4(t, filepath.Join(t.TempDir(), "data"))
	for n := range 5 {
		a.mustPut(n)
	}
	if err := a.keep(sound, Options{Holder: "a"}); err != nil {
		t.Fatal(err)
	}
	a.waitWhole()
	a.end()
	for range 2 { // epochs 2 and 3
		if err := a.keep(sound, Options{Holder: "a"}); err != nil {
			t.Fatal(err)
		}
		a.mustPut(5)
		a.waitWhole()
		if err := a.keeper.snapshot(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		a.end()
	}
	state := func(epoch int, holder string) string {
		text, err := sealJSON(writerState{Epoch: uint64(epoch), Holder: Holder(holder), Nonce: "1", Released: true})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	lose := func(b *buckettest.Memory, prefixes ...string) {
		for _, key := range b.Keys() {
			for _, prefix := range prefixes {
				if strings.HasPrefix(key, prefix) {
					_ = b.Delete(ctxOf(), key)
				}
			}
		}
	}
	for name, harm := range map[string]func(b *buckettest.Memory){
		"writer.json and tail":    func(b *buckettest.Memory) { lose(b, writerKey, tailDir) },
		"writer.json {}, no tail": func(b *buckettest.Memory) { lose(b, tailDir); put(t, b, writerKey, "{}") },
		"only packs": func(b *buckettest.Memory) {
			lose(b, writerKey, tailDir, logDir, snapshotsDir, openDir)
			put(t, b, wholeKey(3, "000000000001-00.pack", false), "x")
		},
		"only files": func(b *buckettest.Memory) {
			lose(b, writerKey, tailDir, logDir, snapshotsDir, openDir)
			put(t, b, fileName("odarchive.json", 1, []byte("x")), "x")
		},
		"older writer.json, no tail": func(b *buckettest.Memory) { lose(b, tailDir); put(t, b, writerKey, state(1, "b")) },
		"empty tail": func(b *buckettest.Memory) {
			lose(b, writerKey)
			for _, key := range b.Keys() {
				if strings.HasPrefix(key, tailDir) {
					put(t, b, key, "")
				}
			}
		},
		"no writer.json, damaged end of the tail": func(b *buckettest.Memory) {
			lose(b, writerKey)
			put(t, b, tailKey(1<<20), "x")
		},
	} {
		b := copyOf(t, sound)
		harm(b)
		if last, err := lastWriterOf(t.Context(), b); !errors.Is(err, ErrUnknownWriter) {
			t.Errorf("%s: the last writer is %+v, %v", name, last, err)
		}
		for _, holder := range []Holder{"a", "b"} {
			if _, err := Take(t.Context(), b, candidate(holder)); !errors.Is(err, ErrUnknownWriter) || !MustNotWrite(err) {
				t.Errorf("%s: %s takes it: %v", name, holder, err)
			}
		}
		if h, err := Open(t.Context(), b); err != nil || h.who("a") != NobodyKnows || len(h.flaws) == 0 {
			t.Errorf("%s: %+v, %v", name, h, err)
		}
	}
	// Who knows that nobody else writes goes on from the directory.
	b := copyOf(t, sound)
	lose(b, writerKey, tailDir)
	if err := a.keep(b, Options{Holder: "a"}); !errors.Is(err, ErrUnknownWriter) {
		t.Fatalf("the directory starts: %v", err)
	}
	if err := a.keep(b, Options{Holder: "a", Take: true}); err != nil {
		t.Fatal(err)
	}
	a.waitWhole()
	if e := a.keeper.State().Epoch; e != 4 {
		t.Errorf("the new epoch is %d, whose objects are there already", e)
	}
	a.mustPut(6)
	m := a.remember(7)
	a.close()
	restored(t, b, m)
	if last, err := lastWriterOf(t.Context(), b); err != nil || last.Holder != "a" {
		t.Errorf("the last writer is %+v, %v", last, err)
	}
}

func TestAVaultWhoseBeginningWasInterruptedCanBeBegun(t *testing.T) {
	t.Parallel()
	b := new(buckettest.Memory)
	if err := begin(t.Context(), b, false); err != nil {
		t.Fatal(err)
	}
	if last, err := lastWriterOf(t.Context(), b); err != nil || last.Holder != "" {
		t.Errorf("the last writer is %+v, %v", last, err)
	}
	if _, err := Take(t.Context(), b, candidate("a")); err != nil {
		t.Error(err)
	}
}

// Each command of a directory asks who the last writer was.
func TestTheLastWriterIsKnownFromAFewObjects(t *testing.T) {
	t.Parallel()
	memory, _, second := twoWriters(t)
	for n := uint64(2); n < 60; n++ {
		if _, err := second.append(t.Context(), []entry{{Record: wal.Record{Number: n, Body: []byte("x")}, at: 1}}); err != nil {
			t.Fatal(err)
		}
	}
	b := buckettest.NewFaulty(memory, 1)
	if last, err := lastWriterOf(t.Context(), b); err != nil || last.Holder != "b" {
		t.Errorf("the last writer is %+v, %v", last, err)
	}
	if n := b.Count(); n.Gets > 3 || n.Lists > 1 {
		t.Errorf("it took %+v", n)
	}
}
