package vault

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"odarchive/triplestore/bucket"
	"odarchive/triplestore/bucket/buckettest"
	"odarchive/triplestore/wal"
)

// Each answer to the question who writes a vault, and what a directory may do then.
func TestWhoWritesIsOneOfSixCases(t *testing.T) {
	t.Parallel()
	written, _, _ := twoWriters(t) // by b
	begun := new(buckettest.Memory)
	if err := begin(t.Context(), begun, false); err != nil {
		t.Fatal(err)
	}
	lost := copyOf(t, written)
	for _, key := range lost.Keys() {
		if key == writerKey || strings.HasPrefix(key, tailDir) {
			_ = lost.Delete(t.Context(), key)
		}
	}
	put(t, lost, wholeKey(2, "000000000001-00.pack", false), "x")
	nameless := copyOf(t, written)
	_ = nameless.Delete(t.Context(), archiveKey)
	away := buckettest.NewFaulty(written, 1)
	away.Away(true)
	for _, one := range []struct {
		what   string
		b      bucket.Bucket
		holder Holder
		who    Who
		take   error // of a candidate without Force
	}{
		{"an empty bucket", new(buckettest.Memory), "a", NoVault, nil},
		{"a vault that was only begun", begun, "a", Nobody, nil},
		{"its own", written, "b", ThisOne, nil},
		{"that of another one", written, "a", AnotherOne, ErrNotOwner},
		{"its own, without archive.json", nameless, "b", ThisOne, nil},
		{"that of another one, without archive.json", nameless, "a", AnotherOne, ErrNotOwner},
		{"one that has lost who writes", lost, "a", NobodyKnows, ErrUnknownWriter},
		{"one that has lost who writes", lost, "b", NobodyKnows, ErrUnknownWriter},
		{"one that is away", away, "b", CannotAsk, bucket.ErrUnavailable},
	} {
		is := Ask(t.Context(), one.b, one.holder, 0)
		if is.Who != one.who || (is.Err != nil) != (one.who == NoVault || one.who == NobodyKnows || one.who == CannotAsk) {
			t.Errorf("%s, for %s: %s, %v", one.what, one.holder, is.Who, is.Err)
		}
		if one.take == nil {
			continue
		}
		if _, err := Take(t.Context(), one.b, candidate(one.holder)); !errors.Is(err, one.take) {
			t.Errorf("%s: %s takes it: %v", one.what, one.holder, err)
		}
	}
	silent := candidate("a") // by itself, nobody takes what nobody knows
	silent.Force, silent.Silent = true, " 0"
	if _, err := Take(t.Context(), lost, silent); !errors.Is(err, ErrUnknownWriter) {
		t.Errorf("a follower that heard nothing: %v", err)
	}
}

func TestAnOrderReplacesOnlyTheWriterThatItNames(t *testing.T) {
	t.Parallel()
	b, _, second := twoWriters(t)
	me := candidate("a")
	me.Force, me.Instead = true, second.Epoch()-1
	if _, err := Take(t.Context(), b, me); !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), "give it again") {
		t.Errorf("it was to replace the one before: %v", err)
	}
	if err := second.renew(t.Context()); err != nil {
		t.Errorf("the writer was disturbed: %v", err)
	}
	me.Instead = second.Epoch()
	if _, err := Take(t.Context(), b, me); err != nil {
		t.Error(err)
	}
}

func TestWhoLeavesABackupIsNotTakenForDead(t *testing.T) {
	t.Parallel()
	b, _, second := twoWriters(t)
	if err := second.release(t.Context()); err != nil {
		t.Fatal(err)
	}
	sign, _, _, err := Lives(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	if err := Leave(t.Context(), b, "a", "none"); !errors.Is(err, ErrNotOwner) {
		t.Errorf("one that was replaced: %v", err)
	}
	for range 2 {
		if err := Leave(t.Context(), b, "b", "file:///new"); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, _, err := Lives(t.Context(), b); !errors.Is(err, ErrLeft) || !strings.Contains(err.Error(), "file:///new") {
		t.Errorf("a follower looks: %v", err)
	}
	me := candidate("a")
	me.Force, me.Silent = true, sign
	if _, err := Take(t.Context(), b, me); !errors.Is(err, ErrLeft) {
		t.Errorf("a follower that looked before takes it: %v", err)
	}
	if is := Ask(t.Context(), b, "b", 0); is.Who != ThisOne || is.Left != "file:///new" {
		t.Errorf("%+v", is)
	}
	if _, err := Take(t.Context(), b, candidate("b")); err != nil { // it comes back
		t.Fatal(err)
	}
	if _, _, _, err := Lives(t.Context(), b); err != nil {
		t.Errorf("it is the writer again: %v", err)
	}
}

// A candidate signs, and is stopped before its fence. The writer goes on, and signs again when the other one does
// nothing more.
func TestASignatureIsNoFence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, _, second := twoWriters(t)
		text, err := sealJSON(writerState{Epoch: second.Epoch() + 1, Holder: "c", Nonce: "c"})
		if err != nil {
			t.Fatal(err)
		}
		put(t, b, writerKey, string(text))
		for range 3 {
			if err := second.renew(t.Context()); !errors.Is(err, errContested) {
				t.Fatalf("it renews: %v", err)
			}
			time.Sleep(6 * time.Second)
		}
		if err := second.renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		if is := Ask(t.Context(), b, "b", 0); is.Who != ThisOne {
			t.Errorf("%+v", is)
		}
	})
}

// Candidates sign again and again, and none of them puts its fence: the writer goes on for half of the time.
func TestCandidatesThatNeverComeDoNotStopTheWriter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, _, second := twoWriters(t)
		const seconds = 600
		went := 0
		for at := range seconds {
			if at%6 == 0 {
				text, err := sealJSON(writerState{Epoch: second.Epoch() + 1, Holder: "c", Nonce: fmt.Sprint("c", at)})
				if err != nil {
					t.Fatal(err)
				}
				put(t, b, writerKey, string(text))
			}
			if at%5 == 0 {
				if err := second.renew(t.Context()); err != nil && !errors.Is(err, errContested) {
					t.Fatal(err)
				}
			}
			number := second.At().Number + 1
			switch n, err := second.append(t.Context(),
				[]entry{{Record: wal.Record{Number: number, Body: []byte("x")}, at: milliOf(time.Now())}}); {
			case n == 1:
				went++
			case !errors.Is(err, errContested):
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		if went < seconds/2 {
			t.Errorf("it could append in %d of %d seconds", went, seconds)
		}
	})
}
