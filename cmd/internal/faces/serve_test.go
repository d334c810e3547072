package faces

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"odarchive/cmd/internal/config"
	"odarchive/cmd/internal/crawl"
	"odarchive/cmd/internal/store"
	"odarchive/sparqlapi/problem"
)

// serving serves a handler at a loopback address until stop is called; done then gives what Serve returned.
func serving(t *testing.T, handler http.Handler, grace time.Duration) (address string, stop func(), done <-chan error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, slog.New(slog.DiscardHandler), handler, 0, grace, l) }()
	t.Cleanup(cancel)
	return l.Addr().String(), cancel, ended
}

func TestServingEndsBehindTheLastHandler(t *testing.T) {
	t.Parallel()
	for _, obedient := range []bool{true, false} { // to its context; the other one never looks at its connection again
		begun, release := make(chan struct{}), make(chan struct{})
		var returned atomic.Bool
		address, stop, done := serving(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			close(begun)
			<-r.Context().Done()
			if !obedient {
				<-release
			}
			returned.Store(true)
			problem.Write(w, r, r.Context().Err())
		}), 20*time.Millisecond)
		status := make(chan int, 1)
		go func() {
			resp, err := http.Get("http://" + address + "/x")
			if err != nil {
				status <- 0
				return
			}
			resp.Body.Close()
			status <- resp.StatusCode
		}()
		<-begun
		stop()
		want := http.StatusServiceUnavailable
		if !obedient {
			want = 0 // its connection is closed meanwhile
			if got := <-status; got != want {
				t.Errorf("the connection is still open: %d", got)
			}
			close(release)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		if !returned.Load() {
			t.Error("served to the end while a handler was running")
		}
		if obedient {
			if got := <-status; got != want {
				t.Errorf("answered %d, want %d", got, want)
			}
		}
	}
}

// halfClosed sends a request, closes its side of the connection, and returns the answer.
func halfClosed(t *testing.T, address, method, path, contentType, body string) (status int, answer string) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn,
		"%s %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: "+
			"close\r\n\r\n%s", method, path, contentType, len(body), body)
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(raw)
}

func TestAWriteOfAClientThatHalfClosesIsAppliedAndAnswered(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cfg := config.Defaults()
	cfg.Data, cfg.Serve.Token = dir, "secret"
	s, err := store.Open(t.Context(), cfg, slog.New(slog.DiscardHandler), store.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	c, err := crawl.New(s)
	if err != nil {
		t.Fatal(err)
	}
	n := New(s, c)
	handler, err := n.Handler()
	if err != nil {
		t.Fatal(err)
	}
	address, stop, done := serving(t, handler, time.Minute)
	const writes = 40
	for i := range writes {
		status, body := halfClosed(t, address, "POST", "/sparql", "application/sparql-update",
			fmt.Sprintf("INSERT DATA { <http://x.example/s> <http://x.example/p> %d }", i))
		if status != http.StatusOK || !strings.Contains(body, "inserted") {
			t.Fatalf("update %d: %d %q", i, status, body)
		}
	}
	if status, body := halfClosed(t, address, "PUT", "/rdf-graph-store?graph=http://x.example/g", "text/turtle",
		"<http://x.example/s> <http://x.example/p> 1 ."); status != http.StatusCreated {
		t.Errorf("graph: %d %q", status, body)
	}
	if status, body := halfClosed(t, address, "POST", "/post/resource", "application/json",
		`{"href":"http://x.example/a.csv"}`); status/100 != 2 {
		t.Errorf("resource: %d %q", status, body)
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	stats, err := s.Archive.Stats(t.Context())
	if err != nil || stats.Resources != 1 {
		t.Errorf("%+v, %v", stats, err)
	}
	var count strings.Builder
	if err := n.QueryTable(t.Context(), "SELECT (COUNT(*) AS ?n) { <http://x.example/s> <http://x.example/p> ?o }", &count); err != nil ||
		!strings.Contains(count.String(), fmt.Sprint(writes)) {
		t.Errorf("%s, %v", count.String(), err)
	}
	if err := errors.Join(n.Close(), c.Close(), s.Close()); err != nil {
		t.Error(err)
	}
}
