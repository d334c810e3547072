package files

import (
	"archive/zip"
	"compress/flate"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"testing"
	"time"

	"odarchive/crawler/archive"
	"odarchive/testdata/cputime"

	kflate "github.com/klauspost/compress/flate"
)

// tables stores n CSV files of about size bytes.
func tables(b *testing.B, w *world, n, size int) (entries []Entry, raw int64) {
	for i := range n {
		var data []byte
		for k := 0; len(data) < size; k++ {
			data = fmt.Appendf(data, "%d;%x;Hauptplatz %d;%d.%03d\n", k, (k+i)*2654435761%100003, k%97, (k*i)%1000, k%1000)
		}
		entries = append(entries, w.add(fmt.Sprintf("http://h%d.example/d/%d.csv", i%50, i), 0, strconv.Itoa(i)+".csv", data))
		raw += int64(len(data))
	}
	return entries, raw
}

// BenchmarkZip writes the same files as a zip in three ways, to nowhere and over loopback HTTP. raw-MB/cpu-s is raw
// bytes per processor time of the whole process, including the HTTP client.
func BenchmarkZip(b *testing.B) {
	w := newWorld(b)
	entries, raw := tables(b, w, 400, 200_000)
	measure := func(b *testing.B, f func() error) {
		b.SetBytes(raw)
		start := cputime.Used()
		for b.Loop() {
			if err := f(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(raw)*float64(b.N)/1e6/(cputime.Used()-start).Seconds(), "raw-MB/cpu-s")
	}
	compressed := func(out io.Writer, c zip.Compressor) error {
		z := zip.NewWriter(out)
		z.RegisterCompressor(zip.Deflate, c)
		for _, e := range entries {
			f, err := z.Create(e.Name)
			if err != nil {
				return err
			}
			if _, err := f.Write(w.bytes[mint.Version(e.ID)]); err != nil {
				return err
			}
		}
		return z.Close()
	}
	b.Run("archive-zip", func(b *testing.B) {
		measure(b, func() error {
			return compressed(io.Discard, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, 6) })
		})
	})
	b.Run("archive-zip klauspost", func(b *testing.B) {
		measure(b, func() error {
			return compressed(io.Discard, func(w io.Writer) (io.WriteCloser, error) { return kflate.NewWriter(w, 6) })
		})
	})
	b.Run("bundle", func(b *testing.B) {
		measure(b, func() error {
			p, err := NewBundle(append([]Entry(nil), entries...), Meta{})
			if err == nil {
				_, err = p.WriteTo(io.Discard, w.store)
			}
			return err
		})
	})
	b.Run("bundle over HTTP", func(b *testing.B) {
		server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			p, err := NewBundle(append([]Entry(nil), entries...), Meta{})
			if err != nil {
				panic(err)
			}
			p.Serve(rw, r, w.store, nil)
		}))
		defer server.Close()
		buf := make([]byte, 1<<20)
		measure(b, func() error {
			res, err := http.Get(server.URL)
			if err != nil {
				return err
			}
			defer res.Body.Close()
			_, err = io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{res.Body}, buf)
			return err
		})
	})
}

// BenchmarkHundredThousand plans and sends a zip of 100,000 files. It measures the time to the first byte, and the
// memory beyond the list of entries.
func BenchmarkHundredThousand(b *testing.B) {
	w := newWorld(b)
	some, _ := tables(b, w, 500, 3000)
	list := make([]Entry, 100_000)
	for i := range list {
		e := some[i%len(some)]
		ref, _, err := w.store.Stat(e.Ref.SHA256) // as the archive does for every entry
		if err != nil {
			b.Fatal(err)
		}
		list[i].Stored = archive.Stored{ID: fmt.Sprintf("%024x_0", i), URL: fmt.Sprintf("http://h%d.example/d/%d.csv", i%300, i),
			FileName: fmt.Sprintf("%d.csv", i), Type: "text/csv", At: e.At, Ref: ref}
	}
	for b.Loop() {
		start := time.Now()
		used := cputime.Used()
		entries := append([]Entry(nil), list...)
		for i := range entries {
			ref, _, err := w.store.Stat(entries[i].Ref.SHA256)
			if err != nil {
				b.Fatal(err)
			}
			entries[i].Ref.DeflateSize, entries[i].Ref.Layout = ref.DeflateSize, ref.Layout
		}
		p, err := NewBundle(entries, Meta{Base: mint.Base})
		if err != nil {
			b.Fatal(err)
		}
		out := &firstByte{start: start, used: used}
		if _, err := p.WriteTo(out, w.store); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(out.after.Seconds(), "first-byte-s")
		b.ReportMetric(out.cpu.Seconds(), "first-byte-cpu-s")
		b.ReportMetric(float64(out.most-out.least)/1e6, "heap-growth-MB")
		b.ReportMetric(time.Since(start).Seconds(), "whole-s")
		b.ReportMetric(float64(p.Size())/1e6, "zip-MB")
	}
}

type firstByte struct {
	start       time.Time
	used        time.Duration
	after, cpu  time.Duration
	n, next     int64
	least, most uint64
}

func (f *firstByte) Write(p []byte) (int, error) {
	if f.after == 0 {
		f.after, f.cpu = time.Since(f.start), cputime.Used()-f.used
	}
	if f.n += int64(len(p)); f.n >= f.next { // every 10 MB
		f.next += 10 << 20
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		if f.least == 0 {
			f.least = m.HeapAlloc
		}
		f.least, f.most = min(f.least, m.HeapAlloc), max(f.most, m.HeapAlloc)
	}
	return len(p), nil
}
