package app

import (
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"net/url"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"odarchive/cmd/internal/config"
	"odarchive/cmd/internal/store"
	"odarchive/crawler/archive"
	"odarchive/crawler/archive/content"
	"odarchive/crawler/catalog"
	"odarchive/testdata/cputime"

	"golang.org/x/sync/errgroup"
)

// BenchmarkZipOfAQuery asks a whole archive for the zip of a query that selects every version: how long until the first
// byte, the query and the look-up of every version included, and how the heap grows while the zip is sent.
// $ODARCHIVE_BENCH_FILES says how many files there are, and $ODARCHIVE_BENCH_DATA, where the archive is kept for the
// next time: making one of 100,000 files takes minutes.
func BenchmarkZipOfAQuery(b *testing.B) {
	files := 5_000
	if s := os.Getenv("ODARCHIVE_BENCH_FILES"); s != "" {
		var err error
		if files, err = strconv.Atoi(s); err != nil {
			b.Fatal(err)
		}
	}
	cfg := config.Defaults()
	if cfg.Data = os.Getenv("ODARCHIVE_BENCH_DATA"); cfg.Data == "" {
		cfg.Data = b.TempDir()
	}
	n, err := Open(b.Context(), cfg, slog.New(slog.DiscardHandler), store.Options{Create: true})
	if err != nil {
		b.Fatal(err)
	}
	defer n.Close()
	stats, err := n.Archive.Stats(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	if stats.Versions < files {
		fill(b, n, files)
	}
	handler, err := n.Handler()
	if err != nil {
		b.Fatal(err)
	}
	query := "PREFIX dct: <http://purl.org/dc/terms/> SELECT ?version { ?version dct:isVersionOf ?file }"
	for b.Loop() {
		w := &watched{ResponseRecorder: httptest.NewRecorder(), start: time.Now(), used: cputime.Used()}
		handler.ServeHTTP(w, httptest.NewRequest("GET", "/get/files/sparql?q="+url.QueryEscape(query), nil))
		if w.Code != 200 || w.n != mustInt(b, w.Header().Get("Content-Length")) {
			b.Fatal(w.Code, w.n, w.Header())
		}
		b.ReportMetric(w.after.Seconds(), "first-byte-s")
		b.ReportMetric(w.cpu.Seconds(), "first-byte-cpu-s")
		b.ReportMetric(float64(w.most-w.least)/1e6, "heap-growth-MB")
		b.ReportMetric(float64(w.n)/1e6, "zip-MB")
	}
}

// fill makes an archive of small files, each with one version, of some thousand different bytes.
func fill(b *testing.B, n *Node, files int) {
	b.Helper()
	at := time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)
	address := func(i int) string { return fmt.Sprintf("http://h%d.example/d/%d.csv", i%300, i) }
	var seeds []catalog.Seed
	for i := range files {
		seeds = append(seeds, catalog.Seed{URL: address(i)})
	}
	if _, err := n.Intake.Add(b.Context(), seeds); err != nil {
		b.Fatal(err)
	}
	const contents = 4096
	var refs [contents]content.Ref
	for i := range min(contents, files) {
		var err error
		if refs[i], err = n.Content.Put(b.Context(), strings.NewReader(fmt.Sprintf("id,name\n%d,%x\n", i, i*2654435761)),
			content.PutOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	g, ctx := errgroup.WithContext(b.Context())
	g.SetLimit(64)
	for i := range files {
		g.Go(func() error {
			_, err := n.Archive.Commit(ctx, archive.Visit{
				Activity: catalog.Activity{URL: address(i), Start: at, End: at.Add(time.Second), Outcome: catalog.Archived, Status: 200},
				Kept: &archive.Kept{Ref: refs[i%contents], Type: "text/csv", Charset: "utf-8", FileName: fmt.Sprintf("%d.csv", i),
					ETag: `"abc"`,
					Headers: map[string][]string{"Content-Type": {"text/csv"}, "Date": {"Sat, 21 Nov 2026 06:00:00 GMT"},
						"Server": {"nginx"}, "Etag": {`"abc"`}}},
			}, nil)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		b.Fatal(err)
	}
	if err := n.Triples.Merge(b.Context()); err != nil {
		b.Fatal(err)
	}
}

func mustInt(b *testing.B, s string) int64 {
	b.Helper()
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// watched notes when the first byte of a body comes, and the heap while it is sent.
type watched struct {
	*httptest.ResponseRecorder
	start       time.Time
	used        time.Duration
	after, cpu  time.Duration
	n, next     int64
	least, most uint64
}

var _ io.Writer = (*watched)(nil)

func (w *watched) Write(p []byte) (int, error) {
	if w.after == 0 {
		w.after, w.cpu = time.Since(w.start), cputime.Used()-w.used
	}
	if w.n += int64(len(p)); w.n >= w.next { // every 5 MB
		w.next += 5 << 20
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		if w.least == 0 {
			w.least = m.HeapAlloc
		}
		w.least, w.most = min(w.least, m.HeapAlloc), max(w.most, m.HeapAlloc)
	}
	return len(p), nil
}
