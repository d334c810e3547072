package ui_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/crawler"
	"odarchive/crawler/archive/series"
	"odarchive/crawler/catalog"
	"odarchive/crawler/copies/dispatch"
	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/queue/scope"
	"odarchive/sparqlapi/operate/access"
	"odarchive/ui"
)

// operated is a crawl that is held or not, with the rules of its scope.
type operated struct {
	world *world
	rules []scope.Listed
}

func (o *operated) Pause(_ context.Context, why string) error {
	o.world.status.Held = "paused: " + why
	return nil
}

func (o *operated) Resume(context.Context) error {
	o.world.status.Held = ""
	return nil
}

func (o *operated) List(_ string, limit int) (all []scope.Listed, next string, err error) {
	if len(o.rules) > limit {
		return o.rules[:limit], "more", nil
	}
	return o.rules, "", nil
}

func (o *operated) Change(_ context.Context, add bool, why string, rules ...*scope.Rule) (n int, err error) {
	for _, r := range rules {
		action := "deny"
		if r.Allow {
			action = "allow"
		}
		at := slices.IndexFunc(o.rules, func(l scope.Listed) bool { return !l.Settings && l.Action == action && l.Rule == r.Text })
		switch {
		case add && at < 0:
			o.rules, n = append(o.rules, scope.Listed{Action: action, Rule: r.Text, Why: why, At: o.world.now}), n+1
		case !add && at >= 0:
			o.rules, n = slices.Delete(o.rules, at, at+1), n+1
		}
	}
	return n, nil
}

func (o *operated) Test(q scope.Question) string {
	if strings.Contains(q.URL, "denied") {
		return "the scope denies host:denied.example"
	}
	return ""
}

// operationOf is what the page of operation reads of a world.
func operationOf(w *world) *ui.Operation {
	o := &operated{world: w, rules: []scope.Listed{{Action: "deny", Rule: "host:settings.example", Settings: true}}}
	return &ui.Operation{
		Series: func(from, _ time.Time, _ time.Duration) ([]series.Slot, error) {
			return []series.Slot{{At: from, Visits: 3, Errors: map[catalog.ErrorClass]int64{catalog.ErrHTTPStatus: 2}}}, nil
		},
		Orders:  func(int) ([]frontier.Note, error) { return nil, nil },
		Refused: func() []scope.Refusal { return nil },
		Hosts: func(after string, _ int) ([]crawler.HostStatus, error) {
			if after != "" {
				return nil, nil
			}
			return []crawler.HostStatus{{Host: "idle.example", State: "idle"},
				{Host: "slow.example", State: "waiting", Wait: "retry-after", Due: 7, Next: w.now.Add(time.Hour)},
				{Host: "half.example", State: "idle",
					Closed: []crawler.HostWait{
						{Door: "ftp://half.example", Until: w.now.Add(time.Hour), Why: "back-off", Failures: 3, Failure: "refused"}}}}, nil
		},
		Space: func() (ui.Space, error) {
			return ui.Space{Parts: []ui.SpacePart{{Name: "files", Bytes: 5 << 20}}, Free: 3 << 30, Known: true}, nil
		},
		Crawling: o, Scope: o,
	}
}

func TestTheOperationIsShownAndOrderedOnAPage(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.status.Internal = crawler.Internal{Count: 1,
		Newest: []catalog.InternalFailure{{URL: "https://a.example/<b>.csv", Why: "it took too long", Times: 3, Kept: true}}}
	h := siteOf(w, func(o *ui.Options) { o.Operation = operationOf(w) })
	page := body(t, get(t, h, "/operation"))
	for _, want := range []string{"slow.example", "retry-after", "<code>ftp://half.example</code> only", "3 failures in a row: refused",
		"https://a.example/&lt;b&gt;.csv", "it took too long", "<dt>Free</dt>", "<dt>files</dt>", "host:settings.example", "http-status",
		`value="pause"`, `value="deny"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(page, "idle.example") {
		t.Error("the page shows a host that nobody waits for")
	}
	form := func(order, rule, why, token string) url.Values {
		return url.Values{"order": {order}, "rule": {rule}, "why": {why}, "token": {token}}
	}
	for _, c := range []struct {
		form   url.Values
		status int
		want   string
	}{
		{form("pause", "", "", ""), 401, "token of this server is missing"},
		{form("pause", "", "", "wrong"), 403, "not the token of this server"},
		{form("pause", "", "the disk <is> changed", "right"), 200, "on hold:</strong> paused: the disk &lt;is&gt; changed"},
		{form("resume", "", "", "right"), 200, "The crawl goes on."},
		{form("deny", "host:new.example", "", ""), 401, `value="host:new.example"`},
		{form("deny", "host:new.example", "too <large>", "right"), 200, "deny host:new.example&#34; holds from now on"},
		{form("deny", "host:new.example", "", "right"), 200, "was there already"},
		{form("allow", "<script>", "why \u202e not", "right"), 400, `value="why`},
		{form("deny", "pattern:(", "", "right"), 400, `value="pattern:("`},
		{form("deny", strings.Repeat("x", 10<<10), "", "right"), 400, "bytes, and at most"},
		{form("deny", "host:a.example", strings.Repeat("y", 10<<10), "right"), 400, "the reason has 10240 bytes"},
		{form("deny", "", "", "right"), 400, `role="alert"`},
		{form("remove", "deny host:new.example", "", "right"), 200, "is removed"},
		{form("remove", "deny host:new.example", "", "right"), 400, "there is no rule"},
		{form("remove", "deny host:settings.example", "", "right"), 400, "those of the settings are removed there"},
		{form("explode", "", "", "right"), 400, "there is no order"},
	} {
		if w := post(h, "/operation", c.form); w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%.80v: %d, lacks %q", c.form, w.Code, c.want)
		}
	}
	for question, want := range map[string]string{"https://denied.example/x": "It is not fetched: the scope denies",
		"https://fine.example/": "It is in scope", "<b>": `role="alert"`} {
		if page := body(t, get(t, h, "/operation?test="+url.QueryEscape(question))); !strings.Contains(page, want) {
			t.Errorf("%s: the page lacks %s", question, want)
		}
	}
}

func TestWorkersAreShownOnThePageOfOperation(t *testing.T) {
	t.Parallel()
	w := newWorld()
	h := siteOf(w, func(o *ui.Options) { o.Operation = operationOf(w) })
	if page := body(t, get(t, h, "/operation")); strings.Contains(page, `id="workers"`) {
		t.Error("a server without workers shows a table of them")
	}
	w.status.Workers = &crawler.Workers{}
	page := body(t, get(t, h, "/operation"))
	for _, want := range []string{"No worker was heard of lately", "Workers cannot reach this server"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	status := dispatch.Status{Counts: dispatch.Counts{Granted: 12, Expired: 3}}
	for i := range 60 {
		status.Workers = append(status.Workers,
			dispatch.WorkerInfo{Name: fmt.Sprintf("machine-%d/<7>", i), Joined: w.now.Add(-2 * time.Hour),
				Seen: w.now.Add(-3 * time.Second), Leases: 2, Hosts: []string{"a.example"}, Done: 77})
	}
	w.status.Workers = &crawler.Workers{Served: true, Status: status}
	if page = body(t, get(t, h, "/operation")); !strings.Contains(page, ">worker 1<") || strings.Contains(page, "machine-") {
		t.Error("anybody is told the names of machines")
	}
	directs := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(access.With(r.Context(), access.Caller{Rights: access.Crawl})))
	})
	page = body(t, get(t, directs, "/operation"))
	for _, want := range []string{"machine-0/&lt;7&gt;", "2 h ago", "a.example</span>, …", ">77<", "10 more are not shown",
		"12 leases were granted", "3 ended"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(page, "machine-50/") || strings.Contains(page, "cannot reach") {
		t.Error("the page shows more than it should")
	}
}

func TestWithoutACrawlThePageOfOperationSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld()
	u, err := ui.New(ui.Options{Archive: w, Mint: w.mint})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { u.Close() })
	page := body(t, get(t, u.Handler(), "/operation"))
	if !strings.Contains(page, "Nothing is known of the crawl.") || strings.Contains(page, "<form class=\"orders\"") {
		t.Errorf("%.2000s", page)
	}
}
