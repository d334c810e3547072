package content

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"odarchive/testdata/cputime"
	"odarchive/triplestore/kv"

	"github.com/klauspost/compress/zstd"
)

func benchStore(b *testing.B) *testStore {
	b.Helper()
	s := &testStore{t: b, dir: b.TempDir(), opts: Options{MinFree: -1, Waste: 0.01}}
	db, err := kv.Open(b.TempDir(), kv.Options{MinFree: -1})
	if err != nil {
		b.Fatal(err)
	}
	s.kv = db
	s.reopen()
	b.Cleanup(func() { s.Store.Close(); db.Close() })
	return s
}

// recordBytes returns the size of the keys and values of the store's records.
func (s *testStore) recordBytes() (n int64) {
	for _, space := range []kv.Space{filesSpace, refsSpace} {
		s.kv.View(func(tx *kv.Txn) error {
			return tx.Scan(space, nil, nil, func(k, v []byte) (bool, error) {
				n += int64(len(k) + len(v) + 1)
				return true, nil
			})
		})
	}
	return n
}

func folderSize(b *testing.B, dir string) (n int64) {
	err := filepath.Walk(dir, func(_ string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			n += info.Size()
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// BenchmarkStoredSize stores a corpus of versioned open data in four ways and reports the size on disk, including
// records, and the processor time. Run it with -benchtime 1x.
func BenchmarkStoredSize(b *testing.B) {
	files := corpus(160, 6)
	var raw int64
	for _, f := range files {
		for _, v := range f.versions {
			raw += int64(len(v))
		}
	}
	for b.Loop() {
		ours, perSecond, took := storeAll(b, files, raw)
		zipped := gzipAll(b, files)
		zstds := zstdAll(b, files)
		git := gitAll(b, files)
		b.ReportMetric(float64(raw)/1e6, "raw-MB")
		b.ReportMetric(float64(ours)/1e6, "ours-MB")
		b.ReportMetric(float64(zipped)/1e6, "gzip-MB")
		b.ReportMetric(float64(zstds)/1e6, "zstd-MB")
		b.ReportMetric(float64(git)/1e6, "git-MB")
		b.ReportMetric(float64(ours)/float64(zipped), "ours/gzip")
		b.ReportMetric(float64(ours)/float64(git), "ours/git")
		b.ReportMetric(perSecond, "ingest-MB/cpu-s")
		b.ReportMetric(took.Seconds(), "ingest-s")
	}
}

// BenchmarkIngest stores the corpus. It reports raw MB per second of processor time.
func BenchmarkIngest(b *testing.B) {
	files := corpus(60, 5)
	var raw int64
	for _, f := range files {
		for _, v := range f.versions {
			raw += int64(len(v))
		}
	}
	for b.Loop() {
		_, perSecond, _ := storeAll(b, files, raw)
		b.ReportMetric(perSecond, "MB/cpu-s")
	}
}

// storeAll puts the versions round by round, as a crawl does.
func storeAll(b *testing.B, files []series, raw int64) (bytesOnDisk int64, perSecond float64, took time.Duration) {
	s := benchStore(b)
	start, used := time.Now(), cputime.Used()
	previous := make([]Digest, len(files))
	for round := range files[0].versions {
		for i, f := range files {
			ref, err := s.Put(context.Background(), bytes.NewReader(f.versions[round]), PutOptions{Previous: previous[i]})
			if err != nil {
				b.Fatal(err)
			}
			previous[i] = ref.SHA256
		}
	}
	used, took = cputime.Used()-used, time.Since(start)
	before, _ := s.Stats()
	c, err := s.Compact(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	st, _ := s.Stats()
	b.Logf("before compaction %.1f MB, freed %.1f MB; packs %.1f MB (%.1f MB waste), records %.2f MB", float64(before.Bytes)/1e6,
		float64(c.Freed)/1e6,
		float64(st.Bytes)/1e6, float64(st.Waste)/1e6, float64(s.recordBytes())/1e6)
	return folderSize(b, s.dir) + s.recordBytes(), float64(raw) / 1e6 / used.Seconds(), took
}

func gzipAll(b *testing.B, files []series) (n int64) {
	start := cputime.Used()
	w, _ := gzip.NewWriterLevel(nil, 6)
	var raw int
	for _, f := range files {
		for _, v := range f.versions {
			var out counter
			w.Reset(&out)
			w.Write(v)
			w.Close()
			n += out.n
			raw += len(v)
		}
	}
	b.Logf("gzip -6: %.0f MB/cpu-s", float64(raw)/1e6/(cputime.Used()-start).Seconds())
	return n
}

type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

func zstdAll(b *testing.B, files []series) (n int64) {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(1))
	if err != nil {
		b.Fatal(err)
	}
	for _, f := range files {
		for _, v := range f.versions {
			n += int64(len(w.EncodeAll(v, nil)))
		}
	}
	return n
}

// gitAll commits the versions round by round, and packs them as git does by default.
func gitAll(b *testing.B, files []series) int64 {
	dir := b.TempDir()
	git := func(args ...string) {
		cmd := exec.Command("git",
			append([]string{"-C", dir, "-c", "user.name=b", "-c", "user.email=b@example.org", "-c", "gc.auto=0", "-c",
				"core.autocrlf=false"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Skipf("git: %v\n%s", err, out)
		}
	}
	git("init", "-q")
	for round := range files[0].versions {
		for _, f := range files {
			if err := os.WriteFile(filepath.Join(dir, f.name), f.versions[round], 0o644); err != nil {
				b.Fatal(err)
			}
		}
		git("add", "-A")
		git("commit", "-q", "--allow-empty", "-m", "round")
	}
	git("gc", "-q", "--prune=now")
	return folderSize(b, filepath.Join(dir, ".git", "objects"))
}

// BenchmarkUnchanged puts a stored file again, with known digests and without.
func BenchmarkUnchanged(b *testing.B) {
	s := benchStore(b)
	data := table(rng(1), 8<<20)
	ref := s.put(data, Digest{})
	b.Run("digests known", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Put(b.Context(), nil, PutOptions{Known: &Digests{SHA256: ref.SHA256, MD5: ref.MD5}}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("hashed", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			s.put(data, Digest{})
		}
	})
}

// BenchmarkRead reads a file of 8 MB, raw and as a deflate stream. Both report raw bytes.
func BenchmarkRead(b *testing.B) {
	s := benchStore(b)
	data := table(rng(1), 8<<20)
	ref := s.put(data, Digest{})
	b.Run("raw", func(b *testing.B) {
		b.SetBytes(ref.Size)
		for b.Loop() {
			r, err := s.Open(ref.SHA256)
			if err != nil {
				b.Fatal(err)
			}
			io.Copy(io.Discard, r)
			r.Close()
		}
	})
	b.Run("deflated", func(b *testing.B) {
		b.SetBytes(ref.Size)
		for b.Loop() {
			d, err := s.Deflated(ref.SHA256, ref.Layout)
			if err != nil {
				b.Fatal(err)
			}
			d.WriteTo(io.Discard)
			d.Close()
		}
	})
}

// BenchmarkVerify verifies a store. It reports bytes of packs.
func BenchmarkVerify(b *testing.B) {
	s := benchStore(b)
	s.put(noise(rng(1), 100<<20), Digest{})
	st, _ := s.Stats()
	b.SetBytes(st.Bytes)
	for b.Loop() {
		if v, err := s.Verify(b.Context(), VerifyOptions{}); err != nil || v.Damaged > 0 {
			b.Fatal(v, err)
		}
	}
}
