package content

import (
	"bytes"
	"compress/flate"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"odarchive/triplestore/kv"
)

func (s *testStore) place(data []byte, previous Digest) *Placed {
	s.t.Helper()
	p, err := s.Place(s.t.Context(), bytes.NewReader(data), PutOptions{Previous: previous})
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}

func (s *testStore) write(p *Placed) Ref {
	s.t.Helper()
	var ref Ref
	err := s.kv.Update(s.t.Context(), func(tx *kv.Txn) (err error) {
		ref, err = p.Write(tx)
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return ref
}

func (s *testStore) isStored(data []byte) bool {
	s.t.Helper()
	_, ok, err := s.Stat(sha256.Sum256(data))
	if err != nil {
		s.t.Fatal(err)
	}
	return ok
}

func TestPlacedBytesAreAFileWhenTheirTransactionIsTrue(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	data := table(rng(1), 200_000)
	p := s.place(data, Digest{})
	if s.isStored(data) {
		t.Error("it is stored before the transaction")
	}
	refused := errors.New("somebody else's part of the transaction cannot be written")
	err := s.kv.Update(t.Context(), func(tx *kv.Txn) error {
		_, err := p.Write(tx)
		return errors.Join(err, refused)
	})
	if !errors.Is(err, refused) || s.isStored(data) {
		t.Errorf("after a transaction that failed (%v) it is stored: %v", err, s.isStored(data))
	}
	p.Release()
	p.Release()
	s.verify()

	p = s.place(data, Digest{})
	ref := s.write(p)
	p.Release()
	s.check(data)
	if again := s.place(data, Digest{}); s.write(again) != ref {
		t.Errorf("placed once more it is %+v, was %+v", s.write(again), ref)
	}
	next := edit(rng(2), data)
	p = s.place(next, ref.SHA256)
	s.write(p)
	p.Release()
	s.check(next)
	s.check(data)
	s.verify()
}

func TestAfterATransactionThatFailedWriteMayBeCalledAgain(t *testing.T) {
	t.Parallel()
	for _, o := range []Options{{}, {MaxPack: 90 << 10}} {
		s := newStore(t, o)
		r := rng(5)
		base := table(r, 200_000)
		ref := s.put(base, Digest{})
		next := slices.Clone(base)
		copy(next[1000:], "another value stands here")
		copy(next[150_000:], "and here")
		p := s.place(next, ref.SHA256)
		if len(p.put.cuts) == 0 {
			t.Fatal("no segment is cut")
		}
		for range 2 {
			refused := errors.New("refused")
			err := s.kv.Update(t.Context(), func(tx *kv.Txn) error {
				if _, err := p.Write(tx); err != nil {
					return err
				}
				return refused
			})
			if !errors.Is(err, refused) || s.isStored(next) {
				t.Fatalf("got %v, stored: %v", err, s.isStored(next))
			}
			s.check(base)
		}
		got := s.write(p)
		p.Release()
		s.check(next)
		s.check(base)
		for _, data := range [][]byte{base, next} {
			after, _, err := s.Stat(sha256.Sum256(data))
			if d, err2 := s.Deflated(sha256.Sum256(data), after.Layout); err != nil || err2 != nil || d.Size() != after.DeflateSize {
				t.Errorf("its record says %d deflated bytes: %v, %v", after.DeflateSize, err, err2)
			} else {
				d.Close()
			}
		}
		if after, _, _ := s.Stat(sha256.Sum256(next)); got != after {
			t.Errorf("Write said %+v, stored is %+v", got, after)
		}
		s.verify()
	}
}

func TestWhoStoresTheSameBytesWaitsForTheTransaction(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	data := table(rng(1), 100_000)
	p := s.place(data, Digest{})
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Put(impatient, bytes.NewReader(data), PutOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("it was stored beside: %v", err)
	}
	ends := make(chan Ref)
	go func() {
		ref, err := s.Put(t.Context(), bytes.NewReader(data), PutOptions{})
		if err != nil {
			t.Error(err)
		}
		ends <- ref
	}()
	ref := s.write(p)
	p.Release()
	if got := <-ends; got != ref {
		t.Errorf("who waited got %+v, want %+v", got, ref)
	}
	if end := s.tail.p.end; end > 2*ref.DeflateSize {
		t.Errorf("the bytes were written twice: the pack has %d", end)
	}
	s.verify()
}

func TestPlacedBytesOutliveCompaction(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{MaxPack: 80 << 10})
	r := rng(3)
	base := table(r, 60_000)
	s.put(base, Digest{})
	alone, onBase := noise(r, 50_000), edit(r, base)
	p, q := s.place(alone, Digest{}), s.place(onBase, sha256.Sum256(base))
	var others [][]byte
	for range 6 { // this closes packs
		others = append(others, noise(r, 40_000))
		s.put(others[len(others)-1], Digest{})
	}
	for i, data := range others {
		if i%2 == 0 {
			if err := s.Forget(t.Context(), sha256.Sum256(data)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := s.GC(t.Context(), func([32]byte) bool { return true }); err != nil {
		t.Fatal(err)
	}
	s.write(p)
	s.write(q)
	p.Release()
	q.Release()
	if c, err := s.Compact(t.Context()); err != nil || c.Packs == 0 {
		t.Errorf("nothing was waste: %+v, %v", c, err)
	}
	for _, data := range [][]byte{base, alone, onBase, others[1], others[3]} {
		s.check(data)
	}
	s.verify()
	s.reopen()
	s.verify()
}

func TestACrashBeforeTheTransactionLeavesNoFile(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	r := rng(4)
	base := table(r, 60_000)
	s.put(base, Digest{})
	name := filepath.Join(s.dir, s.packs.nameOf(s.packs.numbers()[0]))
	before, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	next := edit(r, base)
	s.place(next, sha256.Sum256(base)).Release()
	s.reopen()
	if after, err := os.Stat(name); err != nil || after.Size() <= before.Size() {
		t.Errorf("the pack has %d bytes, had %d, %v: sound segments are not cut off", after.Size(), before.Size(), err)
	}
	if s.isStored(next) {
		t.Error("it is stored")
	}
	s.check(base)
	s.verify()
	s.put(next, sha256.Sum256(base))
	s.check(next)
	s.verify()
}

// TestThePlacedStreamIsThatOfTheStoredFile reads the deflate streams of edited versions, whose segments are cut, before
// and after their transactions.
func TestThePlacedStreamIsThatOfTheStoredFile(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	r := rng(7)
	data, previous := table(r, 300_000), Digest{}
	for i := range 12 {
		p := s.place(data, previous)
		stream := func() []byte {
			d, err := p.Deflated()
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			b, err := io.ReadAll(d)
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		early := stream()
		got, err := io.ReadAll(flate.NewReader(io.MultiReader(bytes.NewReader(early), strings.NewReader(Tail))))
		if err != nil || !bytes.Equal(got, data) {
			t.Fatalf("version %d: %d of %d bytes, %v", i, len(got), len(data), err)
		}
		ref := s.write(p)
		p.Release()
		d, err := s.Deflated(ref.SHA256, Current)
		if err != nil {
			t.Fatal(err)
		}
		late, err := io.ReadAll(d)
		if err != nil || !bytes.Equal(early, late) {
			t.Fatalf("version %d: the stream changed with the commit (%v)", i, err)
		}
		d.Close()
		if again := s.place(data, previous); true {
			if d, err := again.Deflated(); err != nil || d.Size() != int64(len(late)) {
				t.Fatalf("version %d, stored already: %v", i, err)
			} else {
				d.Close()
			}
			again.Release()
		}
		previous, data = sha256.Sum256(data), edit(r, data)
	}
}
