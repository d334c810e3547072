package vault

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"odarchive/triplestore/bucket/buckettest"
	"odarchive/triplestore/wal"
)

// wholeWriters is twoWriters with the state file that makes the history of b whole.
func wholeWriters(t *testing.T) (b *buckettest.Memory, second *Writer) {
	t.Helper()
	b, _, second = twoWriters(t)
	put(t, b, snapshot{epoch: second.Epoch(), at: milliOf(time.Now())}.name(), "")
	return b, second
}

// appendMany appends records to a vault, an object each, and merges.
func appendMany(t *testing.T, w *Writer, b *buckettest.Memory, n int) {
	t.Helper()
	m := &merger{b: b}
	h, err := Open(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	m.begin(h)
	for range n {
		number := w.At().Number + 1
		if _, err := w.append(t.Context(),
			[]entry{{Record: wal.Record{Number: number, Sum: uint32(number), Body: []byte("x")}, at: milliOf(time.Now())}}); err != nil {
			t.Fatal(err)
		}
	}
	m.list = nil // recent has what the tail has, too
	h, err = Open(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	m.begin(h)
	if _, err := m.all(t.Context(), w.Epoch()); err != nil {
		t.Fatal(err)
	}
}

// hasAll reports whether the newest history of a vault has all records up to a number.
func hasAll(t *testing.T, b *buckettest.Memory, upTo uint64) bool {
	t.Helper()
	h, err := Open(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	all := h.branches()
	_, last := path(h.spansOf(all[len(all)-1]), 0)
	return last >= upTo
}

// A candidate is stopped before it puts its fence, for so long that the writer goes on, and merges what it has put
// since: the place is free again. The candidate takes the archive all the same, behind what the writer has put.
func TestACandidateThatWasStoppedDoesNotPutItsFenceIntoAGap(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, second := wholeWriters(t)
		slow, stopped := buckettest.NewFaulty(b, 1), false
		slow.Hook(func(op, key string) error {
			if op != "put" || !strings.HasPrefix(key, tailDir) || stopped {
				return nil
			}
			stopped = true
			for range 4 { // it waits for the candidate, for a lease
				_ = second.renew(t.Context())
				time.Sleep(6 * time.Second)
			}
			appendMany(t, second, b, 100)
			if slices.Contains(b.Keys(), key) {
				t.Errorf("%s is not free, and nothing is tried here", key)
			}
			return nil
		})
		me := candidate("c")
		me.Force = true
		third, err := Take(t.Context(), slow, me)
		if err != nil || !stopped {
			t.Fatal(err, stopped)
		}
		if at := third.At().Number; at != 101 {
			t.Errorf("it continues after record %d, and the writer had put 101", at)
		}
		_, err = second.append(t.Context(), []entry{{Record: wal.Record{Number: 102, Body: []byte("y")}, at: 2}})
		if !errors.Is(err, ErrFenced) {
			t.Errorf("the writer before appends: %v", err)
		}
		if !hasAll(t, b, 101) {
			t.Error("records were acknowledged, and are in no history")
		}
	})
}

// lateFence puts the fence of a candidate that has died since into a gap.
func lateFence(t *testing.T, b *buckettest.Memory, after fence, epoch uint64) {
	t.Helper()
	text, err := fence{Epoch: epoch, Holder: "dead", Log: after.Log, Number: 1, Prev: after.id()}.encode([16]byte{13})
	if err != nil {
		t.Fatal(err)
	}
	place := tailKey(after.seq + 2)
	if slices.Contains(b.Keys(), place) {
		t.Fatalf("%s is not free", place)
	}
	put(t, b, place, string(text))
}

// The candidate has died when its fence was in the gap: it is no writer, whoever reads the vault and whenever.
func TestALateFenceBeginsNoEpoch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, second := wholeWriters(t)
		h, err := Open(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		last, _ := h.newest()
		appendMany(t, second, b, 100)
		lateFence(t, b, last, second.Epoch()+1)
		isSecond := func(when string) {
			t.Helper()
			if is := Ask(t.Context(), b, "b", 0); is.Who != ThisOne || is.Epoch != second.Epoch() {
				t.Errorf("%s: %+v", when, is)
			}
		}
		isSecond("at once")
		if err := second.renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		appendMany(t, second, b, 40)
		isSecond("later")
		if !hasAll(t, b, 141) {
			t.Error("the fence cuts the history")
		}
		// It stays without effect when another process has become the writer, and the newest objects of the one before
		// are merged, too.
		me := candidate("c")
		me.Force = true
		third, err := Take(t.Context(), b, me)
		if err != nil {
			t.Fatal(err)
		}
		if third.Epoch() <= second.Epoch()+1 {
			t.Errorf("two processes have epoch %d", third.Epoch())
		}
		appendMany(t, third, b, 40)
		if is := Ask(t.Context(), b, "c", 0); is.Who != ThisOne {
			t.Errorf("%+v", is)
		}
		if !hasAll(t, b, 181) {
			t.Error("the fence cuts the history afterwards")
		}
	})
}

// A candidate signs and dies while the writer is away: that one is the writer still when it starts again.
func TestASignatureReplacesNobodyWhoIsAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, _, second := twoWriters(t)
		text, err := sealJSON(writerState{Epoch: second.Epoch() + 1, Holder: "dead", Lease: 30_000, Nonce: "dead", Beat: 1})
		if err != nil {
			t.Fatal(err)
		}
		put(t, b, writerKey, string(text))
		for holder, who := range map[Holder]Who{"b": ThisOne, "dead": AnotherOne, "a": AnotherOne} {
			if is := Ask(t.Context(), b, holder, 0); is.Who != who {
				t.Errorf("%s: %s, want %s", holder, is.Who, who)
			}
		}
		again, err := Take(t.Context(), b, candidate("b"))
		if err != nil {
			t.Fatal(err)
		}
		if again.Epoch() <= second.Epoch()+1 {
			t.Errorf("it has epoch %d, which the other one has signed with", again.Epoch())
		}
		if _, err := Take(t.Context(), b, candidate("dead")); !errors.Is(err, ErrNotOwner) {
			t.Errorf("the other directory: %v", err)
		}
	})
}

// Somebody has emptied the vault, and another process has begun it anew, up to the same place. A writer of before does
// not take the other's objects for its own.
func TestAnotherVaultWithTheSamePlacesIsNotBelieved(t *testing.T) {
	t.Parallel()
	b, _, second := twoWriters(t)
	places := func() (n int) {
		for _, key := range b.Keys() {
			if strings.HasPrefix(key, tailDir) {
				n++
			}
		}
		return n
	}
	had := places()
	empty(b, func(string) bool { return true })
	other, err := Take(t.Context(), b, candidate("other"))
	if err != nil {
		t.Fatal(err)
	}
	for places() < had {
		appendMany(t, other, b, 1)
	}
	n, err := second.append(t.Context(), []entry{{Record: wal.Record{Number: 2, Body: []byte("y")}, at: 2}})
	if n > 0 || !errors.Is(err, errAgain) || errors.Is(err, ErrFenced) {
		t.Errorf("%d records are acknowledged: %v", n, err)
	}
	appendMany(t, other, b, 2)
	if is := Ask(t.Context(), b, "other", 0); is.Who != ThisOne {
		t.Errorf("%+v", is)
	}
}

// What such a writer has put, and could not remove, is moved aside by the one whose place it is.
func TestAnObjectOfAnotherVaultDoesNotStopTheWriter(t *testing.T) {
	t.Parallel()
	b, _, second := twoWriters(t)
	raw := (&batch{epoch: 1, nonce: [16]byte{13}, log: [16]byte{1},
		entries: []entry{{Record: wal.Record{Number: 7, Body: []byte("z")}, at: 7}}}).encode()
	put(t, b, tailKey(second.seq), string(raw))
	appendMany(t, second, b, 1)
	if !slices.ContainsFunc(b.Keys(), func(key string) bool { return strings.HasPrefix(key, damagedDir) }) {
		t.Error("it is gone")
	}
	if !hasAll(t, b, 2) {
		t.Error("the writer's record is missing")
	}
}

// Nobody waits for the order any more when the candidate is about to disturb the writer.
func TestAnOrderThatWasTakenBackDisturbsNobody(t *testing.T) {
	t.Parallel()
	b, _, second := twoWriters(t)
	takenBack := errors.New("taken back")
	me := candidate("c")
	me.Force, me.Stands = true, func() error { return takenBack }
	before, _, err := buckettest.Read(t.Context(), b, writerKey, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Take(t.Context(), b, me); !errors.Is(err, takenBack) {
		t.Errorf("it takes the archive: %v", err)
	}
	if after, _, err := buckettest.Read(t.Context(), b, writerKey, 0, -1); err != nil || string(after) != string(before) {
		t.Errorf("writer.json was %s and is %s, %v", before, after, err)
	}
	appendMany(t, second, b, 1)
}

// What tells that a fence is late may have been pruned. It has an epoch that nobody else has.
func TestNobodyHasTheEpochOfACandidateThatHasSigned(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, second := wholeWriters(t)
		text, err := sealJSON(writerState{Epoch: second.Epoch() + 1, Holder: "c", Nonce: "c"})
		if err != nil {
			t.Fatal(err)
		}
		put(t, b, writerKey, string(text))
		for range 4 { // it waits for the candidate, for a lease
			_ = second.renew(t.Context())
			time.Sleep(6 * time.Second)
		}
		me := candidate("d")
		me.Force = true
		third, err := Take(t.Context(), b, me)
		if err != nil {
			t.Fatal(err)
		}
		if third.Epoch() <= second.Epoch()+1 {
			t.Errorf("it has epoch %d, with which another one has signed", third.Epoch())
		}
	})
}

// An object of a former writer arrives behind the fence and the records of the present one: it makes that fence no late
// one.
func TestAStrayOfAFormerWriterDoesNotUndoAFence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, second := wholeWriters(t)
		me := candidate("c")
		me.Force = true
		third, err := Take(t.Context(), b, me)
		if err != nil {
			t.Fatal(err)
		}
		appendMany(t, third, b, 3)
		stray := &batch{epoch: second.epoch, nonce: second.nonce, log: [16]byte{1},
			entries: []entry{{Record: wal.Record{Number: 2, Body: []byte("z")}, at: 7}}}
		put(t, b, tailKey(third.seq), string(stray.encode()))
		if is := Ask(t.Context(), b, "c", third.Epoch()); is.Who != ThisOne {
			t.Errorf("%+v", is)
		}
		appendMany(t, third, b, 2)
		if !hasAll(t, b, third.At().Number) {
			t.Error("records of the writer belong to no history")
		}
	})
}
