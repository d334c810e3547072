package crawler

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/frontier"
)

func TestWhatMayPassIsTriedTwiceSoonAndThenLeftToTheSchedule(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	var asked, failing atomic.Int64
	failing.Store(100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/robots.txt" || r.URL.Path == "/gone.csv":
			http.NotFound(w, r)
		case asked.Add(1) <= failing.Load():
			w.WriteHeader(http.StatusBadGateway)
		default:
			w.Write([]byte("a,b\n1,2\n"))
		}
	}))
	t.Cleanup(s.Close)
	n.add(t, s.URL+"/a.csv", s.URL+"/gone.csv")

	for i, want := range []time.Duration{40 * time.Second, 5 * time.Minute} {
		n.crawl(t, RunOptions{})
		u, err := n.Pipeline.Frontier.Get(s.URL + "/a.csv")
		if err != nil {
			t.Fatal(err)
		}
		wait := u.Due.Sub(n.clock.now())
		if wait < want/2 || wait > want*3/2 || len(u.History) != 0 || u.Errors != i+1 {
			t.Errorf("failure %d: again in %s, history %v, %d errors; want about %s and no history", i+1, wait, u.History, u.Errors, want)
		}
		if gone, err := n.Pipeline.Frontier.Get(s.URL + "/gone.csv"); err != nil || len(gone.History) != 1 ||
			gone.Due.Sub(n.clock.now()) < 30*time.Minute {
			t.Errorf("what is gone: %+v, %v; want it left to the schedule", gone, err)
		}
		n.clock.advance(want * 3 / 2)
	}
	n.crawl(t, RunOptions{})
	if u, err := n.Pipeline.Frontier.Get(s.URL + "/a.csv"); err != nil || len(u.History) != 1 ||
		u.Due.Sub(n.clock.now()) < 30*time.Minute || asked.Load() != 3 {
		t.Errorf("third failure: %+v, %v after %d requests; want the schedule's back-off", u, err, asked.Load())
	}
	failing.Store(0)
	n.clock.advance(48 * time.Hour)
	if r := n.crawl(t, RunOptions{})["/a.csv"]; r.Outcome != catalog.Archived {
		t.Errorf("the file when the trouble is over: %+v", r)
	}
}

func TestACrawlOfWhatIsDueWaitsForRetriesThatAreDueSoon(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/robots.txt":
			http.NotFound(w, r)
		case r.URL.Path == "/never.csv" || asked.Add(1) == 1:
			w.WriteHeader(http.StatusBadGateway)
		default:
			w.Write([]byte("a,b\n1,2\n"))
		}
	}))
	t.Cleanup(s.Close)
	n.add(t, s.URL+"/a.csv", s.URL+"/never.csv")
	outcomes := map[string][]catalog.Outcome{}
	_, err := n.Run(t.Context(), RunOptions{Once: true, Wait: time.Minute, Report: func(r Report) {
		if outcomes[r.URL] = append(outcomes[r.URL], r.Outcome); r.Outcome == catalog.NoVersion && len(outcomes[r.URL]) == 1 {
			time.AfterFunc(20*time.Millisecond, func() { n.clock.advance(50 * time.Second) }) // the crawl is waiting or has ended
		}
	}})
	if got := outcomes[s.URL+"/a.csv"]; err != nil || !slices.Equal(got, []catalog.Outcome{catalog.NoVersion, catalog.Archived}) {
		t.Errorf("a passing trouble: %v, %v", got, err)
	}
	if got := outcomes[s.URL+"/never.csv"]; len(got) != 2 { // the second retry is five minutes away
		t.Errorf("lasting trouble: %v", got)
	}
}

func TestAfterA429TheURLIsDueWhenItsHostMayBeAskedAgain(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/robots.txt":
			http.NotFound(w, r)
		case r.URL.Path == "/never.csv":
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(http.StatusTooManyRequests)
		case asked.Add(1) <= 1:
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
		default:
			w.Write([]byte("a,b\n1,2\n"))
		}
	}))
	t.Cleanup(s.Close)
	n.add(t, s.URL+"/a.csv")
	var outcomes []catalog.Outcome
	_, err := n.Run(t.Context(),
		RunOptions{Once: true, Wait: time.Minute, Report: func(r Report) { outcomes = append(outcomes, r.Outcome) }})
	if err != nil || !slices.Equal(outcomes, []catalog.Outcome{catalog.RetryLater, catalog.Archived}) {
		t.Errorf("%v, %v; want the file as soon as the host may be asked", outcomes, err)
	}

	n.add(t, s.URL+"/never.csv")
	n.crawl(t, RunOptions{})
	u, err := n.Pipeline.Frontier.Get(s.URL + "/never.csv")
	if err != nil {
		t.Fatal(err)
	}
	if wait := u.Due.Sub(n.clock.now()); wait < 50*time.Minute || wait > 70*time.Minute || len(u.History) != 0 {
		t.Errorf("asked to wait an hour: again in %s, history %v", wait, u.History)
	}
	refused := catalog.Activity{Outcome: catalog.RetryLater}
	if wait, why := quickRetry(frontier.Job{Errors: askedToWait(DefaultRetries)}, refused, time.Second, DefaultRetries); wait != 0 {
		t.Errorf("always asked to wait: again in %s, %s; want that left to the schedule", wait, why)
	}
}
