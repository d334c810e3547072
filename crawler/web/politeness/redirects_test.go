package politeness

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/web/fetch"
	"odarchive/triplestore/kv"
)

// redirecting is a web in which every request takes 50 ms, and a.example/N leads to the given host.
func redirecting(to string) func(context.Context, fetch.Request) (*fetch.Exchange, error) {
	return func(_ context.Context, r fetch.Request) (*fetch.Exchange, error) {
		ex := &fetch.Exchange{URL: r.URL, FinalURL: r.URL, Start: time.Now(), Status: 404, Outcome: catalog.NoVersion,
			ErrorClass: catalog.ErrHTTPStatus}
		ask := func() {
			ex.Asked = time.Now()
			time.Sleep(50 * time.Millisecond)
			ex.FirstByte = time.Now()
		}
		ask()
		if n, ok := strings.CutPrefix(r.URL, "http://a.example/"); ok && n != "robots.txt" {
			if err := r.Check("http://" + to + "/target/" + n); err != nil {
				return nil, err
			}
			ask()
		}
		return ex, nil
	}
}

func TestRedirectsDoNotMakeAHostLookSlow(t *testing.T) {
	t.Parallel()
	for to, longest := range map[string]time.Duration{
		"a.example": 66 * time.Second, // two requests a URL
		"b.example": 36 * time.Second,
	} {
		synctest.Test(t, func(t *testing.T) {
			g := New(Options{Delay: time.Second, Fetch: redirecting(to)})
			began := time.Now()
			for n := range 30 {
				url := fmt.Sprintf("http://a.example/%d", n)
				pass, v, err := g.Visit(t.Context(), url, time.Minute)
				if err != nil || !v.Allowed {
					t.Fatal(v, err)
				}
				ex, err := g.opts.Fetch(t.Context(), fetch.Request{URL: url, Check: pass.Check})
				if err != nil {
					t.Fatal(err)
				}
				pass.Leave(ResultOf(ex))
			}
			if took := time.Since(began); took > longest {
				t.Errorf("30 URLs that redirect to %s took %v", to, took)
			}
		})
	}
}

func TestACrawlDelayHoldsAfterARestartAndForADoorMadeAgain(t *testing.T) {
	t.Parallel()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	fetcher, _ := answers(t, map[string]string{"http://a.example/robots.txt": "200 User-agent: *\nCrawl-delay: 20"})
	const url = "http://a.example/x"
	if v, err := New(Options{DB: db, Fetch: fetcher}).Robots.Allowed(t.Context(), url); err != nil || v.CrawlDelay != 20*time.Second {
		t.Fatal(v, err)
	}

	g := New(Options{DB: db, Fetch: func(context.Context, fetch.Request) (*fetch.Exchange, error) {
		t.Error("robots.txt was fetched again")
		return nil, context.Canceled
	}})
	if _, err := g.Robots.Allowed(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	if d, why := g.Held("a.example"); d < 15*time.Second || why != "robots" {
		t.Errorf("after a restart the host may be asked in %v (%s): the earlier process may just have asked it", d, why)
	}
	delete(g.turnstiles, "a.example") // as sweep does with a host that rested
	if _, err := g.Robots.Allowed(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	if d := g.turnstiles["a.example"].crawl; d != 20*time.Second {
		t.Errorf("the Crawl-delay of a new turnstile is %v", d)
	}
}

// robots.txt is read once a day. A host that wants a day between two requests would otherwise be asked for nothing
// else.
func TestALongCrawlDelayLeavesRoomForFiles(t *testing.T) {
	t.Parallel()
	fetcher, asked := answers(t, map[string]string{"https://a.example/robots.txt": "200 User-agent: *\nCrawl-delay: 1000000000\n"})
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{Fetch: fetcher})
		files, last := 0, time.Time{}
		for end := time.Now().Add(30 * 24 * time.Hour); time.Now().Before(end); {
			p, v, err := g.Visit(t.Context(), "https://a.example/f.csv", 0)
			var w *Wait
			switch {
			case errors.As(err, &w):
				time.Sleep(time.Until(w.Until) + time.Millisecond)
			case err != nil || p == nil:
				t.Fatal(v, err)
			default:
				if between := time.Since(last); files > 0 && between < 24*time.Hour {
					t.Errorf("a file %v after the one before", between)
				}
				files, last = files+1, time.Now()
				p.Leave(Result{Latency: 50 * time.Millisecond})
			}
		}
		if files < 25 || len(*asked) > files+1 {
			t.Errorf("in 30 days, %d files and %d copies of robots.txt", files, len(*asked))
		}
	})
}
