package ui_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"odarchive/crawler/follow/campaign"
	"odarchive/crawler/follow/discover"
	"odarchive/crawler/follow/relevance"
	"odarchive/crawler/follow/software"
	"odarchive/crawler/harvest/webapi"
	"odarchive/sparqlapi/operate/access"
	"odarchive/sparqlapi/problem"
	"odarchive/ui"
)

// campaigns is a store with campaigns of every kind, whose texts come from strangers. It notes orders.
type campaigns struct {
	mu     sync.Mutex // guards what follows
	orders []string
	begun  []campaign.Document
}

func (*campaigns) List(context.Context) ([]campaign.Campaign, error) {
	began := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	return []campaign.Campaign{
		{
			Document: campaign.Document{Name: "city", Seeds: []string{"https://city.example/?a=1&b=<i>"}, Scope: []string{"host"}, Depth: 3,
				Max: 1000, Graphs: true, Keywords: []string{"air <quality"}},
			State: campaign.Paused, Why: "paused by an order", Began: began, Round: 2, Counts: campaign.Counts{URLs: 1234, Pending: 5}},
		{
			Document: campaign.Document{Name: "www.city.example", Kind: campaign.KindDiscover,
				Discover: &discover.Options{URL: "https://www.city.example/", Keywords: []string{"trees", "<b>"}, Budget: 2000}},
			State: campaign.Running, Began: began, Round: 1,
			Progress: &discover.Progress{State: "reads pages", Requests: 431, Budget: 2000, Pages: 402, Files: 87, Queued: 1210,
				Expected: 14.2, Software: []string{"TYPO3 12"},
				Finds: []discover.Find{
					{URL: "https://www.city.example/fileadmin/budget-2026.csv", Title: "Budget <2026>",
						Page: "https://www.city.example/finances/budget", Score: .83, Requests: 428,
						Why: "the page lists files, and the link names a year",
						Path: []discover.Step{{URL: "https://www.city.example/", Text: ""},
							{URL: "https://www.city.example/finances", Text: "Finances <i>"}}},
					{URL: "http://data.city.example/trees.csv", Title: "", Page: "https://www.city.example/parks", Score: .41,
						Requests: 400},
				}}},
		{
			Document: campaign.Document{Name: "kaggle", Kind: campaign.KindAPI, Keywords: []string{"transport"},
				API: &webapi.Document{Base: "https://www.kaggle.example/api/v1", Rate: "600/h", MaxRequests: 5000,
					Auth:    &webapi.Auth{Kind: "bearer", Env: "API_KAGGLE"},
					Request: []webapi.Request{{Path: "/datasets/list"}, {Path: "/datasets/list/{ref}"}}}},
			State: campaign.Finished, Why: "https://www.kaggle.example/api/v1/datasets/list answered 503 Service Unavailable", Began: began,
			Ended: began.Add(time.Hour), Round: 3,
			Progress: &discover.Progress{State: "https://www.kaggle.example/api/v1/datasets/list answered 503", Done: true, Requests: 12,
				Budget: 5000, Pages: 12, Files: 40, Expected: -1}}}, nil
}

func (c *campaigns) Show(ctx context.Context, name string) (campaign.Shown, error) {
	all, _ := c.List(ctx)
	for _, one := range all {
		if one.Document.Name == name {
			return campaign.Shown{Campaign: one,
				Tasks: []campaign.Task{
					{Kind: campaign.TaskEndpoint, Address: "https://city.example/sparql", Result: "<script>x</script>", Bad: true}},
				Sites: []campaign.Site{
					{URL: "https://city.example/",
						Software: software.Site{
							Systems: []software.System{{Name: "Drupal", Version: "10<", Weight: 80, Because: []string{"header <x>"}}},
							Seen:    17}, Score: relevance.Tally{Pages: 5, Sum: 10},
						Best: []campaign.Best{
							{URL: "https://city.example/data?<", Level: software.FileList, Score: 3.5,
								Why: []relevance.Part{{What: "<b>open data", Where: "title"}}}}}}}, nil
		}
	}
	return campaign.Shown{}, campaign.ErrUnknown
}

func (c *campaigns) note(order, name string) (campaign.Campaign, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.orders = append(c.orders, order+" "+name)
	return campaign.Campaign{}, nil
}

func (c *campaigns) Run(_ context.Context, d campaign.Document) (campaign.Campaign, error) {
	made, err := d.Normalise()
	if err != nil {
		return campaign.Campaign{}, err
	}
	c.mu.Lock()
	c.begun = append(c.begun, made)
	c.mu.Unlock()
	return c.note("run", d.Name)
}

func (c *campaigns) Pause(_ context.Context, name string) (campaign.Campaign, error) {
	return c.note("pause", name)
}

func (c *campaigns) Resume(_ context.Context, name string) (campaign.Campaign, error) {
	return c.note("resume", name)
}

func (c *campaigns) Stop(_ context.Context, name string) (campaign.Campaign, error) {
	return c.note("stop", name)
}

// guard accepts the token "right".
type guard struct{}

func (guard) CanSignIn() bool { return true }

func (guard) SignOut(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Set-Cookie", "s=") }

func (g guard) SignIn(w http.ResponseWriter, r *http.Request, token string) error {
	w.Header().Set("Set-Cookie", "s=1")
	return g.CheckToken(r, token, access.Crawl)
}

func (guard) CheckToken(r *http.Request, token string, right access.Right) error {
	if c, _ := access.Of(r.Context()); c.Rights.Has(right) {
		return nil
	}
	switch token {
	case "right":
		return nil
	case "":
		return problem.New(http.StatusUnauthorized, "A token is required", "")
	}
	return problem.New(http.StatusForbidden, "Wrong token", "")
}

func TestCampaignsAreShown(t *testing.T) {
	t.Parallel()
	h := site(newWorld())
	for path, want := range map[string][]string{
		"/crawls": {`href="/campaign?name=city"`, ">paused<"},
		"/campaign": {`href="/campaign?name=www.city.example"`, "431 of 2", ">87<", `data-live=`,
			`action="/campaign"`, "follows links from", `aria-current="page">Campaigns`},
		"/campaign?name=city": {"paused by an order", "city.example/sparql", "&lt;script&gt;x", "b=&lt;i&gt;", `value="resume"`,
			"Drupal 10&lt;", "header &lt;x&gt;", "air &lt;quality", "<td class=\"n\">1.00</td>", "filelist, 3.50",
			"&lt;b&gt;open data in the title"},
		"/campaign?name=www.city.example": {"Budget &lt;2026&gt;", "the page lists files", "0.83", "Finances &lt;i&gt;",
			"https://www.city.example/finances/budget", "trees, &lt;b&gt;", "TYPO3 12", ">87<", `value="21"`, `data-live="3000"`,
			`value="pause"`, `value="stop"`},
		"/campaign?name=kaggle": {"answered 503", "API_KAGGLE", "600/h", "/datasets/list/{ref}", `value="again"`, "Nothing yet"},
	} {
		page := body(t, get(t, h, path))
		for _, text := range want {
			if !strings.Contains(page, text) {
				t.Errorf("%s lacks %q", path, text)
			}
		}
	}
	if r := get(t, h, "/campaign?name=nobody"); r.StatusCode != http.StatusNotFound {
		t.Errorf("an unknown campaign: %d", r.StatusCode)
	}
}

// post sends a form as a browser without scripts does.
func post(h http.Handler, path string, form url.Values) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "text/html")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestTheFormBeginsADiscovery(t *testing.T) {
	t.Parallel()
	store := &campaigns{}
	h := siteOf(newWorld(), func(o *ui.Options) { o.Campaigns = store })
	form := func(address, words, budget, token string) url.Values {
		return url.Values{"order": {"begin"}, "url": {address}, "keywords": {words}, "budget": {budget}, "token": {token}}
	}
	for _, c := range []struct {
		form   url.Values
		status int
		want   string // of the page, or the address that follows
	}{
		{form("https://new.example/data", "trees, air quality\nparks", "500", "right"), 303, "/campaign?name=new.example"},
		{form(" new.example ", "", "", "right"), 303, "/campaign?name=new.example"},
		{form("https://www.city.example/", "", "2000", "right"), 303, "/campaign?name=www.city.example"},        // another round of it
		{form("https://www.city.example/parks", "", "2000", "right"), 303, "/campaign?name=www.city.example-2"}, // of something else
		{form("https://[::1]:8080/", "", "2000", "right"), 303, "/campaign?name="},
		{form("ftp://new.example/", "<i>", "7", "right"), 400, "expected an http or https URL"},
		{form("", "", "7", "right"), 400, "is not the URL of a page"},
		{form("https://new.example/", "", "many", "right"), 400, "the budget"},
		{form("https://new.example/", "", "-5", "right"), 400, "the budget"},
		{form("https://new.example/", "", "2000000", "right"), 400, "a budget of 2000000"},
		{form("https://new.example/", strings.Repeat("x", 300), "7", "right"), 400, "the keyword"},
		{form("https://new.example/", strings.Repeat("x", 100_000), "7", "right"), 400, "cannot be read"},
		{form("https://new.example/", "", "7", ""), 401, "token of this server is missing"},
		{form("https://new.example/", "", "7", "wrong"), 403, "not the token of this server"},
	} {
		w := post(h, "/campaign", c.form)
		got := w.Header().Get("Location") + w.Body.String()
		if w.Code != c.status || !strings.Contains(got, c.want) {
			t.Errorf("%.100v: %d, want %d and %q: %.300s", c.form, w.Code, c.status, c.want, got)
		}
		if strings.Contains(got, "right\"") || strings.Contains(got, `value="wrong"`) || w.Header().Get("Cache-Control") != "no-store" &&
			w.Code != 303 {
			t.Errorf("%.100v: the page repeats the token, or may be kept", c.form)
		}
	}
	if w := post(h, "/campaign", form("ftp://<new>/", "<i>\"", "7", "right")); !strings.Contains(w.Body.String(), "&lt;i&gt;&#34;") ||
		!strings.Contains(w.Body.String(), `role="alert"`) {
		t.Errorf("what was sent is not in the form again: %s", w.Body)
	}
	if d := store.begun[0]; d.Discover.Budget != 500 || !slices.Equal(d.Discover.Keywords, []string{"trees", "air quality", "parks"}) ||
		len(store.begun) != 5 {
		t.Errorf("%+v of %d", d.Discover, len(store.begun))
	}
	if d := store.begun[1]; d.Discover.URL != "https://new.example/" || d.Discover.Budget != discover.DefaultBudget {
		t.Errorf("%+v", d.Discover)
	}
}

func TestCampaignsTakeOrdersFromThoseWithTheToken(t *testing.T) {
	t.Parallel()
	store := &campaigns{}
	h := siteOf(newWorld(), func(o *ui.Options) { o.Campaigns = store })
	for _, order := range []string{"pause", "resume", "stop", "again", "explode"} {
		for _, token := range []string{"", "wrong", "right"} {
			w := post(h, "/campaign", url.Values{"name": {"www.city.example"}, "order": {order}, "token": {token}})
			want := map[string]int{"": 401, "wrong": 403, "right": 303}[token]
			if order == "explode" && token == "right" {
				want = 400
			}
			if w.Code != want || want != 303 && !strings.Contains(w.Body.String(), `role="alert"`) {
				t.Errorf("%s with %q: %d, want %d", order, token, w.Code, want)
			}
		}
	}
	if got := fmt.Sprint(
		store.orders); got != "[pause www.city.example resume www.city.example stop www.city.example run www.city.example]" {
		t.Error(got)
	}
	if w := post(h, "/campaign", url.Values{"name": {"nobody"}, "order": {"again"}, "token": {"right"}}); w.Code != 404 {
		t.Errorf("an unknown campaign: %d", w.Code)
	}
	closed := siteOf(newWorld(), func(o *ui.Options) { o.Campaigns, o.Guard = store, nil })
	if w := post(closed, "/campaign", url.Values{"name": {"city"}, "order": {"stop"}, "token": {"right"}}); w.Code != 403 {
		t.Errorf("without a token of the server: %d", w.Code)
	}
	for _, path := range []string{"/campaign", "/campaign?name=city"} {
		if page := body(t, get(t, closed, path)); strings.Contains(page, "<form class=\"orders\"") ||
			strings.Contains(page, "Find the data") {
			t.Errorf("%s has forms that cannot work", path)
		}
	}
}
