package crawler

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"odarchive/crawler/archive/content"
	"odarchive/crawler/catalog"
	"odarchive/crawler/copies/dispatch"
	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/hosts"
	"odarchive/crawler/web/politeness"
	"odarchive/crawler/web/spool"
	"odarchive/testdata/cputime"
)

// BenchmarkWriter compares the processor time that a visit costs the process with the archive: when it makes the visit
// alone, and when a worker makes the first half ("…-elsewhere", which includes the embedded NATS server). The web, and
// the worker, are in another process; both make 128 visits at a time. The aims are ratios of at most 0.45 for new
// files, and 0.8 for a 304.
func BenchmarkWriter(b *testing.B) {
	for _, again := range []bool{false, true} {
		name := "new"
		if again {
			name = "not-modified"
		}
		for _, elsewhere := range []bool{false, true} {
			full := name
			if elsewhere {
				full += "-elsewhere"
			}
			b.Run(full, func(b *testing.B) { benchmarkWriter(b, again, elsewhere) })
		}
	}
}

func benchmarkWriter(b *testing.B, again, elsewhere bool) {
	address := ""
	if elsewhere {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		address = l.Addr().String()
		l.Close()
	}
	urls := startBenchHelper(b, b.N, address)
	n := durableNode(b)
	n.addBench(b, urls)
	if again {
		n.visitedBefore(b)
	}
	var cpu time.Duration
	var began time.Time
	waitForQuiet()
	if !elsewhere {
		began, cpu = time.Now(), cputime.Used()
		b.ResetTimer()
		if s, err := n.Run(b.Context(), RunOptions{Once: true}); err != nil || s.Fetches != b.N {
			b.Fatalf("%+v, %v", s, err)
		}
	} else {
		bodies, err := spool.New(b.TempDir(), spool.Options{})
		if err != nil {
			b.Fatal(err)
		}
		office := &countedOffice{Office: &Office{Pipeline: n.Pipeline, Spool: bodies, Welcome: func() dispatch.Welcome {
			return dispatch.Welcome{Rev: "1", Archive: "http://archive.example/", UserAgent: "odarchive/1.0", MaxBody: 100 << 20}
		}}, all: make(chan struct{})}
		office.left.Store(int64(b.N))
		w := dispatch.NewWriter(dispatch.WriterOptions{Embedded: &dispatch.ServerOptions{Listen: address, Dir: b.TempDir()},
			DeskOptions: dispatch.DeskOptions{
				Frontier: n.Pipeline.Frontier, Gate: n.Gate, Lease: time.Minute, Now: n.clock.now, Log: slog.New(slog.DiscardHandler),
				Office: office,
			}})
		// The server starts, and the worker joins, once and not for each file.
		if err := n.Pipeline.Frontier.Pause(b.Context(), "the worker is not there yet"); err != nil {
			b.Fatal(err)
		}
		ctx, stop := context.WithCancel(b.Context())
		ended := make(chan error, 1)
		go func() { ended <- w.Run(ctx) }()
		for begun := time.Now(); len(w.Desk.Status().Workers) == 0; time.Sleep(10 * time.Millisecond) {
			if time.Since(begun) > time.Minute {
				b.Fatal("no worker joined")
			}
		}
		waitForQuiet()
		began, cpu = time.Now(), cputime.Used()
		b.ResetTimer()
		if err := n.Pipeline.Frontier.Resume(b.Context()); err != nil {
			b.Fatal(err)
		}
		select {
		case <-office.all:
		case <-time.After(5 * time.Minute):
			b.Fatalf("%+v", w.Desk.Status())
		}
		if err := n.joinAll(ctx, nil); err != nil { // as Run does
			b.Fatal(err)
		}
		defer func() { stop(); <-ended }()
	}
	b.StopTimer()
	took := time.Since(began)
	waitForIdle() // what is left to the background is part of the cost
	b.ReportMetric(float64((cputime.Used()-cpu).Microseconds())/float64(b.N), "cpu-µs/file")
	b.ReportMetric(float64(b.N)/took.Seconds(), "files/s")
}

// countedOffice closes all when so many results were committed as were left.
type countedOffice struct {
	*Office
	left atomic.Int64
	all  chan struct{}
}

func (o *countedOffice) Commit(ctx context.Context, lease *frontier.Lease, job frontier.Job, r *dispatch.Result,
	parcel dispatch.Parcel) error {
	err := o.Office.Commit(ctx, lease, job, r, parcel)
	if err == nil && o.left.Add(-1) == 0 {
		close(o.all)
	}
	return err
}

// waitForQuiet waits until what earlier visits left to the background, such as merges, is done.
func waitForQuiet() {
	runtime.GC()
	waitForIdle()
}

func waitForIdle() {
	for quiet := 0; quiet < 5; {
		cpu := cputime.Used()
		time.Sleep(50 * time.Millisecond)
		if quiet++; cputime.Used()-cpu > 2*time.Millisecond {
			quiet = 0
		}
	}
}

// figures returns counts of the archive.
func (n *node) figures() catalog.Stats {
	s, err := n.Pipeline.Archive.Stats(context.Background())
	if err != nil {
		panic(err)
	}
	return s
}

// startBenchHelper starts the other process of BenchmarkWriter, and returns the URLs of its web.
func startBenchHelper(b *testing.B, files int, nats string) (urls []string) {
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^TestBenchHelper$", "-test.v")
	cmd.Env = append(os.Environ(), "ODARCHIVE_BENCH_FILES="+strconv.Itoa(files), "ODARCHIVE_BENCH_NATS="+nats)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	lines := bufio.NewScanner(out)
	for lines.Scan() && len(urls) < files {
		if url, ok := strings.CutPrefix(lines.Text(), "URL "); ok {
			urls = append(urls, url)
		}
		if len(urls) == files {
			break
		}
	}
	go io.Copy(io.Discard, out) // ends with the process
	if len(urls) < files {
		b.Fatalf("%d URLs of %d", len(urls), files)
	}
	return urls
}

// TestBenchHelper is the other process of BenchmarkWriter: it serves a web, and works if there is something to join.
func TestBenchHelper(t *testing.T) {
	files, _ := strconv.Atoi(os.Getenv("ODARCHIVE_BENCH_FILES"))
	if files == 0 {
		t.Skip("only the other process of a benchmark")
	}
	web := newBenchWeb(t, hostsInBench(), files, 50_000, true)
	for _, u := range web.urls {
		fmt.Println("URL " + u)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ended := make(chan error, 1)
	if address := os.Getenv("ODARCHIVE_BENCH_NATS"); address != "" {
		w := testWorkerOf(t, "nats://"+address, "helper", 128) // as many as durableNode visits
		go func() { ended <- w.Run(ctx) }()
	} else {
		ended <- nil
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	stop()
	<-ended
}

// testWorker returns a worker as the program builds it.
func testWorker(t testing.TB, join, name string) *dispatch.Worker {
	t.Helper()
	return testWorkerOf(t, join, name, 64)
}

func testWorkerOf(t testing.TB, join, name string, visits int) *dispatch.Worker {
	t.Helper()
	a, err := dispatch.ParseAddress(join)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	return dispatch.NewWorker(dispatch.WorkerOptions{Address: a, Name: name, Hosts: visits, Log: slog.New(slog.DiscardHandler),
		Build: func(w *dispatch.Worker, by dispatch.Welcome) (dispatch.Kit, error) {
			bodies, err := spool.New(dir, spool.Options{})
			if err != nil {
				return dispatch.Kit{}, err
			}
			settings := func(host string) hosts.Settings {
				h, _ := w.Host(host)
				return hosts.Settings{Delay: h.Delay, Parallel: 1, MaxCrawlDelay: h.MaxCrawlDelay, MaxBody: h.MaxBody}
			}
			fetcher := fetch.New(fetch.Options{Spool: bodies, UserAgent: by.UserAgent, MaxBody: by.MaxBody,
				AllowNets: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Permit: w.Permit, Settings: settings})
			p := &Pipeline{Fetcher: fetcher, Settings: settings, Clock: time.Now, Log: slog.New(slog.DiscardHandler),
				Processors: make(chan struct{}, runtime.GOMAXPROCS(0)), MaxBody: by.MaxBody}
			p.Gate = politeness.New(politeness.Options{Fetch: p.Fetch, Delay: -1, Settings: settings, Borrow: w.Borrow, Fetched: w.Fetched})
			e := &Elsewhere{Pipeline: p, Spool: bodies, Wrapper: content.NewWrapper(0)}
			return dispatch.Kit{Gate: p.Gate, Visit: e.Visit, Outage: func() (string, time.Time) { return "", time.Time{} },
				Close: func() error { fetcher.Close(); return nil }}, nil
		}})
}
