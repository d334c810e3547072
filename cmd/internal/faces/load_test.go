package faces_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"odarchive/cmd/internal/faces"
)

// BenchmarkPointQueriesBesideHeavyOnes is the load program: it measures point queries while heavy queries run all the
// time, and prints their median and 99th percentile in milliseconds. For the figures of a whole run:
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
	srv := httptest.NewServer(endpoint.Handlers()["/sparql"])
	defer srv.Close()
	srv.Client().Transport.(*http.Transport).MaxConnsPerHost = 0
	ask := func(ctx context.Context, query string) (int, error) {
		r, _ := http.NewRequestWithContext(ctx, "GET", srv.URL+"/sparql?timeout=600&query="+url.QueryEscape(query), nil)
		resp, err := srv.Client().Do(r)
		if err != nil {
			return 0, err
		}
		defer resp.Body.Close()
		_, err = io.Copy(io.Discard, resp.Body)
		return resp.StatusCode, err
	}
	for _, heavy := range []int{0, 32} {
		b.Run(fmt.Sprintf("heavy=%d", heavy), func(b *testing.B) {
			ctx, cancel := context.WithCancel(b.Context())
			var running sync.WaitGroup
			for i := range heavy {
				running.Go(func() {
					for ctx.Err() == nil {
						ask(ctx, fmt.Sprintf("SELECT (COUNT(*) AS ?n) { ?a <p:number> ?x . ?b <p:text> ?t . FILTER (STRLEN(?t) + ?x = %d) }", 100000+i))
					}
				})
			}
			time.Sleep(time.Second) // until they run
			var took []time.Duration
			for i := 0; b.Loop(); i++ {
				began := time.Now()
				status, err := ask(ctx, fmt.Sprintf("SELECT * { <s:%d> ?p ?o }", i%20_000))
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
		})
	}
}
