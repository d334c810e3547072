package operate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/crawler"
	"odarchive/crawler/archive/series"
	"odarchive/crawler/copies/backup"
	"odarchive/crawler/copies/dispatch"
	"odarchive/crawler/queue/frontier"
	"odarchive/sparqlapi/operate/access"
	"odarchive/sparqlapi/problem"
)

// fakeCrawl records its orders.
type fakeCrawl struct {
	injected []frontier.Injection
	ordered  []string
	held     string
}

func (c *fakeCrawl) Inject(_ context.Context, list []frontier.Injection) (int, error) {
	for _, i := range list {
		if i.URL == "bad" {
			return 0, fmt.Errorf("inject: %w", &frontier.BadURL{URL: i.URL, Err: errors.New(`"bad" is no URL`)})
		}
	}
	c.injected = append(c.injected, list...)
	return len(list), nil
}

func (c *fakeCrawl) Order(_ context.Context, o frontier.Order) (frontier.Ordered, error) {
	if slices.Contains(o.Targets, "bad") {
		return frontier.Ordered{}, &frontier.BadURL{URL: "bad", Err: errors.New(`"bad" is no URL`)}
	}
	what := o.Kind
	if o.Why != "" {
		what += ", " + o.Why + ":"
	}
	if o.Score != nil {
		what += fmt.Sprintf(" %v:", *o.Score)
	}
	if o.DryRun {
		what = "try " + what
	}
	c.ordered = append(c.ordered, what+" "+strings.Join(o.Targets, " "))
	return frontier.Ordered{URLs: len(o.Targets), Unknown: []string{}}, nil
}

func (c *fakeCrawl) Orders(limit int) ([]frontier.Note, error) {
	return []frontier.Note{{Number: 7, Order: "drop"}}[:min(1, limit)], nil
}

func (c *fakeCrawl) Pause(_ context.Context, why string) error { c.held = "paused: " + why; return nil }
func (c *fakeCrawl) Resume(context.Context) error              { c.held = ""; return nil }
func (c *fakeCrawl) Held() string                              { return c.held }

// fakeProgress has hosts h000 to h249.
type fakeProgress struct{ err error }

func (p fakeProgress) Status() (crawler.Status, error) {
	w := crawler.Workers{Status: dispatch.Status{Workers: []dispatch.WorkerInfo{{Name: "machine/7"}}}}
	return crawler.Status{URLs: 7, Workers: &w}, p.err
}

func (p fakeProgress) Hosts(after string, limit int) (list []crawler.HostStatus, err error) {
	for i := range 250 {
		if name := fmt.Sprintf("h%03d", i); name > after && len(list) < limit {
			list = append(list, crawler.HostStatus{Host: name, State: "idle"})
		}
	}
	return list, p.err
}

func (p fakeProgress) Host(name string) (crawler.HostStatus, bool, error) {
	return crawler.HostStatus{Host: name}, name == "h001", p.err
}

func (p fakeProgress) Series(from, to time.Time, step time.Duration) ([]series.Slot, error) {
	return []series.Slot{{At: from, Visits: int64(to.Sub(from) / step)}}, p.err
}

func ask(h func(http.ResponseWriter, *http.Request) error, method, address, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	problem.Handler(h)(w, httptest.NewRequest(method, address, strings.NewReader(body)))
	return w
}

func TestOrdersReachTheCrawl(t *testing.T) {
	t.Parallel()
	c := &fakeCrawl{}
	a := &ControlAPI{Crawl: c, Progress: fakeProgress{}}
	for _, step := range []struct {
		h                   func(http.ResponseWriter, *http.Request) error
		address, body, want string
	}{
		{a.Inject, "/crawl/inject", `[{"url":"http://a.example/","score":2.5},{"url":"http://b.example/","blacklisted":true}]`,
			`{"added":2,"given":2}`},
		{a.Inject, "/crawl/inject", `[]`, `{"added":0,"given":0}`},
		{a.Order("requeue"), "/crawl/requeue", `{"targets":["http://a.example/","b.example"]}`, `{"urls":2,"unknown":[]}`},
		{a.Order("drop"), "/crawl/drop", `{"targets":["b.example"],"why":"asked to"}`, `{"urls":1,"unknown":[]}`},
		{a.Order("boost"), "/crawl/boost", `{"targets":["pattern:/x/"],"score":3,"dryRun":true}`, `{"urls":1,"unknown":[]}`},
		{a.Inject, "/crawl/inject", `{"targets":["http://c.example/","mailto:x"],"score":2}`,
			`{"urls":1,"unknown":[],"bad":[{"index":1,"error":"not a URL that can be crawled: \"mailto:x\": the scheme \"mailto\" is not ` +
				`http, https or ftp"}]}`},
		{a.Pause, "/crawl/pause", `{"targets":["b.example"],"why":"asked to"}`, `{"urls":1,"unknown":[]}`},
		{a.Resume, "/crawl/resume", `{"targets":["b.example"]}`, `{"urls":1,"unknown":[]}`},
		{a.Orders, "/crawl/orders", "", `{"orders":[{"number":7,"at":"0001-01-01T00:00:00Z","order":"drop","urls":0,"done":false}]}`},
		{a.Pause, "/crawl/pause?why=night", "", `{"held":"paused: night"}`},
		{a.Resume, "/crawl/resume", "", `{"held":""}`},
	} {
		w := ask(step.h, "POST", step.address, step.body)
		if w.Code != 200 && w.Code != 207 || w.Header().Get("Content-Type") != "application/json" ||
			strings.TrimSpace(w.Body.String()) != step.want {
			t.Errorf("%s: %d %s, want %s", step.address, w.Code, w.Body, step.want)
		}
	}
	if len(c.injected) != 2 || *c.injected[0].Score != 2.5 || c.injected[0].Blacklisted != nil || !*c.injected[1].Blacklisted {
		t.Errorf("injected %+v", c.injected)
	}
	if want := []string{"requeue http://a.example/ b.example", "drop, asked to: b.example",
		"try boost 3: pattern:/x/", "inject 2: http://c.example/", "pause, asked to: b.example",
		"resume b.example"}; !slices.Equal(c.ordered, want) {
		t.Errorf("ordered %q", c.ordered)
	}
}

func TestAnInjectionLeavesOutMalformedURLsUnlessItIsStrict(t *testing.T) {
	t.Parallel()
	c := &fakeCrawl{}
	a := &ControlAPI{Crawl: c}
	list := `[{"url":"http://a.example/"},{"url":"mailto:x"},{"url":"http://b.example/"}]`
	w := ask(a.Inject, "POST", "/crawl/inject", list)
	if w.Code != 207 || !strings.HasPrefix(w.Body.String(), `{"added":2,"given":3,"bad":[{"index":1,"error":"`) || len(c.injected) != 2 {
		t.Errorf("%d %s, injected %+v", w.Code, w.Body, c.injected)
	}
	if w := ask(a.Inject, "POST", "/crawl/inject?strict=1", list); w.Code != 400 || len(c.injected) != 2 {
		t.Errorf("strict: %d %s, injected %+v", w.Code, w.Body, c.injected)
	}
}

func TestAnOrderLeavesOutMalformedTargetsUnlessItIsStrict(t *testing.T) {
	t.Parallel()
	c := &fakeCrawl{}
	a := &ControlAPI{Crawl: c}
	body := `{"targets":["http://a.example/","ftp:x y","not a host/","b.example",""],"why":"w"}`
	for name, h := range map[string]func(http.ResponseWriter, *http.Request) error{"requeue": a.Order("requeue"), "drop": a.Order("drop")} {
		w := ask(h, "POST", "/crawl/"+name, body)
		var done struct {
			URLs int
			Bad  []struct{ Index int }
		}
		if err := json.Unmarshal(w.Body.Bytes(), &done); err != nil || w.Code != 207 || done.URLs != 2 ||
			fmt.Sprint(done.Bad) != "[{1} {2} {4}]" {
			t.Errorf("%s: %d %s, %v", name, w.Code, w.Body, err)
		}
		before := len(c.ordered)
		if w := ask(h, "POST", "/crawl/"+name+"?strict=1", body); w.Code != 400 || len(c.ordered) != before {
			t.Errorf("%s, strict: %d %s, ordered %q", name, w.Code, w.Body, c.ordered)
		}
	}
	if want := []string{"drop, w: http://a.example/ b.example",
		"requeue, w: http://a.example/ b.example"}; !slices.Equal(slices.Sorted(slices.Values(c.ordered)), want) {
		t.Errorf("ordered %q", c.ordered)
	}
}

func TestBadOrdersAreProblemsAndDoNothing(t *testing.T) {
	t.Parallel()
	c := &fakeCrawl{}
	a := &ControlAPI{Crawl: c, Progress: fakeProgress{}, Backup: nil}
	for _, step := range []struct {
		h             func(http.ResponseWriter, *http.Request) error
		address, body string
		status        int
		says          string
	}{
		{a.Inject, "/crawl/inject", `{"url":"http://a.example/"}`, 400, "expected ["}, {a.Inject, "/crawl/inject", ``, 400, "expected ["},
		{a.Inject, "/crawl/inject", `[{"url":"bad"}]`, 400, "no scheme"},
		{a.Order("requeue"), "/crawl/requeue", `{}`, 400, "targets"},
		{a.Order("requeue"), "/crawl/requeue", `["a.example"]`, 400, "targets"},
		{a.Order("requeue"), "/crawl/requeue", `{"targets":["bad"]}`, 400, "is no URL"},
		{a.Order("drop"), "/crawl/drop", `{"targets":[],"why":"x"}`, 400, "targets"},
		{a.Order("drop"), "/crawl/drop", `{"targets":["bad"]}`, 400, "is no URL"},
		{a.Inject, "/crawl/inject", strings.Repeat(" ", maxBody+1), 413, "bytes"},
		{a.Copy, "/backup", `{"a":1}`, 400, "backup --json"}, {a.Copy, "/backup", `x`, 400, "backup --json"},
	} {
		if w := ask(step.h, "POST", step.address, step.body); w.Code != step.status ||
			w.Header().Get("Content-Type") != problem.ContentType || !strings.Contains(w.Body.String(), step.says) {
			t.Errorf("%s %.40s: %d %s, want %d with %q", step.address, step.body, w.Code, w.Body, step.status, step.says)
		}
	}
	if len(c.injected)+len(c.ordered) > 0 {
		t.Errorf("bad orders were carried out: %v %v", c.injected, c.ordered)
	}
}

func TestHostsComeInPages(t *testing.T) {
	t.Parallel()
	a := &ControlAPI{Progress: fakeProgress{}}
	var seen []string
	sizes := ""
	for after, more := "", true; more; {
		var page struct {
			Hosts []crawler.HostStatus
			After string
		}
		if err := json.Unmarshal(ask(a.Hosts, "GET", "/crawl/hosts?after="+after, "").Body.Bytes(), &page); err != nil {
			t.Fatal(err)
		}
		for _, h := range page.Hosts {
			seen = append(seen, h.Host)
		}
		sizes += fmt.Sprint(len(page.Hosts), " ")
		after, more = page.After, page.After != ""
	}
	if sizes != "100 100 50 " || len(slices.Compact(seen)) != 250 || !slices.IsSorted(seen) {
		t.Errorf("pages of %s: %q", sizes, seen)
	}
	for address, want := range map[string]string{"?host=h001": `"host":"h001"`, "?limit=1": `"after":"h000"`,
		"?limit=250&after=h248": `"h249"`} {
		if w := ask(a.Hosts, "GET", "/crawl/hosts"+address, ""); w.Code != 200 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s", address, w.Code, w.Body)
		}
	}
	for address, status := range map[string]int{"?host=nowhere": 404, "?limit=0": 400, "?limit=10001": 400, "?limit=x": 400} {
		if w := ask(a.Hosts, "GET", "/crawl/hosts"+address, ""); w.Code != status {
			t.Errorf("%s: %d, want %d", address, w.Code, status)
		}
	}
	if w := ask(a.Status, "GET", "/crawl/status", ""); w.Code != 200 || !strings.Contains(w.Body.String(), `"urls":7`) {
		t.Errorf("status: %d %s", w.Code, w.Body)
	}
	for rights, want := range map[access.Right]string{0: `"worker 1"`, access.Read | access.Update: `"worker 1"`,
		access.Crawl: `"machine/7"`, access.Admin: `"machine/7"`} {
		as := func(w http.ResponseWriter, r *http.Request) error {
			return a.Status(w, r.WithContext(access.With(r.Context(), access.Caller{Rights: rights})))
		}
		if w := ask(as, "GET", "/crawl/status", ""); !strings.Contains(w.Body.String(), want) {
			t.Errorf("the name of a worker for the rights %v: %s, want %s", rights.Names(), w.Body, want)
		}
	}
	a.Progress = fakeProgress{errors.New("closed")}
	for _, h := range []func(http.ResponseWriter, *http.Request) error{a.Status, a.Hosts} {
		if w := ask(h, "GET", "/", ""); w.Code != 500 {
			t.Errorf("a frontier that fails: %d", w.Code)
		}
	}
}

func TestABackupFollowsOnTheOneThatIsPosted(t *testing.T) {
	t.Parallel()
	var got *backup.Info
	a := &ControlAPI{Backup: func(_ context.Context, w io.Writer, since *backup.Info) error {
		got = since
		_, err := w.Write([]byte("copy"))
		return err
	}}
	if w := ask(a.Copy, "POST", "/backup", ""); w.Code != 200 || w.Body.String() != "copy" || got != nil {
		t.Errorf("a full backup: %d %q after %v", w.Code, w.Body, got)
	}
	if w := ask(a.Copy, "POST", "/backup", `{"id":"abc"}`); w.Code != 200 || got == nil || got.ID != "abc" {
		t.Errorf("a following backup: %d after %+v", w.Code, got)
	}
}

func TestTheSeriesIsAskedForByTime(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)
	a := &ControlAPI{Progress: fakeProgress{}, Now: func() time.Time { return now }}
	for address, want := range map[string]string{
		"/crawl/series": `{"slots":[{"at":"2026-11-20T06:00:00Z","visits":24,`,
		"/crawl/series?from=2026-11-21T00:00:00Z&to=2026-11-21T01:00:00Z&step=5m": `{"slots":[{"at":"2026-11-21T00:00:00Z","visits":12,`,
		"/crawl/series?step=1s":                    "expected a time such as",
		"/crawl/series?from=yesterday":             "is not an RFC 3339 time",
		"/crawl/series?from=2027-01-01T00:00:00Z":  "before",
		"/crawl/series?step=-1h":                   "expected a time such as",
		"/crawl/series?from=-0001-01-01T00:00:00Z": "is not an RFC 3339 time",
	} {
		if w := ask(a.Series, "GET", address, ""); !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s", address, w.Code, w.Body)
		}
	}
}
