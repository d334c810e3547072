package vault

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/triplestore/bucket/buckettest"
	"odarchive/triplestore/kv"
)

// The vault has not all that a replica lacks, whichever part of it: that is found out before the writer is disturbed.
// Somebody can say that the replica goes on as it is.
func TestWhatThePromotionCannotGetIsKnownBeforeTheWriterIsDisturbed(t *testing.T) {
	t.Parallel()
	below := func(b *buckettest.Memory, dir string) (keys []string) {
		for _, key := range b.Keys() {
			if strings.HasPrefix(key, dir) {
				keys = append(keys, key)
			}
		}
		slices.Sort(keys)
		return keys
	}
	for name, lose := range map[string]func(t *testing.T, b *buckettest.Memory){
		"a later record is damaged": func(t *testing.T, b *buckettest.Memory) {
			tail := below(b, tailDir)
			spoil(t, b, tail[len(tail)-3])
		},
		"bytes of a pack are missing": func(t *testing.T, b *buckettest.Memory) {
			open := below(b, openDir)
			_ = b.Delete(t.Context(), open[len(open)-3])
		},
		"bytes of a pack are damaged": func(t *testing.T, b *buckettest.Memory) {
			open := below(b, openDir)
			spoil(t, b, open[len(open)-3])
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := new(buckettest.Memory)
			a := begun(t, b, Options{Wait: true})
			dir := filepath.Join(t.TempDir(), "replica")
			a.replicate(dir)
			for n := 1; n < 9; n++ {
				a.mustPut(n)
			}
			a.waitWhole()
			lose(t, b)
			me := Candidate{Holder: Holder(dir), Lease: time.Second}
			for range 2 {
				if _, err := Promote(t.Context(), b, dir, me, PromoteOptions{Log: testLog(t)}); err == nil ||
					!strings.Contains(WithAsItIs(err).Error(), "--as-it-is") || !kv.IsReplica(dir) {
					t.Fatalf("nobody said so: %v", err)
				}
				if is := Ask(t.Context(), b, a.keeper.opts.Holder, 0); is.Who != ThisOne {
					t.Fatalf("the writer is %+v", is)
				}
			}
			if err := a.keeper.writer.renew(t.Context()); err != nil {
				t.Errorf("the writer was disturbed: %v", err)
			}
			if p, err := Promote(t.Context(), b, dir, me, PromoteOptions{AsItIs: true, Log: testLog(t)}); err != nil || p.Anew == "" ||
				kv.IsReplica(dir) {
				t.Fatalf("as it is: %+v, %v", p, err)
			}
			if err := a.keeper.writer.renew(t.Context()); !errors.Is(err, ErrFenced) {
				t.Errorf("two writers: %v", err)
			}
		})
	}
}

func spoil(t *testing.T, b *buckettest.Memory, key string) {
	t.Helper()
	raw, _, err := buckettest.Read(t.Context(), b, key, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)/2] ^= 1
	put(t, b, key, string(raw))
}

// Of what a replica lacks, an object in the middle is damaged or missing. As it is, it becomes the writer with all
// records before that.
func TestAsItIsAReplicaGetsTheRecordsBeforeTheDamage(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(t *testing.T, b *buckettest.Memory, key string){
		"damaged": spoil,
		"missing": func(t *testing.T, b *buckettest.Memory, key string) { _ = b.Delete(t.Context(), key) },
	} {
		for _, merged := range []bool{false, true} {
			b := new(buckettest.Memory)
			a := begun(t, b, Options{Wait: true})
			dir := filepath.Join(t.TempDir(), "replica")
			a.replicate(dir)
			a.follow(dir)
			had := a.db.Committed()
			for n := 1; n < 20; n++ {
				a.mustPut(n)
			}
			a.close()
			if merged {
				m := merger{b: b, count: 4}
				h, err := read(t.Context(), b)
				if err != nil {
					t.Fatal(err)
				}
				m.begin(h)
				if damage, err := m.all(t.Context(), h.writer.Epoch); damage != nil || err != nil {
					t.Fatal(damage, err)
				}
			}
			h, err := read(t.Context(), b)
			if err != nil {
				t.Fatal(err)
			}
			way, last := path(h.spansOf(h.branches()[0]), had)
			bad := way[len(way)/3]
			lose(t, b, bad.key)
			p, err := Promote(t.Context(), b, dir, Candidate{Holder: "b", Lease: time.Second},
				PromoteOptions{AsItIs: true, Log: testLog(t)})
			if err != nil {
				t.Fatal(err)
			}
			if p.Number != bad.first-1 || p.Fetched != p.Number-had || p.Lost != last-p.Number || name == "damaged" &&
				!strings.Contains(p.Anew, bad.key) {
				t.Errorf("%s, merged %v: records %d to %d are lost of %d to %d, and it got %+v", name, merged, bad.first, bad.last, had+1,
					last, p)
			}
			c := open4(t, dir)
			if files := c.check(); files == 0 {
				t.Error("no files")
			}
			if err := c.keep(b, Options{Holder: "b", Wait: true}); err != nil {
				t.Fatal(err)
			}
			c.waitWhole()
			if err := c.keeper.setAside(t.Context()); err != nil { // what is damaged
				t.Fatal(err)
			}
			m := c.remember(-1)
			c.close()
			restored(t, b, m)
		}
	}
}

// A replica began with a state file of a moment that the vault has not: the log that it got since then does not tell
// whether it has what the writers after that have put there.
func TestAReplicaThatCannotBeComparedIsNotPromoted(t *testing.T) {
	t.Parallel()
	b := new(buckettest.Memory)
	one, late := parting(t, b, func(a *archive) {
		for n := 5; n < 30; n++ {
			a.mustPut(n)
		}
		if err := a.db.Compact(); err != nil { // makes a state file
			t.Fatal(err)
		}
	})
	c := promoted(t, b, one)
	c.mustPut(100)
	if _, err := Promote(t.Context(), b, late, Candidate{Holder: "late", Lease: time.Second},
		PromoteOptions{Log: testLog(t)}); !errors.Is(err, ErrParted) {
		t.Fatal(err)
	}
	if err := c.put(101); err != nil {
		t.Errorf("the writer was disturbed: %v", err)
	}
}
