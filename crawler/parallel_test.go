package crawler

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/hosts"
	"odarchive/crawler/web/politeness"
	"odarchive/crawler/web/spool"
)

func TestAHostThatPermitsItIsVisitedSeveralTimesAtOnceAndNothingIsLost(t *testing.T) {
	t.Parallel()
	const files, parallel = 40, 4
	var mu sync.Mutex
	inside, most, busy := 0, 0, 0
	meet := make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		mu.Lock()
		inside++
		most = max(most, inside)
		if inside == parallel {
			select {
			case meet <- struct{}{}: // so many have met once: the others need not wait
			default:
			}
		}
		full := most == parallel
		if busy++; busy == files/2 {
			mu.Unlock()
			w.Header().Set("Retry-After", "1")
			http.Error(w, "too many", http.StatusTooManyRequests) // while others are under way
			mu.Lock()
			inside--
			mu.Unlock()
			return
		}
		mu.Unlock()
		if !full {
			select {
			case <-meet:
				meet <- struct{}{}
			case <-time.After(10 * time.Second):
			}
		}
		w.Header().Set("Content-Type", "text/csv")
		fmt.Fprintf(w, "path,n\n%s,1\n", r.URL.Path)
		mu.Lock()
		inside--
		mu.Unlock()
	}))
	defer server.Close()
	bodies, err := spool.New(t.TempDir(), spool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	n := newNode(t)
	set := func(string) hosts.Settings { return hosts.Settings{Parallel: parallel, Retries: DefaultRetries} }
	n.Pipeline.Settings = set
	n.Pipeline.Gate = politeness.New(politeness.Options{DB: n.db, Settings: set, Fetch: n.Pipeline.Fetch})
	n.Pipeline.Fetcher = fetch.New(fetch.Options{Spool: bodies, AllowPrivateHosts: true, Settings: set})
	t.Cleanup(n.Pipeline.Fetcher.Close)
	var seeds []catalog.Seed
	for i := range files {
		seeds = append(seeds, catalog.Seed{URL: fmt.Sprintf("%s/%d.csv", server.URL, i)})
	}
	if _, err := n.Add(t.Context(), seeds); err != nil {
		t.Fatal(err)
	}
	reports := map[string]catalog.Outcome{}
	summary, err := n.Run(t.Context(), RunOptions{Once: true, Wait: time.Minute, Report: func(r Report) { reports[r.URL] = r.Outcome }})
	if err != nil {
		t.Fatal(err)
	}
	if most > parallel || most < 2 {
		t.Errorf("%d requests at a time, want at most %d and more than one", most, parallel)
	}
	if summary.Outcomes[catalog.Archived] != files {
		t.Errorf("%d of %d files archived: %v", summary.Outcomes[catalog.Archived], files, summary.Outcomes)
	}
	for url, outcome := range reports {
		if outcome != catalog.Archived {
			t.Errorf("%s: %s", url, outcome)
		}
	}
	if leased := n.Pipeline.Frontier.Leased(); leased != 0 {
		t.Errorf("%d leases are left", leased)
	}
}
