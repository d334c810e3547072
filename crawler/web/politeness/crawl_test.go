package politeness_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/politeness"
	"odarchive/crawler/web/spool"
	"odarchive/crawler/web/webtest"
)

// TestServersSeeAPoliteCrawler crawls a web whose hosts redirect to each other with many workers, and checks the
// requests that the servers receive.
func TestServersSeeAPoliteCrawler(t *testing.T) {
	t.Parallel()
	const hosts, pages = 5, 6
	var archive strings.Builder
	for h := range hosts {
		fmt.Fprintf(&archive,
			"-- h%d.example/robots.txt --\nUser-agent: *\nDisallow: /secret\nCrawl-delay: 0.0%d\n-- h%d.example/secret --\nsecret\n", h,
			h+1, h)
		for p := range pages {
			fmt.Fprintf(&archive, "-- h%d.example/%d --\n", h, p)
			switch p {
			case 1:
				fmt.Fprintf(&archive, "> redirect http://h%d.example/0\n", (h+1)%hosts)
			case 2:
				fmt.Fprintf(&archive, "> redirect http://h%d.example/secret\n", (h+2)%hosts)
			case 3:
				fmt.Fprintf(&archive, "> redirect /4\n")
			case 5:
				fmt.Fprintf(&archive, "> wait 20ms\nslow\n")
			default:
				fmt.Fprintf(&archive, "page\n")
			}
		}
	}
	w, err := webtest.Start([]byte(archive.String()), webtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	s, err := spool.New(t.TempDir(), spool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fetcher := fetch.New(fetch.Options{Spool: s, Resolver: w, Dial: w.Dial})
	defer fetcher.Close()
	// a slow host on a busy machine is asked less often
	gate := politeness.New(politeness.Options{Fetch: fetcher.Fetch, Delay: 5 * time.Millisecond, Patience: time.Hour})

	var mu sync.Mutex // guards outcomes
	outcomes := map[catalog.Outcome]int{}
	var wg sync.WaitGroup
	for range 3 {
		for h := range hosts {
			for p := range pages {
				wg.Go(func() {
					ctx, url := t.Context(), fmt.Sprintf("http://h%d.example/%d", h, p)
					pass, v, err := gate.Visit(ctx, url, 30*time.Second)
					if err != nil || !v.Allowed {
						t.Errorf("%s: %+v, %v", url, v, err)
						return
					}
					ex, err := fetcher.Fetch(ctx, fetch.Request{URL: url, Check: pass.Check})
					if err != nil {
						pass.Leave(politeness.Result{})
						t.Error(err)
						return
					}
					pass.Leave(politeness.ResultOf(ex))
					mu.Lock()
					outcomes[ex.Outcome]++
					mu.Unlock()
					if err := errors.Join(ex.Body.Remove()); err != nil {
						t.Error(err)
					}
				})
			}
		}
	}
	wg.Wait()
	if outcomes[""] != 3*hosts*(pages-1) || outcomes[catalog.RobotsDenied] != 3*hosts {
		t.Errorf("outcomes: %v", outcomes)
	}
	for _, b := range w.Broken(webtest.Promises{
		Delay: func(host string) time.Duration {
			return time.Duration(host[1]-'0'+1) * 10 * time.Millisecond
		},
		Denied: func(_, path string) bool { return path == "/secret" },
	}) {
		t.Error(b)
	}
}
