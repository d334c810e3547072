package crawl

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"odarchive/cmd/internal/config"
	"odarchive/cmd/internal/store"
	"odarchive/crawler"
	"odarchive/crawler/follow/campaign"
	"odarchive/crawler/follow/discover"
	"odarchive/crawler/harvest/webapi"
)

// openIn opens the archive of a directory. The returned function closes it.
func openIn(t *testing.T, dir string) (*Crawl, func()) {
	t.Helper()
	cfg := config.Defaults()
	cfg.Data, cfg.Fetch.AllowPrivateHosts, cfg.Fetch.HostDelay = dir, true, 0
	s, err := store.Open(t.Context(), cfg, slog.New(slog.DiscardHandler), store.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	return c, func() {
		t.Helper()
		if err := errors.Join(c.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	}
}

// paged is an interface of ten pages with a dataset each. It counts requests, and calls at before it answers page n.
type paged struct {
	asked atomic.Int64
	at    func(page int, w http.ResponseWriter) (answered bool)
}

func (p *paged) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/list" {
		http.NotFound(w, r)
		return
	}
	p.asked.Add(1)
	page := 0
	fmt.Sscan(r.URL.Query().Get("page"), &page)
	if p.at != nil && p.at(page, w) {
		return
	}
	fmt.Fprintf(w, `{"items":[{"id":"d%d","name":"Set %d"}],"total":10}`, page, page)
}

func pagedDocument(url string) campaign.Document {
	return campaign.Document{Name: "sets", Kind: campaign.KindAPI, API: &webapi.Document{
		Base: url,
		Request: []webapi.Request{
			{Path: "/list", Items: "items", Total: "total", ID: "id", Paging: &webapi.Paging{Kind: "page", Parameter: "page"}}},
		Dataset: webapi.Dataset{ID: "id", Title: "name"},
	}}
}

func (p *paged) serve(t *testing.T) string {
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	return s.URL
}

func TestACampaignOverAnInterfaceIsPausedAndContinuesAtItsPageInAnotherProcess(t *testing.T) {
	t.Parallel()
	p := &paged{}
	url, dir := p.serve(t), t.TempDir()
	c, end := openIn(t, dir)
	p.at = func(page int, _ http.ResponseWriter) bool {
		if page == 4 {
			if _, err := c.Campaigns.Pause(context.Background(), "sets"); err != nil {
				t.Error(err)
			}
		}
		return false
	}
	if _, err := c.Campaigns.Run(t.Context(), pagedDocument(url)); err != nil {
		t.Fatal(err)
	}
	now, _, err := c.Follow(t.Context(), "sets", crawler.RunOptions{Once: true})
	if err != nil || now.State != campaign.Paused || p.asked.Load() > 6 || now.Progress == nil {
		t.Fatalf("%+v, %v, %d requests", now, err, p.asked.Load())
	}
	end()
	p.at = nil
	c, end = openIn(t, dir)
	defer end()
	before := p.asked.Load()
	// A request is counted before it is sent, so a pause between the two leaves one that is counted and was never sent.
	now, err = c.Campaigns.Resume(t.Context(), "sets")
	if err != nil || now.State != campaign.Running || now.Progress.Requests < int(before) || now.Progress.Requests > int(before)+1 {
		t.Fatalf("%+v, %v, after %d requests", now.Progress, err, before)
	}
	now, _, err = c.Follow(t.Context(), "sets", crawler.RunOptions{Once: true})
	if err != nil || now.State != campaign.Finished || now.Why != "" || now.Progress.State != "complete" || !now.Progress.Done ||
		now.Progress.Pages < 10 {
		t.Fatalf("%+v %+v, %v", now, now.Progress, err)
	}
	unsent := int64(now.Progress.Requests) - p.asked.Load()
	if again := p.asked.Load() - before; again > 7 || unsent < 0 || unsent > 1 {
		t.Errorf("%d requests after the pause, %d counted that were never sent", again, unsent)
	}
	if n := datasets(t, c); n != 10 {
		t.Errorf("%d datasets", n)
	}
}

// datasets returns the number of datasets in the graph of the only portal.
func datasets(t *testing.T, c *Crawl) int {
	t.Helper()
	list, err := c.Ledger.Harvests(t.Context(), time.Time{}, 100)
	if err != nil || len(list) == 0 {
		t.Fatalf("%v, %v", list, err)
	}
	n := 0
	for _, r := range list {
		n += r.Inserted.N()
	}
	return n
}

func TestARoundEndsWithItsBudgetAndTheNextContinues(t *testing.T) {
	t.Parallel()
	p := &paged{}
	d := pagedDocument(p.serve(t))
	d.API.MaxRequests = 4
	c, end := openIn(t, t.TempDir())
	defer end()
	for round, want := range []int{4, 8, 10} {
		if _, err := c.Campaigns.Run(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		now, _, err := c.Follow(t.Context(), "sets", crawler.RunOptions{Once: true})
		last := want == 10
		if err != nil || now.State != campaign.Finished || p.asked.Load() != int64(want) ||
			strings.Contains(now.Why, "the next round continues") == last || now.Round != round+1 {
			t.Fatalf("round %d: %+v, %v, %d requests", round+1, now, err, p.asked.Load())
		}
	}
	if n := datasets(t, c); n != 10 {
		t.Errorf("%d datasets", n)
	}
}

func TestAnotherDocumentEndsTheHarvestThatRuns(t *testing.T) {
	t.Parallel()
	p := &paged{}
	d := pagedDocument(p.serve(t))
	c, end := openIn(t, t.TempDir())
	defer end()
	p.at = func(page int, _ http.ResponseWriter) bool {
		if page == 2 && d.Graphs == false {
			d.Graphs = true
			if _, err := c.Campaigns.Run(context.Background(), d); err != nil {
				t.Error(err)
			}
		}
		return false
	}
	if _, err := c.Campaigns.Run(t.Context(), pagedDocument(d.API.Base)); err != nil {
		t.Fatal(err)
	}
	now, _, err := c.Follow(t.Context(), "sets", crawler.RunOptions{Once: true})
	if err != nil || now.State != campaign.Finished || now.Round != 2 || now.Edition != 2 || now.Counts.TasksDone != 1 {
		t.Fatalf("%+v, %v", now, err)
	}
	if n := datasets(t, c); n != 10 {
		t.Errorf("%d datasets", n)
	}
}

func TestAHostThatAsksToWaitIsNotAskedMeanwhile(t *testing.T) {
	t.Parallel()
	p := &paged{}
	limited := true
	p.at = func(page int, w http.ResponseWriter) bool {
		if page == 3 && limited {
			limited = false
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			return true
		}
		return false
	}
	c, end := openIn(t, t.TempDir())
	defer end()
	if _, err := c.Campaigns.Run(t.Context(), pagedDocument(p.serve(t))); err != nil {
		t.Fatal(err)
	}
	now, _, err := c.Follow(t.Context(), "sets", crawler.RunOptions{Once: true})
	if err != nil || now.State != campaign.Finished || now.Why != "" || p.asked.Load() != 11 {
		t.Fatalf("%+v, %v, %d requests", now, err, p.asked.Load())
	}
}

// TestADiscoveryIsACampaign discovers a small site, is paused, goes on in another process, and says what was found and
// why.
func TestADiscoveryIsACampaign(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	var stop atomic.Pointer[func()]
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page := func(links ...string) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, "<!doctype html><title>%s</title><body><main><ul>", r.URL.Path)
			for _, l := range links {
				fmt.Fprintf(w, `<li><a href="%s">data %s</a></li>`, l, l)
			}
			fmt.Fprint(w, "</ul></main></body>")
		}
		asked.Add(1)
		switch {
		case r.URL.Path == "/robots.txt":
			fmt.Fprint(w, "User-agent: *\nDisallow: /private/\n")
		case r.URL.Path == "/":
			page("/data/1", "/private/x")
		case strings.HasPrefix(r.URL.Path, "/data/"):
			n := 0
			fmt.Sscan(strings.TrimPrefix(r.URL.Path, "/data/"), &n)
			if f := stop.Load(); n == 6 && f != nil {
				(*f)()
			}
			links := []string{fmt.Sprintf("/files/table-%d.csv", n)}
			if n < 12 {
				links = append(links, fmt.Sprintf("/data/%d", n+1))
			}
			page(links...)
		case strings.HasPrefix(r.URL.Path, "/files/"):
			w.Header().Set("Content-Type", "text/csv")
			fmt.Fprintf(w, "a,b\n%s,1\n", r.URL.Path)
		case strings.HasPrefix(r.URL.Path, "/private/"):
			t.Errorf("%s was requested", r.URL.Path)
			fallthrough
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	dir := t.TempDir()
	c, end := openIn(t, dir)
	pause := func() {
		if _, err := c.Campaigns.Pause(context.Background(), "site"); err != nil {
			t.Error(err)
		}
	}
	stop.Store(&pause)
	d := campaign.Document{Name: "site", Kind: campaign.KindDiscover, Keywords: []string{"table"},
		Discover: &discover.Options{URL: s.URL, Budget: 200, Whole: true}}
	if _, err := c.Campaigns.Run(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	now, _, err := c.Follow(t.Context(), "site", crawler.RunOptions{Once: true})
	if err != nil || now.State != campaign.Paused {
		t.Fatalf("%+v, %v", now, err)
	}
	end()
	stop.Store(nil)
	c, end = openIn(t, dir)
	defer end()
	if _, err := c.Campaigns.Resume(t.Context(), "site"); err != nil {
		t.Fatal(err)
	}
	now, _, err = c.Follow(t.Context(), "site", crawler.RunOptions{Once: true})
	if err != nil || now.State != campaign.Finished || now.Progress == nil || !now.Progress.Done || now.Why != now.Progress.State {
		t.Fatalf("%s %q, %v, %.300s", now.State, now.Why, err, fmt.Sprintf("%+v", now.Progress))
	}
	p := now.Progress
	if p.Files != 12 || len(p.Finds) < 12 || p.Requests == 0 || p.Requests > p.Budget || p.Budget != 200 {
		t.Errorf("%+v", p)
	}
	for _, f := range p.Finds {
		if f.Page == "" || f.Why == "" || len(f.Path) == 0 {
			t.Errorf("not explained: %+v", f)
		}
	}
	if _, err := c.Run(t.Context(), crawler.RunOptions{Once: true}); err != nil { // a campaign ends with its search; files may be due
		t.Fatal(err)
	}
	stats, err := c.store.Archive.Stats(t.Context())
	if err != nil || stats.Versions < 12 {
		t.Errorf("%d versions of the files, %v", stats.Versions, err)
	}
}

func TestATitleOfMegabytesDoesNotHinderTheRecordOfProgress(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"items":[{"id":"d","name":"%s","file":"https://sets.example/a.csv"}],"total":1}`,
			strings.Repeat("long ", 2_000_000))
	}))
	t.Cleanup(s.Close)
	d := pagedDocument(s.URL)
	d.API.Request[0].Paging = nil
	d.API.Dataset.Distribution = []webapi.Distribution{{URL: "file", Title: "$item.name"}}
	c, end := openIn(t, t.TempDir())
	defer end()
	if _, err := c.Campaigns.Run(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Follow(t.Context(), "sets", crawler.RunOptions{Once: true}); err != nil {
		t.Fatal(err)
	}
	now, err := c.Campaigns.Get(t.Context(), "sets")
	if err != nil || now.Progress == nil || now.Progress.State != "complete" || now.Progress.Files != 1 || len(now.Progress.Finds) != 1 {
		t.Fatalf("%+v, %v", now, err)
	}
}

func TestAHostThatHasItselfWaitedForDoesNotHinderCampaignsAtOthers(t *testing.T) {
	t.Parallel()
	busy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "20000")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	t.Cleanup(busy.Close)
	other := &paged{}
	c, end := openIn(t, t.TempDir())
	defer end()
	for n := range 6 {
		d := pagedDocument(fmt.Sprintf("%s/%d", busy.URL, n))
		d.Name = fmt.Sprintf("a%d", n)
		if _, err := c.Campaigns.Run(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Campaigns.Run(t.Context(), pagedDocument(other.serve(t))); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	done := make(chan error, 1)
	go func() { done <- c.KeepCampaigns(ctx) }()
	state := campaign.Running
	for state == campaign.Running && ctx.Err() == nil {
		time.Sleep(50 * time.Millisecond)
		now, err := c.Campaigns.Get(t.Context(), "sets")
		if err != nil {
			t.Fatal(err)
		}
		if now.Progress != nil && now.Progress.Done {
			state = campaign.Finished
		}
	}
	stop()
	<-done
	if state == campaign.Running {
		t.Fatal("it waits with those of the busy host")
	}
}
