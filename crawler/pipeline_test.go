package crawler

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"odarchive/crawler/archive"
	"odarchive/crawler/archive/content"
	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/queue/schedule"
	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/politeness"
	"odarchive/crawler/web/spool"
	"odarchive/ns"
	"odarchive/triplestore"
	"odarchive/triplestore/kv"
)

// site is a host whose files a test sets. It records every request.
type site struct {
	*httptest.Server
	mu       sync.Mutex
	files    map[string]string // path -> body
	requests []string
}

func newSite(t *testing.T) *site {
	s := &site{files: map[string]string{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *site) set(path, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[path] = body
}

func (s *site) asked(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, r := range s.requests {
		if strings.HasPrefix(r, path+" ") {
			n++
		}
	}
	return n
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	body, ok := s.files[r.URL.Path]
	s.requests = append(s.requests, r.URL.Path+" "+r.Header.Get("If-None-Match"))
	s.mu.Unlock()
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256([]byte(body))))
	if strings.HasPrefix(body, "<") {
		w.Header().Set("Content-Type", "text/html")
	}
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(body))
}

// testClock is the archive's clock. It runs from the time that a test sets.
type testClock struct {
	mu   sync.Mutex
	base time.Time
	set  time.Time
}

func (c *testClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.base.Add(time.Since(c.set))
}

func (c *testClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.base = c.base.Add(d)
}

type node struct {
	*Pipeline
	*Intake
	clock    *testClock
	triples  *triplestore.Store
	full     atomic.Bool // holds the crawl
	db       *kv.DB
	dial     atomic.Pointer[func(address string) error] // asked before each connection, may be nil
	redirect atomic.Pointer[string]                     // where all connections go instead; may be nil
}

// connect connects unless dial has an error for it.
func (n *node) connect(ctx context.Context, network, address string) (net.Conn, error) {
	if dial := n.dial.Load(); dial != nil {
		if err := (*dial)(address); err != nil {
			return nil, err
		}
	}
	if to := n.redirect.Load(); to != nil {
		address = *to
	}
	return new(net.Dialer).DialContext(ctx, network, address)
}

// dialInVisit calls check in the goroutine of the visit, not in one of net/http, so that it may panic.
func (n *node) dialInVisit(t *testing.T, check func(address string) error) {
	t.Helper()
	n.Pipeline.Gate = politeness.New(politeness.Options{DB: n.db, Delay: -1,
		Fetch: func(ctx context.Context, r fetch.Request) (*fetch.Exchange, error) {
			if err := check(strings.TrimPrefix(r.URL, "http://")); err != nil {
				return nil, err
			}
			return n.Pipeline.Fetch(ctx, r)
		}})
}

// contextUntil returns a context that ends when a condition holds, or after a minute.
func contextUntil(t *testing.T, done func() bool) (context.Context, func()) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	var group sync.WaitGroup
	group.Go(func() {
		for tick := time.NewTicker(5 * time.Millisecond); ctx.Err() == nil; <-tick.C {
			if done() {
				cancel()
			}
		}
	})
	return ctx, func() { cancel(); group.Wait() }
}

func newNode(t *testing.T) *node {
	t.Helper()
	return newNodeIn(t, t.TempDir(), content.Options{NoSync: true, MinFree: -1})
}

// newNodeIn returns a node with its packs in a directory.
func newNodeIn(t *testing.T, packs string, options content.Options) *node {
	t.Helper()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	n, closeNode := newNodeOf(t, db, packs, options)
	t.Cleanup(closeNode)
	return n
}

// newNodeOf returns a node with a database, and a function that closes both.
func newNodeOf(t *testing.T, db *kv.DB, packs string, options content.Options) (*node, func()) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	clock := &testClock{base: time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC), set: time.Now()}
	triples, err := triplestore.Open(db, triplestore.Options{})
	must(err)
	bytes, err := content.Open(packs, db, options)
	must(err)
	bodies, err := spool.New(t.TempDir(), spool.Options{})
	must(err)
	n := &node{clock: clock, triples: triples, db: db}
	queue, err := frontier.New(db,
		frontier.Options{Now: clock.now, Hold: n.short, Recall: func(key string) (frontier.Recalled, bool, error) { return n.Recall(key) }})
	must(err)
	fetcher := fetch.New(fetch.Options{Spool: bodies, AllowPrivateHosts: true, Dial: n.connect})
	arc := archive.New(ns.Mint{Base: "http://archive.example/"}, db, triples, bytes)
	closeNode := func() {
		fetcher.Close()
		must(errors.Join(bytes.Close(), triples.Close(), db.Close()))
	}
	limits := schedule.Limits{Min: time.Hour, Max: 24 * time.Hour}
	n.Intake = &Intake{Archive: arc, Frontier: queue, Clock: clock.now}
	n.Pipeline = &Pipeline{
		Archive: arc, Frontier: queue, Fetcher: fetcher, Clock: clock.now, Log: slog.New(slog.DiscardHandler), Workers: 4,
		Gate: politeness.New(politeness.Options{DB: db, Delay: -1,
			Fetch: func(ctx context.Context, r fetch.Request) (*fetch.Exchange, error) {
				return n.Pipeline.Fetch(ctx, r)
			}}),
		Schedule:   schedule.PaperRule(limits),
		Processors: make(chan struct{}, 2),
	}
	n.examineWith(examiner(t))
	return n, closeNode
}

// restart drops what the frontier and the gate have in memory.
func (n *node) restart(t *testing.T) {
	t.Helper()
	queue, err := frontier.New(n.db, frontier.Options{Now: n.clock.now, Hold: n.short, Recall: n.Recall})
	if err != nil {
		t.Fatal(err)
	}
	n.Intake.Frontier, n.Pipeline.Frontier = queue, queue
	n.Pipeline.Gate = politeness.New(politeness.Options{DB: n.db, Delay: -1, Fetch: n.Pipeline.Fetch})
}

// short returns why no leases are granted.
func (n *node) short() string {
	if n.full.Load() {
		return "the disk is full"
	}
	return n.Pipeline.Outage()
}

func (n *node) add(t *testing.T, urls ...string) {
	t.Helper()
	var seeds []catalog.Seed
	for _, u := range urls {
		seeds = append(seeds, catalog.Seed{URL: u, Portal: "http://portal.example/", Dataset: "http://portal.example/d",
			Format: strings.ToUpper(u[strings.LastIndex(u, ".")+1:])})
	}
	if _, err := n.Add(t.Context(), seeds); err != nil {
		t.Fatal(err)
	}
}

// crawl visits what is due and returns the reports by path.
func (n *node) crawl(t *testing.T, opts RunOptions) map[string]Report {
	t.Helper()
	reports := map[string]Report{}
	opts.Once = true
	opts.Report = func(r Report) { reports[r.URL[strings.LastIndex(r.URL, "/"):]] = r }
	if _, err := n.Run(t.Context(), opts); err != nil {
		t.Fatal(err)
	}
	return reports
}

func TestAVisitKeepsChangesAndRecordsEverythingElse(t *testing.T) {
	t.Parallel()
	s, n := newSite(t), newNode(t)
	s.set("/robots.txt", "User-agent: *\nDisallow: /secret\n")
	s.set("/a.csv", "id,name\n1,Ada\n2,Bob\n")
	s.set("/error.csv", "<!DOCTYPE html><html><title>Sorry</title><p>not here</html>")
	s.set("/secret.csv", "x")
	n.add(t, s.URL+"/a.csv", s.URL+"/gone.csv", s.URL+"/error.csv", s.URL+"/secret.csv")
	got := n.crawl(t, RunOptions{})
	for path, want := range map[string]Report{
		"/a.csv":      {Outcome: catalog.Archived, Status: 200, Versions: 1, DetectedType: "text/csv"},
		"/gone.csv":   {Outcome: catalog.NoVersion, ErrorClass: catalog.ErrHTTPStatus, Status: 404},
		"/error.csv":  {Outcome: catalog.NoVersion, ErrorClass: catalog.ErrSoft404, Status: 200},
		"/secret.csv": {Outcome: catalog.RobotsDenied},
	} {
		r := got[path]
		if r.Outcome != want.Outcome || r.ErrorClass != want.ErrorClass || r.Status != want.Status || r.Versions != want.Versions ||
			r.DetectedType != want.DetectedType {
			t.Errorf("%s: %+v, want %+v", path, r, want)
		}
	}
	if s.asked("/secret.csv") != 0 {
		t.Error("a path that robots.txt forbids was asked for")
	}
	if again := n.crawl(t, RunOptions{}); len(again) != 0 {
		t.Errorf("nothing is due, yet %v was fetched", again)
	}
	n.clock.advance(48 * time.Hour)
	if r := n.crawl(t, RunOptions{})["/a.csv"]; r.Outcome != catalog.Unchanged || r.Status != 304 {
		t.Errorf("the same file again: %+v, want a 304", r)
	}
	s.set("/a.csv", "id,name\n1,Ada\n2,Bob\n3,Cyd\n")
	n.clock.advance(48 * time.Hour)
	if r := n.crawl(t, RunOptions{})["/a.csv"]; r.Outcome != catalog.Archived || r.Versions != 2 {
		t.Errorf("the changed file: %+v, want version 2", r)
	}
	acts, err := n.Pipeline.Archive.Activities(t.Context(), catalog.ActivityQuery{URL: s.URL + "/a.csv"})
	var outcomes []catalog.Outcome
	for _, a := range acts {
		outcomes = append(outcomes, a.Outcome)
	}
	if want := []catalog.Outcome{catalog.Archived, catalog.Unchanged, catalog.Archived}; err != nil || !slices.Equal(outcomes, want) {
		t.Errorf("history %v, %v; want %v", outcomes, err, want)
	}
}

func TestASchedulePutsTheNextVisitIntoTheSameTransaction(t *testing.T) {
	t.Parallel()
	s, n := newSite(t), newNode(t)
	s.set("/a.csv", "a,b\n1,2\n")
	n.add(t, s.URL+"/a.csv")
	n.crawl(t, RunOptions{})
	u, err := n.Pipeline.Frontier.Get(s.URL + "/a.csv")
	if err != nil || len(u.History) != 1 || !u.History[0].Changed || !u.Due.After(n.clock.now()) || u.Why == "" {
		t.Errorf("frontier after the visit: %+v, %v", u, err)
	}
}

func TestACrawlThatIsCutOffGivesItsJobsBack(t *testing.T) {
	t.Parallel()
	s, n := newSite(t), newNode(t)
	for i := range 20 {
		s.set(fmt.Sprintf("/%d.csv", i), fmt.Sprintf("a,b\n1,%d\n", i))
		n.add(t, fmt.Sprintf("%s/%d.csv", s.URL, i))
	}
	ctx, cancel := context.WithCancel(t.Context())
	first := 0
	_, err := n.Run(ctx, RunOptions{Report: func(Report) {
		if first++; first == 3 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("run: %v, want context.Canceled", err)
	}
	rest := n.crawl(t, RunOptions{})
	if first+len(rest) < 20 {
		t.Errorf("%d fetched before, %d after the cut: some of 20 were lost", first, len(rest))
	}
	stats, err := n.Pipeline.Archive.Stats(t.Context())
	if err != nil || stats.Versions != 20 {
		t.Errorf("%d versions, %v; want 20", stats.Versions, err)
	}
}

func TestAPauseEndsTheVisitsOfAHostAfterTheOneUnderWay(t *testing.T) {
	t.Parallel()
	s, n := newSite(t), newNode(t)
	for i := range 20 {
		s.set(fmt.Sprintf("/%d.csv", i), fmt.Sprintf("a,b\n1,%d\n", i))
		n.add(t, fmt.Sprintf("%s/%d.csv", s.URL, i))
	}
	fetched := 0
	_, err := n.Run(t.Context(), RunOptions{Once: true, Report: func(Report) {
		if fetched++; fetched == 3 {
			if err := n.Pipeline.Frontier.Pause(t.Context(), "for the test"); err != nil {
				t.Error(err)
			}
		}
	}})
	if w, why := n.Pipeline.Waits(1); why != nil ||
		!strings.HasSuffix(w.String(), "files are due, and nothing is asked for: the crawl stands still: for the test") {
		t.Errorf("%s, %v", w, why)
	}
	_, missing := n.Run(t.Context(), RunOptions{URLs: []string{s.URL + "/unknown.csv"}})
	if missing == nil || !strings.Contains(missing.Error(), "'odarchive add "+s.URL+"/unknown.csv' registers it") {
		t.Errorf("an unknown URL: %v", missing)
	}
	if !errors.Is(err, frontier.ErrPaused) || fetched != 3 {
		t.Fatalf("%d fetches, %v; want 3, and that the crawl is paused", fetched, err)
	}
	if err := n.Pipeline.Frontier.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	if rest := n.crawl(t, RunOptions{}); len(rest) != 17 {
		t.Errorf("%d fetches after the pause, want 17", len(rest))
	}
}

func TestACrawlEndsAfterAsManyFetchesAsItMayMake(t *testing.T) {
	t.Parallel()
	s, n := newSite(t), newNode(t)
	for i := range 10 {
		s.set(fmt.Sprintf("/%d.csv", i), "a,b\n1,2\n")
		n.add(t, fmt.Sprintf("%s/%d.csv", s.URL, i))
	}
	if got := n.crawl(t, RunOptions{MaxFetches: 4}); len(got) != 4 {
		t.Errorf("%d fetches, want 4", len(got))
	}
	if got := n.crawl(t, RunOptions{URLs: []string{s.URL + "/9.csv"}}); len(got) != 1 || got["/9.csv"].Outcome == "" {
		t.Errorf("one URL asked for, got %v", got)
	}
}

func TestAHostThatAsksToBeLeftAloneIs(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	var mu sync.Mutex
	requests := 0
	busy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		mu.Lock()
		requests++
		mu.Unlock()
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(busy.Close)
	n.add(t, busy.URL+"/a.csv", busy.URL+"/b.csv", busy.URL+"/c.csv")
	got := n.crawl(t, RunOptions{})
	if requests != 1 || len(got) != 1 {
		t.Errorf("%d requests, reports %v; want one request and then silence", requests, got)
	}
	for _, r := range got {
		if r.Outcome != catalog.RetryLater {
			t.Errorf("outcome %s, want %s", r.Outcome, catalog.RetryLater)
		}
	}
}

func TestAWorkerVisitsOtherHostsWhileOneRests(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var order []string
	n := newNode(t)
	n.Workers = 1
	// much longer than three visits, also on a slow machine
	n.Gate = politeness.New(politeness.Options{Fetch: n.Fetcher.Fetch, Delay: 2 * time.Second})
	for _, host := range []string{"a", "b", "c"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/robots.txt" {
				http.NotFound(w, r)
				return
			}
			mu.Lock()
			order = append(order, host)
			mu.Unlock()
			fmt.Fprintf(w, "id,host\n1,%s%s\n", host, r.URL.Path)
		}))
		t.Cleanup(server.Close)
		n.add(t, server.URL+"/1.csv", server.URL+"/2.csv", server.URL+"/3.csv")
	}
	n.crawl(t, RunOptions{})
	if len(order) != 9 {
		t.Fatalf("asked %v, want nine files", order)
	}
	for round := range slices.Chunk(order, 3) {
		if slices.Sort(round); !slices.Equal(round, []string{"a", "b", "c"}) {
			t.Errorf("asked in the order %v: a host was waited for while others were due", order)
		}
	}
}

func TestAFileAskedForByNameIsWaitedFor(t *testing.T) {
	t.Parallel()
	s, n := newSite(t), newNode(t)
	n.Gate = politeness.New(politeness.Options{Fetch: n.Fetcher.Fetch, Delay: 300 * time.Millisecond})
	s.set("/a.csv", "a,b\n1,2\n")
	n.add(t, s.URL+"/a.csv")
	if got := n.crawl(t, RunOptions{URLs: []string{s.URL + "/a.csv"}}); got["/a.csv"].Outcome != catalog.Archived {
		t.Errorf("behind the pause after robots.txt: %+v, want it archived", got)
	}
}

func TestACrawlThatHasMadeAllItsFetchesDoesNotWaitForMore(t *testing.T) {
	t.Parallel()
	s, n := newSite(t), newNode(t)
	for i := range 3 {
		s.set(fmt.Sprintf("/%d.csv", i), "a,b\n1,2\n")
		n.add(t, fmt.Sprintf("%s/%d.csv", s.URL, i))
	}
	summary, err := n.Run(t.Context(), RunOptions{MaxFetches: 3})
	if err != nil || summary.Fetches != 3 {
		t.Errorf("%+v, %v; want three fetches and the end", summary, err)
	}
}

func TestBytesThatWereLostAreFetchedAgain(t *testing.T) {
	t.Parallel()
	s, n := newSite(t), newNode(t)
	s.set("/a.csv", "a,b\n1,2\n")
	n.add(t, s.URL+"/a.csv")
	n.crawl(t, RunOptions{})
	v, err := n.Pipeline.Archive.Latest(t.Context(), s.URL+"/a.csv")
	if err == nil {
		err = n.Pipeline.Archive.Bytes().Forget(t.Context(), v.Digests.SHA256)
	}
	if err != nil {
		t.Fatal(err)
	}
	n.clock.advance(48 * time.Hour)
	if r := n.crawl(t, RunOptions{})["/a.csv"]; r.Outcome != catalog.Unchanged || r.Status != 200 || r.Versions != 1 {
		t.Errorf("the file again: %+v, want it fetched whole and unchanged", r)
	}
	if _, ok, err := n.Pipeline.Archive.Bytes().Stat(v.Digests.SHA256); !ok || err != nil {
		t.Errorf("the bytes are not back: %v", err)
	}
}

func TestALongListOfURLsIsRegistered(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	var seeds []catalog.Seed
	for i := range 6000 {
		seeds = append(seeds, catalog.Seed{URL: fmt.Sprintf("http://h%d.example/%d.csv", i%7, i)})
	}
	if fresh, err := n.Add(t.Context(), seeds); err != nil || len(fresh) != 6000 {
		t.Fatalf("%d registered, %v", len(fresh), err)
	}
	if _, err := n.Add(t.Context(),
		append(seeds[:1:1], catalog.Seed{URL: "http://new.example/"}, catalog.Seed{URL: "no url"})); err == nil {
		t.Error("an address that is none was registered")
	}
	if _, err := n.Pipeline.Archive.Resource(t.Context(), "http://new.example/"); err == nil {
		t.Error("a list with an address that is none was registered in part")
	}
}

func TestAHostThatCannotOrMustNotBeReachedSaysSo(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	n.add(t, gone.URL+"/a.csv")
	if r := n.crawl(t, RunOptions{})["/a.csv"]; r.Outcome != catalog.NoVersion || r.ErrorClass != catalog.ErrNetwork {
		t.Errorf("nobody listens: %+v, want no-version, network", r)
	}
	s, guarded := newSite(t), newNode(t)
	bodies, err := spool.New(t.TempDir(), spool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	guarded.Fetcher = fetch.New(fetch.Options{Spool: bodies})
	t.Cleanup(guarded.Fetcher.Close)
	guarded.Gate = politeness.New(politeness.Options{Fetch: guarded.Fetcher.Fetch, Delay: -1})
	s.set("/b.csv", "a,b\n1,2\n")
	guarded.add(t, s.URL+"/b.csv")
	if r := guarded.crawl(t, RunOptions{})["/b.csv"]; r.Outcome != catalog.Blocked || r.ErrorClass != catalog.ErrForbiddenTarget ||
		len(s.requests) != 0 {
		t.Errorf("a private address: %+v after %d requests, want it blocked", r, len(s.requests))
	}
}

// RFC 9309, 2.3.1.4: if a server answers with 500 to 599, complete disallow is assumed. No file was asked for then, and
// nothing is known of them.
func TestFilesOfAHostWhoseRobotsFileCannotBeReadAreNotVisited(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	var broken atomic.Bool
	broken.Store(true)
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/robots.txt" && broken.Load():
			asked++
			http.Error(w, "no", http.StatusServiceUnavailable)
		case r.URL.Path == "/robots.txt":
			http.NotFound(w, r)
		default:
			fmt.Fprint(w, "a,b\n1,2\n")
		}
	}))
	defer server.Close()
	n.add(t, server.URL+"/a.csv", server.URL+"/b.csv", server.URL+"/c.csv")
	if reports := n.crawl(t, RunOptions{}); len(reports) > 0 {
		t.Errorf("visits were made: %v", reports)
	}
	s, err := n.Pipeline.Archive.Stats(t.Context())
	if err != nil || s.Visits != 0 || asked != 1 {
		t.Errorf("%d visits are counted, after %d requests for robots.txt; %v", s.Visits, asked, err)
	}
	w, err := n.Waits(9)
	if err != nil || w.Due != 3 || w.Askable != 0 || len(w.Hosts) != 1 {
		t.Fatalf("waits %+v, %v", w, err)
	}
	h := w.Hosts[0]
	const why = "cannot be read (HTTP/1.1 503 Service Unavailable"
	if text := h.String(); h.Why != politeness.WhyUnread || h.Due != 3 || !strings.Contains(text, why) {
		t.Errorf("%+v: %s", h, text)
	}
	broken.Store(false)
	n.clock.advance(h.Until.Sub(n.clock.now()) + time.Second)
	n.Pipeline.Gate = politeness.New(politeness.Options{Delay: -1, Fetch: n.Pipeline.Fetch}) // which forgets the file
	if reports := n.crawl(t, RunOptions{}); len(reports) != 3 {
		t.Errorf("when it can be read: %v", reports)
	}
}

func TestURLsWithMoreToSayThanATransactionHoldsAreRegisteredInParts(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	seeds := make([]catalog.Seed, SeedsPerTxn)
	for i := range seeds {
		seeds[i] = catalog.Seed{URL: fmt.Sprintf("http://a.example/%d", i), Title: strings.Repeat("long ", 2000),
			Portal: "http://p.example/", Dataset: fmt.Sprintf("http://p.example/%d", i/2)}
	}
	fresh, err := n.Add(t.Context(), seeds)
	if err != nil || len(fresh) != len(seeds) || slices.Contains(fresh, false) {
		t.Fatalf("%d told of, %v", len(fresh), err)
	}
	if s, err := n.Intake.Frontier.Stats(); err != nil || s.URLs != len(seeds) {
		t.Errorf("the frontier has %d, %v", s.URLs, err)
	}
	if fresh, err = n.Add(t.Context(), seeds); err != nil || slices.Contains(fresh, true) {
		t.Errorf("again: %v", err)
	}
	if f, err := n.Intake.Archive.Stats(t.Context()); err != nil || f.Resources != len(seeds) || f.Datasets != len(seeds)/2 {
		t.Errorf("counted %+v, %v", f, err)
	}
}

// writingRule is a schedule that writes to the database. Inside a transaction that writes, it would block.
type writingRule struct {
	schedule.Rule
	db     *kv.DB
	failed atomic.Pointer[error]
}

func (r *writingRule) Next(key string, declared time.Duration, history []schedule.Visit, now time.Time) (time.Time, string) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	written := make(chan error, 1)
	go func() {
		written <- r.db.Update(ctx, func(txn *kv.Txn) error { return txn.Set(kv.SpaceMeta, []byte("a test's"), nil) })
	}()
	var err error
	select {
	case err = <-written:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		r.failed.Store(&err)
	}
	return r.Rule.Next(key, declared, history, now)
}

func TestTheScheduleIsAskedBeforeTheTransaction(t *testing.T) {
	t.Parallel()
	s, n := newSite(t), newNode(t)
	s.set("/a.csv", "id,name\n1,Ada\n2,Bob\n")
	s.set("/error.csv", "<!DOCTYPE html><html><title>Sorry</title><p>not here</html>")
	n.add(t, s.URL+"/a.csv", s.URL+"/error.csv", s.URL+"/gone.csv")
	rule := &writingRule{Rule: n.Schedule, db: n.db}
	n.Schedule = rule
	for range 2 {
		if got := n.crawl(t, RunOptions{}); len(got) != 3 {
			t.Errorf("visited %v", got)
		}
		n.clock.advance(400 * 24 * time.Hour)
	}
	if err := rule.failed.Load(); err != nil {
		t.Errorf("the schedule could not write: %v", *err)
	}
}
