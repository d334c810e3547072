package vault

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"odarchive/crawler/archive/content"
	"odarchive/testdata/cputime"
	"odarchive/triplestore/bucket"
	"odarchive/triplestore/bucket/buckettest"
	"odarchive/triplestore/kv"
)

// discard is a bucket that reads what is put, and drops it.
type discard struct{ buckettest.Memory }

func (*discard) Put(_ context.Context, _ string, size int64, body io.ReadSeeker, _ bucket.PutOptions) error {
	n, err := io.Copy(io.Discard, body)
	if err == nil && n != size {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// BenchmarkPacks compares the processor time of storing files with that of copying the packs: in pieces while they are
// open, and as a whole when they are closed. The figures are for a MiB of packs.
func BenchmarkPacks(b *testing.B) {
	dir := b.TempDir()
	db, err := kv.Open(dir, kv.Options{MinFree: -1, NoSync: true})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	store, err := content.Open(filepath.Join(dir, "packs"), db, content.Options{MinFree: -1, MaxPack: 16 << 20, NoSync: true})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	c := newPackCopier(&discard{}, store, testLog(b))
	var put, pieces, whole time.Duration
	r := rand.New(rand.NewPCG(1, 1))
	for b.Loop() {
		for closed := false; !closed; {
			put += cputime.Of(func() {
				for range 100 {
					if _, err := store.Put(b.Context(), bytes.NewReader(lines(r, 50_000)), content.PutOptions{}); err != nil {
						b.Fatal(err)
					}
				}
			})
			pieces += cputime.Of(func() { err = c.copyNew(b.Context()) })
			if err != nil {
				b.Fatal(err)
			}
			list, err := store.Packs()
			if err != nil {
				b.Fatal(err)
			}
			for _, p := range list {
				closed = closed || p.Closed && !c.has(p.Name)
			}
		}
		whole += cputime.Of(func() { err = c.closeAll(b.Context()) })
		if err != nil {
			b.Fatal(err)
		}
	}
	total := 0.0
	for _, p := range mustPacks(b, store) {
		total += float64(p.Size) / (1 << 20)
	}
	for name, spent := range map[string]time.Duration{"put": put, "pieces": pieces, "whole": whole} {
		b.ReportMetric(float64(spent.Microseconds())/1000/total, name+"-cpu-ms/MiB")
	}
}

func mustPacks(b *testing.B, store *content.Store) []content.Pack {
	list, err := store.Packs()
	if err != nil {
		b.Fatal(err)
	}
	return list
}

// lines returns a table that differs each time.
func lines(r *rand.Rand, size int) []byte {
	out := make([]byte, 0, size+100)
	for i := 0; len(out) < size; i++ {
		out = fmt.Appendf(out, "%d,2026-%02d-%02d,S%04d,%.1f,%d,%.2f\n", i, 1+r.IntN(12), 1+r.IntN(28), r.IntN(5000), r.Float64()*40-10,
			r.IntN(100), 950+r.Float64()*80)
	}
	return out
}

// BenchmarkRestore restores an archive of half a GiB, of files that cannot be compressed, from a directory and from an
// S3 server on the same disk. Everything is synced.
func BenchmarkRestore(b *testing.B) {
	b.Run("directory", func(b *testing.B) {
		at, err := bucket.Open(b.Context(), "file://"+b.TempDir(), bucket.Options{})
		if err != nil {
			b.Fatal(err)
		}
		benchmarkRestore(b, at)
	})
	b.Run("s3", func(b *testing.B) { benchmarkRestore(b, buckettest.StartGateway(b).Open(bucket.Options{})) })
}

func benchmarkRestore(b *testing.B, at bucket.Bucket) {
	const files, size = 2048, 256 << 10
	dir := b.TempDir()
	gate := NewGate()
	db, err := kv.Open(dir, kv.Options{MinFree: -1, NoSync: true, Acknowledge: gate.Acknowledge})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	store, err := content.Open(filepath.Join(dir, "packs"), db, content.Options{MinFree: -1, NoSync: true})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	noise := rand.NewChaCha8([32]byte{1})
	for range files {
		data := make([]byte, size)
		_, _ = noise.Read(data) // never fails
		if _, err := store.Put(b.Context(), bytes.NewReader(data), content.PutOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	k := New(at, Source{DB: db, Content: store, Dir: dir}, gate, Options{Holder: "a", Log: testLog(b)})
	ctx, stop := context.WithCancel(b.Context())
	if err := k.Begin(ctx); err != nil {
		b.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- k.Run(ctx) }()
	for s := k.State(); !s.Whole || s.Behind > 0; s = k.State() {
		time.Sleep(10 * time.Millisecond)
	}
	gib := float64(files*size) / (1 << 30)
	stop()
	<-ended
	h, err := Open(b.Context(), at)
	if err != nil {
		b.Fatal(err)
	}
	target, err := h.At(b.Context(), time.Time{})
	if err != nil {
		b.Fatal(err)
	}
	cpu := cputime.Used()
	for b.Loop() {
		if err := h.Restore(b.Context(), target, filepath.Join(b.TempDir(), "restored"), nil, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/gib, "s/GiB")
	b.ReportMetric((cputime.Used()-cpu).Seconds()/float64(b.N)/gib, "cpu-s/GiB")
}
