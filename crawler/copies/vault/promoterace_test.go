package vault

import (
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"odarchive/triplestore/bucket/buckettest"
	"odarchive/triplestore/kv"
)

// A replica that parted is promoted, and at any of its steps another one becomes the writer, or the writer commits what
// parts them. Whoever loses leaves the writer undisturbed.
func TestWhoLosesAPromotionLeavesTheWriterUndisturbed(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"another becomes the writer", "the writer commits"} {
		for step, reached := 1, true; reached; step++ {
			b := new(buckettest.Memory)
			one, parted := parting(t, b, func(a *archive) { a.mustPut(5) })
			var w *archive
			takeOver := func() { w = promoted(t, b, one) }
			if how == "the writer commits" {
				takeOver()
			}
			faulty, steps, fenced := buckettest.NewFaulty(b, 1), 0, false
			reached = false
			var turn sync.Mutex // a vault is read by several requests at a time
			faulty.Hook(func(op, key string) error {
				turn.Lock()
				defer turn.Unlock()
				if fenced || op != "put" && key != writerKey { // in between, nothing else changes
					return nil
				}
				steps++
				fenced = op == "put" && strings.HasPrefix(key, tailDir) // what comes after that is another promotion
				if steps == step {
					reached = true
					if w == nil {
						takeOver()
					}
					if err := w.put(10); err != nil {
						t.Errorf("%s at step %d (%s %s): it was fenced before: %v", how, step, op, key, err)
					}
				}
				return nil
			})
			_, err := Promote(t.Context(), faulty, parted, Candidate{Holder: Holder(parted), Lease: time.Second},
				PromoteOptions{Log: testLog(t)})
			if !reached {
				break
			}
			if err == nil {
				if renewed := w.keeper.writer.renew(t.Context()); !errors.Is(renewed, ErrFenced) {
					t.Errorf("%s at step %d: two writers: %v", how, step, renewed)
				}
			} else if err := w.put(11); err != nil {
				t.Errorf("%s at step %d: the writer that won was disturbed: %v", how, step, err)
			} else if err := w.keeper.writer.renew(t.Context()); err != nil {
				t.Errorf("%s at step %d: the writer that won cannot renew: %v", how, step, err)
			} else if is := Ask(t.Context(), b, Holder(one), 0); is.Who != ThisOne {
				t.Errorf("%s at step %d: after that, the writer is %+v", how, step, is)
			}
			w.close()
		}
	}
}

// Where the vault cannot tell what a replica lacks, somebody can say that it goes on as it is.
func TestAReplicaIsPromotedAsItIs(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(key string) bool{
		"the tail":        func(key string) bool { return key == writerKey || strings.HasPrefix(key, tailDir) },
		"the state":       func(key string) bool { return strings.HasPrefix(key, snapshotsDir) },
		"everything":      func(string) bool { return true },
		"but writer.json": func(key string) bool { return key != writerKey },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := new(buckettest.Memory)
			a := open4(t, filepath.Join(t.TempDir(), "data"))
			if err := a.keep(b, Options{}); err != nil {
				t.Fatal(err)
			}
			a.waitWhole()
			for n := range 5 {
				if err := a.note(n); err != nil {
					t.Fatal(err)
				}
			}
			a.waitWhole()
			dir := filepath.Join(t.TempDir(), "replica")
			a.replicate(dir)
			a.close()
			empty(b, lose)
			me := Candidate{Holder: "new", Lease: time.Second}
			if _, err := Promote(t.Context(), b, dir, me, PromoteOptions{}); err == nil ||
				!strings.Contains(WithAsItIs(err).Error(), "--as-it-is") || !kv.IsReplica(dir) {
				t.Fatalf("nobody said so: %v", err)
			}
			if p, err := Promote(t.Context(), b, dir, me, PromoteOptions{AsItIs: true, Log: testLog(t)}); err != nil || p.Anew == "" ||
				kv.IsReplica(dir) {
				t.Fatalf("%+v, %v", p, err)
			}
			c := open4(t, dir)
			if err := c.keep(b, Options{Holder: "new", Wait: true}); err != nil {
				t.Fatal(err)
			}
			if err := c.note(10); err != nil {
				t.Fatal(err)
			}
			c.waitWhole()
			m := c.remember(-1)
			c.close()
			restored(t, b, m)
		})
	}
}
