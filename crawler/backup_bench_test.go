package crawler

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/archive/content"
	"odarchive/crawler/copies/vault"
	"odarchive/testdata/cputime"
	"odarchive/triplestore/bucket"
	"odarchive/triplestore/bucket/buckettest"
	"odarchive/triplestore/kv"
)

// BenchmarkBackedUp compares the processor time of a visit without a continuous backup and with one ("…-copied"). The
// web is in another process, and the bucket keeps the log in memory and discards packs, so that what an object store
// costs does not count. Packs are small, so that there are closed ones, which are copied as a whole every ten seconds:
// give it 6000 visits.
func BenchmarkBackedUp(b *testing.B) {
	for _, again := range []bool{false, true} {
		name := "new"
		if again {
			name = "not-modified"
		}
		for _, copied := range []bool{false, true} {
			full := name
			if copied {
				full += "-copied"
			}
			b.Run(full, func(b *testing.B) { benchmarkBackedUp(b, again, copied) })
		}
	}
}

func benchmarkBackedUp(b *testing.B, again, copied bool) {
	urls := startBenchHelper(b, b.N, "")
	gate, o := vault.NewGate(), kv.Options{}
	if copied {
		o.Acknowledge = gate.Acknowledge
	}
	n := durableNodeWith(b, o, content.Options{MaxPack: 4 << 20})
	n.addBench(b, urls)
	if again {
		n.visitedBefore(b)
	}
	end := func() {}
	if copied {
		end = keepCopied(b, n, gate)
	}
	runtime.GC()
	began, cpu := time.Now(), cputime.Used()
	b.ResetTimer()
	if s, err := n.Run(b.Context(), RunOptions{Once: true}); err != nil || s.Fetches != b.N {
		b.Fatalf("%+v, %v", s, err)
	}
	end()
	b.StopTimer()
	b.ReportMetric(float64((cputime.Used()-cpu).Microseconds())/float64(b.N), "cpu-µs/file")
	b.ReportMetric(float64(b.N)/time.Since(began).Seconds(), "files/s")
}

// keepCopied runs a Keeper with a whole copy. end returns when everything is copied.
func keepCopied(b *testing.B, n *node, gate *vault.Gate) (end func()) {
	k := vault.New(&sink{}, vault.Source{DB: n.Pipeline.Archive.DB(), Content: n.Pipeline.Archive.Bytes()}, gate,
		vault.Options{Holder: vault.NewHolder()})
	if err := k.Begin(b.Context()); err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- k.Run(ctx) }()
	for s := k.State(); !s.Whole || s.Behind > 0; s = k.State() {
		time.Sleep(10 * time.Millisecond)
	}
	return func() {
		stop()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			b.Fatal(err)
		}
		if s := k.State(); s.Behind > 100 { // what is committed meanwhile in the background is copied at the next start
			b.Fatalf("%+v", s)
		}
	}
}

// sink is a bucket that discards packs, and keeps the rest.
type sink struct{ buckettest.Memory }

// Put implements bucket.Bucket.
func (s *sink) Put(ctx context.Context, key string, size int64, body io.ReadSeeker, o bucket.PutOptions) error {
	if strings.HasPrefix(key, "packs/") || strings.HasPrefix(key, "open/") {
		n, err := io.Copy(io.Discard, body)
		if err == nil && n != size {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	return s.Memory.Put(ctx, key, size, body, o)
}
