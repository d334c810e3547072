package vault

import (
	"bytes"
	"crypto/sha256"
	"io"
	"math/rand/v2"
	"path/filepath"
	"testing"

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
