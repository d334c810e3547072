package fetch

import (
	"crypto/md5"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"

	"odarchive/crawler/web/spool"
)

// BenchmarkFetch fetches files of 50 KB from 50 loopback hosts, one request per host at a time; the server is in the
// same process. The baseline "plain" is net/http and the two hashes only.
func BenchmarkFetch(b *testing.B) {
	data := make([]byte, 50_000)
	for i := range data {
		data[i] = byte(rand.Uint32())
	}
	var urls []string
	for range 50 {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(data)))
			w.Write(data)
		}))
		b.Cleanup(s.Close)
		urls = append(urls, s.URL)
	}
	run := func(b *testing.B, get func(url string) error) {
		b.SetBytes(int64(len(data)))
		var n atomic.Int64
		var wg sync.WaitGroup
		for i := range urls {
			wg.Go(func() {
				for k := n.Add(1); k <= int64(b.N); k = n.Add(1) {
					if err := get(fmt.Sprintf("%s/%d", urls[i], k)); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "files/s")
	}
	b.Run("plain", func(b *testing.B) {
		client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
		defer client.CloseIdleConnections()
		run(b, func(url string) error {
			resp, err := client.Get(url)
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			_, err = io.Copy(io.MultiWriter(sha256.New(), md5.New()), resp.Body)
			return err
		})
	})
	b.Run("fetch", func(b *testing.B) {
		s, err := spool.New(b.TempDir(), spool.Options{})
		if err != nil {
			b.Fatal(err)
		}
		f := New(Options{Spool: s, AllowNets: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
		defer f.Close()
		run(b, func(url string) error {
			ex, err := f.Fetch(b.Context(), Request{URL: url})
			if err != nil {
				return err
			}
			if ex.Body == nil {
				return fmt.Errorf("%s: %s", url, ex.Why)
			}
			return ex.Body.Remove()
		})
	})
}
