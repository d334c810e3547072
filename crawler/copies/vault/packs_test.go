package vault

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"odarchive/crawler/archive/content"
	"odarchive/triplestore/bucket/buckettest"
	"odarchive/triplestore/kv"
)

// A big file fills a pack before it is committed, while smaller ones are committed in later packs.
func TestAPackThatIsCommittedAfterLaterOnesIsCopied(t *testing.T) {
	t.Parallel()
	b := new(buckettest.Memory)
	a := open4(t, filepath.Join(t.TempDir(), "data"))
	c := newPackCopier(b, a.store, testLog(t))
	big := make([]byte, 3*200<<10) // three packs
	rand.NewChaCha8([32]byte{9}).Read(big)
	placed, err := a.store.Place(t.Context(), bytes.NewReader(big), content.PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer placed.Release()
	random := rand.NewChaCha8([32]byte{8})
	for range 20 { // closes two packs
		small := make([]byte, 30_000)
		random.Read(small)
		if _, err := a.store.Put(t.Context(), bytes.NewReader(small), content.PutOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := c.copyNew(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := c.closeAll(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	err = a.db.Update(t.Context(), func(tx *kv.Txn) error {
		_, err := placed.Write(tx)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.copyNew(t.Context()); err != nil {
		t.Fatal(err)
	}
	need, err := content.PacksOf(a.db)
	if err != nil {
		t.Fatal(err)
	}
	for num, end := range need {
		if have := c.covered[num]; have < end {
			whole := false
			for name := range c.whole {
				whole = whole || packNumber(name) == num
			}
			if !whole {
				t.Errorf("pack %d: %d of %d bytes are there, and records name them", num, have, end)
			}
		}
	}
	placed.Release()
	if err := c.closeAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	list, err := a.store.Packs()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		if p.Closed && !c.has(p.Name) {
			t.Errorf("%s is not there as a whole", p.Name)
		}
	}
}

// The machine is lost as soon as the big file is acknowledged, long before closed packs are copied as a whole.
func TestAFileThatIsCommittedAfterLaterOnesIsInTheVaultWhenItIsAcknowledged(t *testing.T) {
	t.Parallel()
	b := new(buckettest.Memory)
	a := open4(t, filepath.Join(t.TempDir(), "data"))
	if err := a.keep(b, Options{Wait: true}); err != nil {
		t.Fatal(err)
	}
	a.waitWhole()
	time.Sleep(50 * time.Millisecond) // the Keeper looks for closed packs when it begins, and 10 s later
	big := make([]byte, 3*200<<10)    // three packs
	rand.NewChaCha8([32]byte{9}).Read(big)
	placed, err := a.store.Place(t.Context(), bytes.NewReader(big), content.PutOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer placed.Release()
	random := rand.NewChaCha8([32]byte{8})
	for n := range 20 {
		small := make([]byte, 30_000)
		random.Read(small)
		ref, err := a.store.Put(t.Context(), bytes.NewReader(small), content.PutOptions{})
		if err == nil {
			err = a.db.Update(t.Context(), func(tx *kv.Txn) error { return tx.Set(kv.SpaceTest, keyOf(n), ref.SHA256[:]) })
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	err = a.db.Update(t.Context(), func(tx *kv.Txn) error {
		ref, err := placed.Write(tx)
		if err != nil {
			return err
		}
		return tx.Set(kv.SpaceTest, keyOf(20), ref.SHA256[:])
	})
	if err != nil {
		t.Fatal(err)
	}
	restored(t, b, moment{time.Now(), "", 21})
}

// A pack is damaged on the disk before it is copied as a whole, and repaired later.
func TestPiecesThatAreOlderThanTheDamageOfAPackStay(t *testing.T) {
	t.Parallel()
	b := new(buckettest.Memory)
	a := open4(t, filepath.Join(t.TempDir(), "data"))
	if err := a.keep(b, Options{}); err != nil {
		t.Fatal(err)
	}
	a.waitWhole()
	time.Sleep(50 * time.Millisecond) // the Keeper looks for closed packs when it begins, and 10 s later
	n, path := 0, ""
	for ; path == ""; n++ {
		small := make([]byte, 30_000)
		_, _ = rand.NewChaCha8([32]byte{byte(n)}).Read(small)
		ref, err := a.store.Put(t.Context(), bytes.NewReader(small), content.PutOptions{})
		if err == nil {
			err = a.db.Update(t.Context(), func(tx *kv.Txn) error { return tx.Set(kv.SpaceTest, keyOf(n), ref.SHA256[:]) })
		}
		list, failed := a.store.Packs()
		if err = errors.Join(err, failed); err != nil {
			t.Fatal(err)
		}
		if list[0].Closed {
			path = filepath.Join(a.dir, "packs", list[0].Name)
		}
	}
	a.waitWhole()
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write := func(data []byte) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err == nil {
			_, err = f.WriteAt(data, 0)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	harmed := bytes.Clone(sound)
	for i := 1000; i < len(harmed); i += 10 {
		harmed[i] ^= 1 // beyond parity
	}
	write(harmed)
	for range 2 { // a second look sends nothing more
		if err := a.keeper.packs.closeAll(t.Context()); err != nil {
			t.Fatal(err)
		}
		a.keeper.packs.lookAgain()
	}
	restored(t, b, moment{time.Now(), "", n})
	write(sound)
	if err := a.keeper.packs.closeAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, key := range b.Keys() {
		if strings.HasPrefix(key, openDir+"000000000001/") || strings.HasSuffix(key, damagedSuffix) {
			t.Errorf("%s is still there", key)
		}
	}
	restored(t, b, moment{time.Now(), "", n})
}

func TestABodyOfAPackReadsItFromAnyPlace(t *testing.T) {
	t.Parallel()
	a := open4(t, filepath.Join(t.TempDir(), "data"))
	for n := range 10 {
		a.mustPut(n * 1000)
	}
	list, err := a.store.Packs()
	if err != nil {
		t.Fatal(err)
	}
	p := list[0]
	whole := make([]byte, p.Size)
	if err := a.store.ReadPack(p, whole, 0); err != nil {
		t.Fatal(err)
	}
	r := &packBody{store: a.store, pack: p}
	for _, from := range []int64{0, p.Size / 2, 0, p.Size - 1, p.Size} {
		if _, err := r.Seek(from, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(io.LimitReader(r, 70_000))
		if want := whole[from:min(from+70_000, p.Size)]; err != nil || sha256.Sum256(got) != sha256.Sum256(want) {
			t.Errorf("from %d: %d bytes, not %d, %v", from, len(got), len(want), err)
		}
	}
	if _, err := r.Seek(-p.Size-1, io.SeekEnd); err == nil {
		t.Error("a place before the start")
	}
}

// The pieces of a pack that was not closed are read at the same time, and pieces that have the same bytes in their
// order.
func TestPiecesOfAPackAreReadTogether(t *testing.T) {
	t.Parallel()
	b := new(buckettest.Memory)
	a := begun(t, b, Options{Wait: true})
	for n := 1; n < 6; n++ {
		a.mustPut(n)
	}
	m := a.remember(6)
	a.close()
	far := buckettest.NewFaulty(b, 1)
	var now, most atomic.Int64
	far.Hook(func(op, key string) error {
		if op == "get" && strings.HasPrefix(key, openDir) {
			n := now.Add(1)
			for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
			}
			time.Sleep(50 * time.Millisecond)
			now.Add(-1)
		}
		return nil
	})
	restored(t, far, m)
	if most.Load() < 3 {
		t.Errorf("at most %d at a time", most.Load())
	}
	for _, one := range []struct {
		parts []part
		n     int
	}{
		{[]part{{offset: 0, length: 5}, {offset: 5, length: 5}, {offset: 20, length: 1}}, 3},
		{[]part{{offset: 0, length: 5}, {offset: 4, length: 5}}, 1},
		{[]part{{offset: 3, length: 5}, {offset: 20, length: 1}, {offset: 0, length: 4}}, 2},
	} {
		if n := disjoint(one.parts); n != one.n {
			t.Errorf("%v: %d", one.parts, n)
		}
	}
}
