package files

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"odarchive/crawler/archive/content"
	"odarchive/triplestore/bucket/buckettest"
	"odarchive/triplestore/kv"
)

func TestFilesWithColdVersionsAreWrittenWithFewRequestsToTheBucket(t *testing.T) {
	t.Parallel()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	dir, faulty := t.TempDir(), buckettest.NewFaulty(&buckettest.Memory{}, 1)
	options := content.Options{MinFree: -1, NoSync: true, MaxPack: 1 << 20, Remote: faulty, RemoteCache: 1 << 30}
	w := &world{t: t, versions: map[string]Entry{}, bytes: map[string][]byte{}, latest: map[string]string{}}
	w.wanted = newWorld(t).wanted
	// cold opens the store with closed packs only in the bucket.
	cold := func() {
		if w.store != nil {
			if err := w.store.FlushRemote(t.Context()); err != nil {
				t.Fatal(err)
			}
			w.store.Close()
		}
		for _, pattern := range []string{"*.pack", "*.parity"} {
			names, _ := filepath.Glob(filepath.Join(dir, pattern))
			for _, name := range names {
				if err := os.Remove(name); err != nil {
					t.Fatal(err)
				}
			}
		}
		if w.store, err = content.Open(dir, db, options); err != nil {
			t.Fatal(err)
		}
	}
	cold()
	r, sum := rand.New(rand.NewPCG(1, 2)), 0
	for i := range 120 {
		data := make([]byte, 40_000)
		for k := range data {
			data[k] = byte(r.Uint32())
		}
		w.add(fmt.Sprintf("http://a.example/%d.bin", i), 0, "a.bin", data)
		sum += len(data)
	}
	write := func(c container) (requests int) {
		before := faulty.Count()
		if _, err := c.WriteRange(io.Discard, w.store, 0, c.Size()); err != nil {
			t.Fatal(err)
		}
		after := faulty.Count()
		if read := after.Read - before.Read; float64(read) > 1.3*float64(sum) {
			t.Errorf("%T: %d bytes are read for %d", c, read, sum)
		}
		return after.Gets - before.Gets
	}
	warc, err := NewWARC(t.Context(), w.entries(), Meta{Base: mint.Base}, &described{world: w, known: map[string][32]byte{}}, w.store)
	if err != nil {
		t.Fatal(err)
	}
	cold()
	if n := write(warc); n > 30 {
		t.Errorf("%d requests for the versions of a WARC file", n)
	}
	wacz, err := NewWACZ(t.Context(), warc, w.store)
	if err != nil {
		t.Fatal(err)
	}
	cold()
	if n := write(wacz); n > 30 {
		t.Errorf("%d requests for the versions of a WACZ file", n)
	}
	w.store.Close()
}
