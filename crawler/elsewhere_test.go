package crawler

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"odarchive/crawler/archive/content"
	"odarchive/crawler/catalog"
	"odarchive/crawler/copies/dispatch"
	"odarchive/crawler/web/hosts"
	"odarchive/crawler/web/spool"
)

// Workers have the names of their own network, and their own addresses that are private.
func TestAHostThatTheOperatorHasPlacedIsTheWriters(t *testing.T) {
	t.Parallel()
	p := &Pipeline{Settings: func(host string) hosts.Settings {
		if host == "inside.example" {
			return hosts.Settings{Resolve: hosts.Place{Addr: netip.MustParseAddr("10.1.2.3")}}
		}
		return hosts.Settings{}
	}}
	for host, want := range map[string]bool{"inside.example": false, "a.example": true} {
		if got := p.forWorkers(host); got != want {
			t.Errorf("%s is for workers: %v, want %v", host, got, want)
		}
	}
}

// TestBothWaysOfAVisitRecordTheSame lets one archive visit by itself and another by a worker, and compares what they
// recorded over three rounds: new files, unchanged ones, changed ones, failures, redirects, error pages.
func TestBothWaysOfAVisitRecordTheSame(t *testing.T) {
	var round atomic.Int32
	page := strings.Repeat("<p>not here</p>", 30)
	mux := http.NewServeMux()
	mux.HandleFunc("/robots.txt", func(out http.ResponseWriter, _ *http.Request) { fmt.Fprint(out, "User-agent: *\nDisallow: /secret\n") })
	mux.HandleFunc("/table.csv", func(out http.ResponseWriter, r *http.Request) {
		tag := fmt.Sprintf(`"%d"`, round.Load()/2)
		out.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			out.WriteHeader(304)
			return
		}
		out.Header().Set("Content-Type", "text/csv; charset=utf-8")
		out.Write(table(uint64(round.Load()/2), 30_000))
	})
	mux.HandleFunc("/large.bin", func(out http.ResponseWriter, _ *http.Request) { out.Write(table(99, 900_000)) })
	mux.HandleFunc("/same.txt", func(out http.ResponseWriter, _ *http.Request) { fmt.Fprint(out, "always the same words\n") })
	mux.HandleFunc("/gone.csv", http.NotFound)
	mux.HandleFunc("/moved", func(out http.ResponseWriter, r *http.Request) { http.Redirect(out, r, "/table.csv", http.StatusFound) })
	mux.HandleFunc("/secret", func(http.ResponseWriter, *http.Request) { t.Error("robots.txt was not obeyed") })
	mux.HandleFunc("/soft.csv", func(out http.ResponseWriter, _ *http.Request) {
		out.Header().Set("Content-Type", "text/html")
		fmt.Fprint(out, "<html>"+page)
	})
	for i := range 4 {
		mux.HandleFunc(fmt.Sprintf("/page%d", i), func(out http.ResponseWriter, _ *http.Request) {
			out.Header().Set("Content-Type", "text/html")
			fmt.Fprint(out, "<html>"+page)
		})
	}
	mux.HandleFunc("/empty.csv", func(http.ResponseWriter, *http.Request) {})
	server := httptest.NewServer(mux)
	defer server.Close()
	var urls []string
	for _, path := range []string{"table.csv", "large.bin", "same.txt", "gone.csv", "moved", "secret", "soft.csv", "page0", "page1",
		"page2", "page3", "empty.csv"} {
		urls = append(urls, server.URL+"/"+path)
	}
	alone, served := newNode(t), newNode(t)
	for _, n := range []*node{alone, served} {
		var seeds []catalog.Seed
		for _, u := range urls {
			seeds = append(seeds, catalog.Seed{URL: u})
		}
		if _, err := n.Add(t.Context(), seeds); err != nil {
			t.Fatal(err)
		}
	}
	stop := serveWithWorkers(t, served, 2)
	defer stop()
	recognised := false
	for r := range 4 {
		round.Store(int32(r))
		if _, err := alone.Run(t.Context(), RunOptions{Once: true}); err != nil {
			t.Fatal(err)
		}
		want := alone.figures().Visits
		deadline := time.Now().Add(time.Minute)
		for served.figures().Visits < want {
			if time.Sleep(5 * time.Millisecond); time.Now().After(deadline) {
				t.Fatalf("round %d: %d of %d visits", r, served.figures().Visits, want)
			}
		}
		for _, u := range urls {
			if strings.Contains(u, "/page") {
				// Results of a host are committed side by side, so which of the same pages are kept before they are
				// recognised depends on which result comes first.
				recognised = recognised || outcome(t, served, u) == catalog.ErrSoft404
				continue
			}
			if a, b := recorded(t, alone, u), recorded(t, served, u); a != b {
				t.Errorf("round %d: %s\n alone: %s\nworker: %s", r, u, a, b)
			}
		}
		alone.clock.advance(60 * 24 * time.Hour)
		served.clock.advance(60 * 24 * time.Hour)
		served.Pipeline.Frontier.MakeDue(t.Context()) // wakes who waits by the archive's clock
	}
	if !recognised {
		t.Error("no page was recognised as one that the host sends for many URLs")
	}
}

// outcome returns the error class of the last visit of a URL.
func outcome(t *testing.T, n *node, url string) catalog.ErrorClass {
	t.Helper()
	r, err := n.Pipeline.Archive.Resource(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	return r.ErrorClass
}

// recorded describes what an archive has of a URL.
func recorded(t *testing.T, n *node, url string) string {
	t.Helper()
	r, err := n.Pipeline.Archive.Resource(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	s := fmt.Sprintf("visits %d versions %d errors %d outcome %s class %s why %q type %s name %s size %d pages %d", r.Visits, r.Versions,
		r.Errors, r.Outcome, r.ErrorClass, r.Why, r.MediaType, r.FileName, r.Size, r.ErrorPages)
	if r.Versions == 0 {
		return s
	}
	v, err := n.Pipeline.Archive.Newest(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	in, err := n.Pipeline.Archive.Inside(t.Context(), v.ID)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for name := range v.Headers {
		names = append(names, name)
	}
	slices.Sort(names)
	e, err := n.Pipeline.Archive.Exchange(t.Context(), v)
	if err != nil || e == nil {
		t.Fatalf("%s: exchange: %v", url, err)
	}
	change, err := n.Pipeline.Archive.Change(t.Context(), v.ID)
	if err != nil {
		t.Fatal(err)
	}
	s += fmt.Sprintf(" sha %x because %q charset %s etag %s headers %v request %d hops %d head %v error page %q", v.Digests.SHA256[:4],
		v.Because, v.Charset, v.ETag, names, len(v.Request), len(e.Hops), len(e.Head) > 0, v.ErrorPage)
	if in != nil && len(in.Tables) > 0 {
		s += fmt.Sprintf(" rows %d columns %d", in.Tables[0].Rows, len(in.Tables[0].Columns))
	}
	if change != nil {
		s += fmt.Sprintf(" change %s", change.Kind)
	}
	return s
}

// TestNothingThatASoundWorkerSendsIsRefused has hosts answer with all kinds of odd redirects and fields. Each visit
// must give a result that passes, after it was encoded and decoded: a URL whose result is refused would be visited for
// ever.
func TestNothingThatASoundWorkerSendsIsRefused(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	odd := func() string {
		b := make([]byte, 1+random.IntN(40))
		for i := range b {
			for b[i] = byte(random.Uint32()); b[i] == '\n' || b[i] == '\r' || b[i] == 0; b[i] = byte(random.Uint32()) {
			}
		}
		return string(b)
	}
	locations := []string{"", "/a b", "/a|b^c`{d}<e>\"f\\g", "//", "http://", "http:///x", "file:///etc/passwd", "javascript:alert(1)",
		"ftp://127.0.0.1:1/x", "http://[::1", "http://%zz/", "/ü?ä=ö#ß",
		"http://127.0.0.1:99999/", "HTTP://127.0.0.1:1/", "http://user:secret@127.0.0.1:1/", "/\xff\xfe", "/?" + strings.Repeat("a", 7000),
		"/?" + strings.Repeat("ü ", 2500), "/?" + strings.Repeat("x", 9000), "mailto:a@b", "x\"\\", "?", "#"}
	for range 100 {
		locations = append(locations, odd(), "/"+odd(), "//"+odd(), "http://127.0.0.1:1/"+odd())
	}
	n := newNode(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				r, err := http.ReadRequest(bufio.NewReader(c))
				if err != nil {
					return
				}
				if r.URL.Path == "/robots.txt" {
					fmt.Fprint(c, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
					return
				}
				if r.URL.Path != "/begin" {
					fmt.Fprint(c, "HTTP/1.1 404 \xff\x00\x7f\r\nX: \xff\xfe\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
					return
				}
				at := 0
				fmt.Sscan(r.URL.RawQuery, &at)
				if at%2 == 1 {
					fmt.Fprintf(c,
						"HTTP/1.1 200 OK\r\nETag: %[1]s\r\nLast-Modified: %[1]s\r\nContent-Type: %[1]s\r\nContent-Disposition: "+
							"attachment; filename=\"%[1]s\"\r\nContent-Length: 6\r\nConnection: close\r\n\r\na,b\n1\n", locations[at])
					return
				}
				fmt.Fprintf(c, "HTTP/1.1 302 Found\r\nLocation: %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", locations[at])
			}()
		}
	}()
	bodies, err := spool.New(t.TempDir(), spool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e := &Elsewhere{Pipeline: n.Pipeline, Spool: bodies, Wrapper: content.NewWrapper(0)}
	outcomes := map[catalog.Outcome]int{}
	for now := range locations {
		url := fmt.Sprintf("http://%s/begin?%d", listener.Addr(), now)
		s, err := e.Visit(t.Context(), dispatch.Job{URL: url, Key: "k"})
		if err != nil {
			t.Fatalf("%q: %v", locations[now], err)
		}
		r := &dispatch.Result{Version: dispatch.Version, Worker: "w",
			Job: dispatch.Key{Ref: dispatch.Ref{Group: "127.0.0.1", Epoch: 1}, Key: "k"}, Finding: s.Finding, Inside: s.Inside}
		if s.Parcel != nil {
			r.Parcel = []byte("parcel")
			s.Parcel.Close()
		}
		b, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, bad := dispatch.DecodeResults(dispatch.EncodeResults([][]byte{b})); len(bad) > 0 {
			t.Errorf("%q: %v", locations[now], bad)
		}
		outcomes[s.Finding.Exchange.Outcome]++
	}
	if outcomes[""] == 0 || outcomes[catalog.NoVersion] == 0 {
		t.Errorf("outcomes: %v", outcomes)
	}
}

// serveWithWorkers lets workers make all visits of a node. The returned function ends that.
func serveWithWorkers(t *testing.T, n *node, workers int) (stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	bodies, err := spool.New(t.TempDir(), spool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := dispatch.NewWriter(dispatch.WriterOptions{Embedded: &dispatch.ServerOptions{Listen: address, Dir: t.TempDir()},
		DeskOptions: dispatch.DeskOptions{
			Frontier: n.Pipeline.Frontier, Gate: n.Gate, Lease: 5 * time.Second, Now: n.clock.now, Log: slog.New(slog.DiscardHandler),
			Office: &Office{Pipeline: n.Pipeline, Spool: bodies, Welcome: func() dispatch.Welcome {
				return dispatch.Welcome{Rev: "1", Archive: "http://archive.example/", UserAgent: "odarchive/1.0", MaxBody: 100 << 20}
			}},
		}})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, workers+1)
	go func() { ended <- w.Run(ctx) }()
	for i := range workers {
		worker := testWorker(t, "nats://"+address, fmt.Sprintf("worker %d", i))
		go func() { ended <- worker.Run(ctx) }()
	}
	return func() {
		cancel()
		for range workers + 1 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
}
