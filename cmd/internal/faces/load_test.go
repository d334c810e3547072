package faces_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"odarchive/cmd/internal/faces"
	"odarchive/sparqlapi/operate/access"
)

// BenchmarkPointQueriesBesideHeavyOnes is the load program: it measures point queries while heavy queries with
// timeout=600 run all the time, and slow readers take large answers, each client from an address of its own. It prints
// the median and the 99th percentile of the point queries in milliseconds, and the memory of the process, which holds
// the clients, too. For the figures of a whole run:
//
//	go test ./cmd/internal/faces -run '^$' -bench PointQueries -benchtime 500x
func BenchmarkPointQueriesBesideHeavyOnes(b *testing.B) {
	endpoint, err := faces.NewEndpoint(slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	defer endpoint.Close()
	var data strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&data, "<s:%d> <p:number> %d ; <p:next> <s:%d> ; <p:text> \"text of %d\" .\n", i, i%1000, (i*7+1)%20_000, i)
	}
	if err := endpoint.Load(b.Context(), data.String()); err != nil {
		b.Fatal(err)
	}
	srv := httptest.NewServer(byAddress(endpoint.Handlers()["/sparql"]))
	defer srv.Close()
	begin := func(ctx context.Context, client *http.Client, query string) (*http.Response, error) {
		r, _ := http.NewRequestWithContext(ctx, "GET", srv.URL+"/sparql?timeout=600&query="+url.QueryEscape(query), nil)
		return client.Do(r)
	}
	ask := func(ctx context.Context, client *http.Client, query string) (int, error) {
		resp, err := begin(ctx, client, query)
		if err != nil {
			return 0, err
		}
		defer resp.Body.Close()
		_, err = io.Copy(io.Discard, resp.Body)
		return resp.StatusCode, err
	}
	for _, load := range []struct{ heavy, slow int }{{0, 0}, {32, 0}, {32, 40}} {
		b.Run(fmt.Sprintf("heavy=%d/slow=%d", load.heavy, load.slow), func(b *testing.B) {
			ctx, cancel := context.WithCancel(b.Context())
			var running sync.WaitGroup
			for i := range load.heavy {
				client := clientAt(b, 100+i)
				running.Go(func() {
					for ctx.Err() == nil {
						ask(ctx, client,
							fmt.Sprintf("SELECT (COUNT(*) AS ?n) { ?a <p:number> ?x . ?b <p:text> ?t . FILTER (STRLEN(?t) + ?x = %d) }",
								100000+i))
					}
				})
			}
			for i := range load.slow {
				client := clientAt(b, 1+i)
				running.Go(func() {
					for ctx.Err() == nil {
						if resp, err := begin(ctx, client, "SELECT * { ?s ?p ?o . ?s <p:text> ?t }"); err == nil {
							readSlowly(ctx, resp.Body)
						}
					}
				})
			}
			var most uint64
			running.Go(func() {
				for ctx.Err() == nil {
					var m runtime.MemStats
					runtime.ReadMemStats(&m)
					most = max(most, m.Sys-m.HeapReleased)
					time.Sleep(200 * time.Millisecond)
				}
			})
			client := clientAt(b, 200)
			time.Sleep(2 * time.Second) // until they run
			var took []time.Duration
			for i := 0; b.Loop(); i++ {
				began := time.Now()
				status, err := ask(ctx, client, fmt.Sprintf("SELECT * { <s:%d> ?p ?o }", i%20_000))
				if err != nil || status != 200 {
					b.Fatal(status, err)
				}
				took = append(took, time.Since(began))
			}
			cancel()
			running.Wait()
			slices.Sort(took)
			ms := func(share float64) float64 {
				return float64(took[min(int(share*float64(len(took))), len(took)-1)].Microseconds()) / 1e3
			}
			b.ReportMetric(ms(0.5), "ms-median")
			b.ReportMetric(ms(0.99), "ms-p99")
			b.ReportMetric(float64(most>>20), "MiB")
		})
	}
}

// byAddress names the client of each request by its address.
func byAddress(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, _ := net.SplitHostPort(r.RemoteAddr)
		h.ServeHTTP(w, r.WithContext(access.WithClient(r.Context(), host)))
	})
}

// clientAt returns a client at an address of this machine. Where only 127.0.0.1 is one, the benchmark is skipped.
func clientAt(b *testing.B, n int) *http.Client {
	d := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(n))}}
	l, err := net.Listen("tcp", d.LocalAddr.String())
	if err != nil {
		b.Skip(err)
	}
	l.Close()
	t := &http.Transport{DialContext: d.DialContext}
	b.Cleanup(t.CloseIdleConnections)
	return &http.Client{Transport: t}
}

// readSlowly reads about 40 KB a second.
func readSlowly(ctx context.Context, body io.ReadCloser) {
	defer body.Close()
	buf := make([]byte, 4<<10)
	for ctx.Err() == nil {
		if _, err := io.ReadFull(body, buf); err != nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}
