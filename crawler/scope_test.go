package crawler

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/follow/campaign"
	"odarchive/crawler/queue/scope"
	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/hosts"
)

func TestWhatIsOutOfScopeIsNotAskedForOrNotKept(t *testing.T) {
	t.Parallel()
	n := newLinked(t, "a", "b")
	csv := "id,name\n" + strings.Repeat("1,Ada\n", 2000) // 12 KB
	sent := map[string]*int{}
	answer := func(path, mediaType, body string, length bool) {
		count := new(int)
		sent[path] = count
		n.answers["a"+path] = func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", mediaType)
			if length {
				w.Header().Set("Content-Length", fmt.Sprint(len(body)))
			}
			for part := range strings.SplitAfterSeq(body, "\n") {
				m, err := w.Write([]byte(part))
				if *count += m; err != nil {
					return
				}
				if !length {
					w.(http.Flusher).Flush()
				}
			}
		}
	}
	answer("/ok.csv", "text/csv", "a,b\n1,2\n", true)
	answer("/large.csv", "text/csv", csv, true)
	answer("/endless.csv", "text/csv", csv, false)
	answer("/film.csv", "video/mp4", "x", true)
	answer("/page.csv", "application/octet-stream", "<?xml version=\"1.0\"?>\n<a><b>c</b></a>\n", true)
	n.answers["a/moved.csv"] = func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, n.at("b", "/x.csv"), http.StatusFound)
	}
	s, err := scope.Open(nil, scope.Options{
		Deny: []string{"size:>1KiB", "type:video/*,application/xml", "host:" + strings.TrimPrefix(n.at("b", ""), "http://"),
			"pattern:/secret/"}})
	if err != nil {
		t.Fatal(err)
	}
	n.Scope = s
	n.add(t, n.at("a", "/ok.csv"), n.at("a", "/large.csv"), n.at("a", "/endless.csv"), n.at("a", "/film.csv"), n.at("a", "/page.csv"),
		n.at("a", "/moved.csv"), n.at("a", "/secret/s.csv"), n.at("b", "/x.csv"))
	reports := n.crawl(t, RunOptions{})
	if r := reports["/ok.csv"]; r.Outcome != catalog.Archived {
		t.Errorf("%+v", r)
	}
	for path, want := range map[string]string{
		"/large.csv": "out of scope: deny size:>1KiB", "/endless.csv": "out of scope: deny size:>1KiB",
		"/film.csv":  "out of scope: deny type:application/xml,video/*",
		"/page.csv":  "out of scope: deny type:application/xml,video/*, and it is application/xml",
		"/moved.csv": "redirect to " + n.at("b", "/x.csv") + ": out of scope: deny host:",
		"/s.csv":     "out of scope: deny pattern:/secret/", "/x.csv": "out of scope: deny host:",
	} {
		if r := reports[path]; r.Outcome != catalog.Blocked || r.ErrorClass != catalog.ErrForbiddenTarget ||
			!strings.HasPrefix(r.Why, want) || r.Versions != 0 {
			t.Errorf("%s: %+v, want %q", path, r, want)
		}
	}
	for _, asked := range n.asked {
		if strings.HasPrefix(asked, "b") || strings.Contains(asked, "secret") {
			t.Errorf("%s was asked for", asked)
		}
	}
	if u, err := n.Pipeline.Frontier.Get(n.at("a", "/secret/s.csv")); err != nil || !u.Due.IsZero() || !scope.IsRefusal(u.Why) {
		t.Errorf("%+v, %v: it must not be due again", u, err)
	}
	if u, err := n.Pipeline.Frontier.Get(n.at("a", "/film.csv")); err != nil || u.Due.IsZero() {
		t.Errorf("%+v, %v: what a server sends may change", u, err)
	}
}

func TestCampaignsDoNotFollowLinksOutOfTheArchivesScope(t *testing.T) {
	t.Parallel()
	n := newLinked(t, "a", "b")
	n.answers["a/"] = page(n.at("a", "/in"), n.at("b", "/out"), n.at("a", "/private/x"))
	n.answers["a/in"], n.answers["b/out"], n.answers["a/private/x"] = page(), page(), page()
	s, err := scope.Open(nil, scope.Options{
		Deny: []string{"host:" + strings.TrimPrefix(n.at("b", ""), "http://") + " for:campaign", "pattern:/private/", "type:text/html"}})
	if err != nil {
		t.Fatal(err)
	}
	n.Scope = s
	n.Campaigns.Refuses = func(url string) bool {
		return s.Refuses(scope.Question{Area: scope.Campaign, URL: url, Size: -1}) != ""
	}
	if _, err := n.Campaigns.Run(t.Context(),
		campaign.Document{Name: "c", Seeds: []string{n.at("a", "/")}, Scope: []string{"pattern:."}, Depth: 3}); err != nil {
		t.Fatal(err)
	}
	n.crawl(t, RunOptions{})
	n.clock.advance(time.Minute)
	c, err := n.Campaigns.Get(t.Context(), "c")
	if err != nil || c.Counts.URLs != 3 || c.Counts.OutOfScope != 2 {
		t.Errorf("%+v, %v", c.Counts, err)
	}
	if len(n.asked) != 2 {
		t.Errorf("asked for %q: pages that are not kept lead on", n.asked)
	}
}

func page(links ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!doctype html><title>x</title><body>")
		for _, l := range links {
			fmt.Fprintf(w, `<a href="%s">x</a>`, l)
		}
	}
}

func TestTheSmallestLimitOfSizeCounts(t *testing.T) {
	t.Parallel()
	s, err := scope.Open(nil, scope.Options{Deny: []string{"size:>1MiB"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ program, host, want int64 }{
		{100 << 20, 0, 1 << 20}, {1000, 0, 0}, {100 << 20, 1000, 0}, {1000, 100 << 20, 1 << 20}, {0, 0, 1 << 20}, {0, 1000, 0},
	} {
		p := &Pipeline{Scope: s, MaxBody: c.program, Settings: func(string) hosts.Settings { return hosts.Settings{MaxBody: c.host} }}
		r := fetch.Request{URL: "http://a.example/x.csv"}
		if limited := p.limitBody(&r, nil); r.MaxBody != c.want || limited != (c.want > 0) {
			t.Errorf("program %d, host %d, scope 1 MiB: the request has %d, want %d (0 for that of the host or program)", c.program, c.host,
				r.MaxBody, c.want)
		}
	}
}
