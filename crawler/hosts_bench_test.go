package crawler

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/politeness"
	"odarchive/crawler/web/spool"
	"odarchive/testdata/cputime"
)

// everyName is a Resolver that resolves every name to this machine.
type everyName struct{}

func (everyName) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}

// manyHosts returns a node, everything on disk and synced, with small files on that many hosts, all played by one
// server, with a pause between two requests to a host, negative for none. files is the number of files.
func manyHosts(b *testing.B, hosts, files int, pause time.Duration) *node {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := &http.Server{ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/robots.txt" {
				http.NotFound(w, r)
				return
			}
			fmt.Fprintf(w, "a note of %s%s, of no kind in particular\n", r.Host, r.URL.Path)
		})}
	go server.Serve(l) // ended by Close
	b.Cleanup(func() { server.Close() })
	n := durableNode(b)
	bodies, err := spool.New(b.TempDir(), spool.Options{})
	if err != nil {
		b.Fatal(err)
	}
	n.Fetcher = fetch.New(fetch.Options{Spool: bodies, AllowPrivateHosts: true, Resolver: everyName{},
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, l.Addr().String())
		}})
	b.Cleanup(n.Fetcher.Close)
	n.Gate = politeness.New(politeness.Options{DB: n.Pipeline.Archive.DB(), Fetch: n.Fetcher.Fetch, Delay: pause})
	seeds := make([]catalog.Seed, files)
	for i := range seeds {
		seeds[i].URL = fmt.Sprintf("http://host%d.example/%d.txt", i%hosts, i)
	}
	if _, err := n.Add(b.Context(), seeds); err != nil {
		b.Fatal(err)
	}
	return n
}

// crawlAll visits all files of a benchmark's node, and reports the processor time of each visit.
func crawlAll(b *testing.B, n *node) {
	b.Helper()
	cpu := cputime.Used()
	b.ResetTimer()
	summary, err := n.Run(b.Context(), RunOptions{Once: true})
	b.StopTimer()
	if err != nil || summary.Outcomes[catalog.Archived] != b.N {
		b.Fatalf("%+v, %v", summary, err)
	}
	b.ReportMetric(float64((cputime.Used()-cpu).Microseconds())/float64(b.N), "cpu-µs/file")
}

// BenchmarkHosts visits the same number of small files on 200, 2,000 and 20,000 hosts, and reports the memory at the
// end, which should not depend on the hosts. One operation is one file.
func BenchmarkHosts(b *testing.B) {
	for _, hosts := range []int{200, 2000, 20_000} {
		b.Run(fmt.Sprint(hosts), func(b *testing.B) {
			crawlAll(b, manyHosts(b, hosts, b.N, -1))
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.HeapInuse)/(1<<20), "heap-MiB")
		})
	}
}

// BenchmarkRests visits files on hosts with a pause of two seconds after each request. The hosts, not the workers,
// should limit the rate. One operation is one file. of-pace is the share of the maximum rate that the pauses permit
// (robots.txt is an additional request).
func BenchmarkRests(b *testing.B) {
	const pause = 2 * time.Second
	for _, hosts := range []int{200, 2000} {
		b.Run(fmt.Sprint(hosts), func(b *testing.B) {
			n := manyHosts(b, hosts, b.N, pause)
			crawlAll(b, n)
			each := (b.N + hosts - 1) / hosts // of the hosts with most files; robots.txt before, no pause after the last
			b.ReportMetric((time.Duration(each)*pause).Seconds()/b.Elapsed().Seconds(), "of-pace")
		})
	}
}
