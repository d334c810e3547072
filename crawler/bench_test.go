package crawler

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"odarchive/crawler/archive"
	"odarchive/crawler/archive/content"
	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/queue/schedule"
	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/politeness"
	"odarchive/crawler/web/spool"
	"odarchive/ns"
	"odarchive/testdata/cputime"
	"odarchive/triplestore"
	"odarchive/triplestore/kv"
)

// hostsInBench is the number of loopback hosts that the benchmarks crawl; ODARCHIVE_HOSTS sets another number.
func hostsInBench() int {
	if n, err := strconv.Atoi(os.Getenv("ODARCHIVE_HOSTS")); err == nil {
		return n
	}
	return 200
}

// table returns a CSV of about size bytes, different for each seed.
func table(seed uint64, size int) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	cities := []string{"Vienna", "Graz", "Linz", "Salzburg", "Innsbruck", "Klagenfurt", "Villach", "Wels"}
	b := make([]byte, 0, size+200)
	b = append(b, "id,date,station,city,temperature,humidity,pressure,note\n"...)
	for i := 0; len(b) < size; i++ {
		b = fmt.Appendf(b, "%d,2026-%02d-%02d,S%04d,%s,%.1f,%d,%.2f,%s\n", i, 1+r.IntN(12), 1+r.IntN(28), r.IntN(5000),
			cities[r.IntN(len(cities))],
			r.Float64()*40-10, r.IntN(100), 950+r.Float64()*80, []string{"", "ok", "checked by hand", "\"late, but good\""}[r.IntN(4)])
	}
	return b
}

// benchWeb serves files on many loopback addresses, each a host. A benchmark can change the files.
type benchWeb struct {
	urls     []string
	bodies   [][]byte
	version  atomic.Uint64 // another one, and every file has changed
	tags     bool
	handle   http.HandlerFunc // serves everything but robots.txt instead, if not nil
	requests atomic.Int64
}

func (w *benchWeb) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	w.requests.Add(1)
	if r.URL.Path == "/robots.txt" {
		http.NotFound(out, r)
		return
	}
	if w.handle != nil {
		w.handle(out, r)
		return
	}
	n, _ := strconv.ParseUint(strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/"), ".csv"), 10, 64)
	tag := fmt.Sprintf("\"%d-%s\"", w.version.Load(), r.URL.Path)
	if w.tags {
		out.Header().Set("ETag", tag)
	}
	if w.tags && r.Header.Get("If-None-Match") == tag {
		out.WriteHeader(http.StatusNotModified)
		return
	}
	// A file is a unique line and the rest of a common file, so that files differ and cost nothing to make.
	first := fmt.Sprintf("id,date,station,city,temperature,humidity,pressure,note\n%d,2026-01-01,%s,Vienna,%d.5,1,1000.00,first\n", n,
		r.Host, w.version.Load())
	rest := w.bodies[n%uint64(len(w.bodies))]
	out.Header().Set("Content-Type", "text/csv")
	out.Header().Set("Content-Length", strconv.Itoa(len(first)+len(rest)))
	io.WriteString(out, first)
	out.Write(rest)
}

func newBenchWeb(b testing.TB, hosts, files, size int, tags bool) *benchWeb {
	w := &benchWeb{tags: tags}
	for i := range 500 {
		body := table(uint64(i), size-130)
		w.bodies = append(w.bodies, body[strings.IndexByte(string(body), '\n')+1:])
	}
	server := &http.Server{Handler: w, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	listeners := make([]net.Listener, hosts)
	for i := range hosts {
		l, err := net.Listen("tcp", fmt.Sprintf("127.%d.%d.%d:0", 10+i/62500, i/250%250, i%250+1))
		if err != nil {
			b.Fatal(err)
		}
		listeners[i] = l
		go server.Serve(l) // ended by Close
	}
	b.Cleanup(func() { server.Close() })
	for i := range files {
		w.urls = append(w.urls, fmt.Sprintf("http://%s/%d.csv", listeners[i%hosts].Addr(), i))
	}
	return w
}

// durableNode returns a node as the program builds it: everything is on disk and synced.
func durableNode(b *testing.B) *node {
	b.Helper()
	return durableNodeWith(b, kv.Options{}, content.Options{})
}

func durableNodeWith(b *testing.B, o kv.Options, c content.Options) *node {
	b.Helper()
	must := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	clock := &testClock{base: time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC), set: time.Now()}
	db, err := kv.Open(b.TempDir(), o)
	must(err)
	triples, err := triplestore.Open(db, triplestore.Options{})
	must(err)
	packs, err := content.Open(b.TempDir(), db, c)
	must(err)
	bodies, err := spool.New(b.TempDir(), spool.Options{})
	must(err)
	queue, err := frontier.New(db, frontier.Options{Now: clock.now})
	must(err)
	fetcher := fetch.New(fetch.Options{Spool: bodies, AllowNets: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	arc := archive.New(ns.Mint{Base: "http://archive.example/"}, db, triples, packs)
	b.Cleanup(func() {
		fetcher.Close()
		must(errors.Join(packs.Close(), triples.Close(), db.Close()))
	})
	n := &node{clock: clock, triples: triples, Intake: &Intake{Archive: arc, Frontier: queue, Clock: clock.now}, Pipeline: &Pipeline{
		Archive: arc, Frontier: queue, Fetcher: fetcher, Clock: clock.now, Log: slog.New(slog.DiscardHandler), Workers: 128,
		Gate:       politeness.New(politeness.Options{DB: db, Fetch: fetcher.Fetch, Delay: -1}),
		Processors: make(chan struct{}, runtime.GOMAXPROCS(0)),
	}}
	n.examineWith(examiner(b))
	n.Schedule = schedule.NewAdaptiveRule(schedule.AdaptiveOptions{Limits: schedule.Limits{Min: time.Hour, Max: 24 * time.Hour}})
	return n
}

// gzipTime returns the processor time of compressing one of the web's files as gzip -6 does, for comparison between
// machines.
func (w *benchWeb) gzipTime(b *testing.B) time.Duration {
	b.Helper()
	cpu := cputime.Used()
	out := gzip.NewWriter(io.Discard) // level 6
	for _, body := range w.bodies {
		out.Reset(io.Discard)
		if _, err := out.Write(body); err != nil {
			b.Fatal(err)
		}
		if err := out.Close(); err != nil {
			b.Fatal(err)
		}
	}
	return (cputime.Used() - cpu) / time.Duration(len(w.bodies))
}

// addBench registers tables, three of a dataset.
func (n *node) addBench(b *testing.B, urls []string) {
	b.Helper()
	seeds := make([]catalog.Seed, len(urls))
	for i, u := range urls {
		seeds[i] = catalog.Seed{URL: u, Portal: "http://portal.example/", Dataset: fmt.Sprintf("http://portal.example/d/%d", i/3),
			Format: "CSV"}
	}
	if _, err := n.Add(b.Context(), seeds); err != nil {
		b.Fatal(err)
	}
}

// visitedBefore makes a round of visits that is not measured, two days ago.
func (n *node) visitedBefore(b *testing.B) {
	b.Helper()
	if _, err := n.Run(b.Context(), RunOptions{Once: true}); err != nil {
		b.Fatal(err)
	}
	n.clock.advance(48 * time.Hour)
}

// BenchmarkPipeline visits files of 50 KB on 200 loopback hosts, everything on disk and synced. The server runs in the
// same process. One operation is one visit and the indexing of the columns. "new": a first version; "changed": the next
// version; "same-bytes": fetched whole, but unchanged; "not-modified": a 304; "…-once-more": the same for the second
// time.
func BenchmarkPipeline(b *testing.B) {
	const size = 50_000
	crawl := func(b *testing.B, n *node, web *benchWeb, want catalog.Outcome) {
		before := web.gzipTime(b)
		_ = n.Pipeline.Examine.Close() // with the children of the rounds before, whose time is counted when they have ended
		n.examineWith(examiner(b))
		runtime.GC()
		cpu, children := cputime.Used(), cputime.Children()
		b.ResetTimer()
		summary, err := n.Run(b.Context(), RunOptions{Once: true})
		b.StopTimer()
		if err != nil || summary.Outcomes[want] != b.N {
			b.Fatalf("%+v, %v; want %d %s", summary, err, b.N, want)
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "files/s")
		cpu = cputime.Used() - cpu
		_ = n.Pipeline.Examine.Close()
		children = cputime.Children() - children
		spent := float64((cpu + children).Microseconds()) / float64(b.N)
		b.ReportMetric(spent, "cpu-µs/file")
		b.ReportMetric(float64(children.Microseconds())/float64(b.N), "children-µs/file")
		b.ReportMetric(spent/(float64((before+web.gzipTime(b)).Microseconds())/2), "gzips/file")
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapInuse)/(1<<20), "heap-MiB")
		if err := n.Pipeline.Archive.DB().Compact(); err != nil { // moves what Badger has in memory to tables
			b.Fatal(err)
		}
		sizes := n.Pipeline.Archive.DB().Sizes()
		b.ReportMetric(float64(sizes.Tables)/(1<<20), "tables-MiB")
		b.ReportMetric(float64(sizes.Log)/(1<<20), "log-MiB")
		b.ReportMetric(float64(sizes.Snapshots)/(1<<20), "snapshots-MiB")
	}
	for _, c := range []struct {
		name  string
		tags  bool
		again func(*benchWeb)
		times int // visits that are not measured, with again, before the one that is
		want  catalog.Outcome
	}{
		{"new", true, nil, 0, catalog.Archived},
		{"changed", true, func(w *benchWeb) { w.version.Add(1) }, 1, catalog.Archived},
		{"same-bytes", false, func(*benchWeb) {}, 1, catalog.Unchanged},
		{"not-modified", true, func(*benchWeb) {}, 1, catalog.Unchanged},
		{"same-bytes-once-more", false, func(*benchWeb) {}, 2, catalog.Unchanged},
		{"not-modified-once-more", true, func(*benchWeb) {}, 2, catalog.Unchanged},
	} {
		b.Run(c.name, func(b *testing.B) {
			web, n := newBenchWeb(b, hostsInBench(), b.N, size, c.tags), durableNode(b)
			n.addBench(b, web.urls)
			for range c.times {
				n.visitedBefore(b)
				c.again(web)
			}
			crawl(b, n, web, c.want)
		})
	}
}
