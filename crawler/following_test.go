package crawler

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/follow/campaign"
	"odarchive/crawler/follow/graphs"
	"odarchive/crawler/follow/links"
	"odarchive/crawler/follow/software"
	"odarchive/triplestore"
	"odarchive/triplestore/term"
)

// linked is a web of documents on one or several hosts, for campaigns.
type linked struct {
	*node
	mu      sync.Mutex
	answers map[string]http.HandlerFunc // host path -> answer
	asked   []string                    // host path accept
	hosts   map[string]*httptest.Server
}

func newLinked(t *testing.T, hosts ...string) *linked {
	l := &linked{node: newNode(t), answers: map[string]http.HandlerFunc{}, hosts: map[string]*httptest.Server{}}
	for _, name := range hosts {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			l.mu.Lock()
			if r.URL.Path != "/robots.txt" && r.URL.Path != "/.well-known/void" {
				l.asked = append(l.asked, name+r.URL.RequestURI()+" "+r.Header.Get("Accept"))
			}
			answer := l.answers[name+r.URL.Path]
			l.mu.Unlock()
			if answer == nil {
				http.NotFound(w, r)
				return
			}
			answer(w, r)
		}))
		t.Cleanup(server.Close)
		l.hosts[name] = server
	}
	store, err := graphs.New(l.Pipeline.Archive.Mint(), l.db, nil)
	if err != nil {
		t.Fatal(err)
	}
	l.Campaigns = &campaign.Store{Archive: l.Pipeline.Archive, Frontier: l.Pipeline.Frontier, Graphs: store, Clock: l.clock.now,
		Software: sync.OnceValues(func() (*software.Helper, error) { return software.New(software.Options{}) })}
	return l
}

// at returns the URL of a path of a host.
func (l *linked) at(host, path string) string { return l.hosts[host].URL + path }

// say makes a path answer with a body. "{b}" in it is the address of host b.
func (l *linked) say(host, path, mediaType, body string, header ...string) {
	for name, server := range l.hosts {
		body = strings.ReplaceAll(body, "{"+name+"}", server.URL)
	}
	l.answer(host, path, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", mediaType)
		w.Header().Set("ETag", fmt.Sprintf("\"%d\"", len(body)))
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Add(header[i], header[i+1])
		}
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(body))
	})
}

func (l *linked) answer(host, path string, f http.HandlerFunc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answers[host+path] = f
}

// requests returns what was asked since the last call, without what was accepted, sorted.
func (l *linked) requests() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []string
	for _, one := range l.asked {
		all = append(all, strings.Fields(one)[0])
	}
	l.asked = nil
	slices.Sort(all)
	return strings.Join(all, " ")
}

// follow runs a campaign to its end.
func (l *linked) follow(t *testing.T, d campaign.Document) campaign.Campaign {
	t.Helper()
	if _, err := l.Campaigns.Run(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Run(t.Context(), RunOptions{Once: true}); err != nil {
		t.Fatal(err)
	}
	c, err := l.Campaigns.Get(t.Context(), d.Name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// graph returns the statements of a named graph, "" for the default one, as text, sorted. Addresses of hosts are
// written as in say.
func (l *linked) graph(t *testing.T, name string) string {
	t.Helper()
	var all []string
	err := l.triples.View(t.Context(), func(sn *triplestore.Snapshot) error {
		g, ok, err := sn.Graph(term.Key(name))
		if err != nil || !ok {
			return err
		}
		return sn.Dump(t.Context(), term.Pattern{G: g}, func(q term.Quad) error {
			all = append(all, fmt.Sprintf("%s %s %s", q.S, q.P.Value()[strings.LastIndexAny(q.P.Value(), "/#")+1:], q.O))
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	text := strings.Join(all, "\n")
	for host, server := range l.hosts {
		text = strings.ReplaceAll(text, server.URL, "{"+host+"}")
	}
	return text
}

func (l *linked) contentOf(t *testing.T, host, path string) string {
	t.Helper()
	return l.graph(t, "<http://archive.example/graph/"+l.at(host, path))
}

const rdfPrefixes = "@prefix p: <http://p.example/> . @prefix void: <http://rdfs.org/ns/void#> . @prefix rdfs: " +
	"<http://www.w3.org/2000/01/rdf-schema#> .\n"

func TestACampaignFollowsLinksWithinItsScope(t *testing.T) {
	t.Parallel()
	l := newLinked(t, "a", "b", "out")
	l.say("a", "/start", "text/turtle",
		rdfPrefixes+`<#it> a <{out}/Class> ; <{out}/property> <{b}/one#x> ; rdfs:seeAlso <{out}/away>, <redirect>, <doc> .`)
	l.answer("a", "/redirect", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, l.at("out", "/by-redirect"), http.StatusFound)
	})
	l.answer("a", "/doc", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Vary", "Accept")
		http.Redirect(w, r, "/doc.ttl", http.StatusSeeOther)
	})
	l.say("a", "/doc.ttl", "text/turtle", rdfPrefixes+`<doc> p:in <{a}/deep1> ; p:place [ p:lat 1 ] .`)
	l.say("b", "/one", "text/html",
		`<html><head><link rel="alternate" type="text/turtle" href="/one.ttl"><title>t</title></head><body><a href="/page">more</a><a `+
			`href="{out}/anchor">x</a></body></html>`, "Link", `</meta>; rel="describedby"`)
	l.say("b", "/one.ttl", "text/turtle", rdfPrefixes+`<{b}/one#x> p:is "one" .`)
	l.say("b", "/meta", "application/rdf+xml",
		`<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:p="http://p.example/"><rdf:Description `+
			`rdf:about="{b}/one#x"><p:meta>yes</p:meta></rdf:Description></rdf:RDF>`)
	l.say("b", "/page", "text/html", `<html><body><p about="#it" property="http://p.example/says">in a page</p></body></html>`)
	l.say("a", "/deep1", "text/turtle", rdfPrefixes+`<deep1> p:in <deep2> .`)
	l.say("a", "/deep2", "text/turtle", rdfPrefixes+`<deep2> p:in <deep3> .`)
	c := l.follow(t, campaign.Document{Name: "x", Seeds: []string{l.at("a", "/start")},
		Scope: []string{"prefix:" + l.at("a", ""), "prefix:" + l.at("b", "")}, Depth: 3, Graphs: true})
	if got, want := l.requests(), "a/deep1 a/deep2 a/doc a/doc.ttl a/redirect a/start b/meta b/one b/one.ttl b/page"; got != want {
		t.Errorf("requests:\n%s\nwant\n%s", got, want)
	}
	if c.State != campaign.Finished || c.Counts.Pending != 0 || c.Counts.TooDeep != 1 {
		t.Errorf("%+v", c)
	}
	for _, g := range []struct{ host, path, want string }{
		{"a", "/doc.ttl", "<{a}/doc in <{a}/deep1"},
		{"b", "/one.ttl", `<{b}/one#x is "one`},
		{"b", "/meta", `<{b}/one#x meta "yes`},
		{"b", "/page", `<{b}/page#it says "in a page`},
		{"a", "/deep2", "<{a}/deep2 in <{a}/deep3"},
	} {
		if got := l.contentOf(t, g.host, g.path); !strings.Contains(got, g.want) {
			t.Errorf("graph of %s:\n%s\nwant\n%s", g.path, got, g.want)
		}
	}
	if got := l.contentOf(t, "a", "/doc"); got != "" {
		t.Errorf("a resource that redirects has a graph: %s", got)
	}
	def := l.graph(t, "")
	if strings.Contains(def, "in a page") || strings.Contains(def, "deep3") || !strings.Contains(def, "wasDerivedFrom") {
		t.Errorf("statements of documents are in the default graph, or their graphs are not described")
	}

	// The next round finds nothing new, and says so to the servers.
	l.clock.advance(time.Hour)
	before := l.contentOf(t, "a", "/doc.ttl")
	c = l.follow(t, c.Document)
	if c.Round != 2 || c.Counts.Changed != 0 || c.Counts.Visited != c.Counts.URLs || l.contentOf(t, "a", "/doc.ttl") != before {
		t.Errorf("%+v", c)
	}
	l.requests()

	// A document changes: its graph changes by what differs, and its new links are followed.
	l.clock.advance(time.Hour)
	l.say("a", "/doc.ttl", "text/turtle", rdfPrefixes+`<doc> p:in <{a}/new> ; p:place [ p:lat 1 ] .`)
	l.say("a", "/new", "text/turtle", rdfPrefixes+`<new> p:is "new" .`)
	c = l.follow(t, c.Document)
	if got := l.contentOf(t, "a", "/doc.ttl"); strings.Contains(got, "deep1") || !strings.Contains(got, "<{a}/doc in <{a}/new") ||
		c.Counts.Changed != 3 || !strings.Contains(l.contentOf(t, "a", "/new"), "new") {
		t.Errorf("%+v\n%s", c.Counts, got)
	}

	// It goes: the graph stays, that of the latest version.
	l.clock.advance(time.Hour)
	l.answer("a", "/doc.ttl", nil)
	if c = l.follow(t, c.Document); !strings.Contains(l.contentOf(t, "a", "/doc.ttl"), "new") || c.Counts.Changed != 0 {
		t.Errorf("%+v", c.Counts)
	}
}

func TestServersAreAskedForRDFFirst(t *testing.T) {
	t.Parallel()
	l := newLinked(t, "a")
	l.say("a", "/x", "text/turtle", rdfPrefixes+`<x> p:is "x" .`)
	l.follow(t, campaign.Document{Name: "x", Seeds: []string{l.at("a", "/x")}})
	if !slices.Contains(l.asked, "a/x "+catalog.AcceptField(catalog.AcceptRDF)) {
		t.Errorf("%q", l.asked)
	}
	if got := l.contentOf(t, "a", "/x"); got != "" {
		t.Errorf("a campaign without graphs makes one: %s", got)
	}
	// The same campaign with graphs looks at the document again, although it has not changed.
	l.clock.advance(time.Hour)
	l.follow(t, campaign.Document{Name: "x", Seeds: []string{l.at("a", "/x")}, Graphs: true})
	if got := l.contentOf(t, "a", "/x"); got == "" {
		t.Error("no graph")
	}
}

// TestNearerWaysAreFollowed has a document at the limit of depth by a long way that is visited first, and nearer by one
// that is found later.
func TestNearerWaysAreFollowed(t *testing.T) {
	t.Parallel()
	l := newLinked(t, "a")
	l.Workers = 1
	l.say("a", "/1", "text/turtle", rdfPrefixes+`<1> p:a <2>, <slow> .`)
	l.say("a", "/2", "text/turtle", rdfPrefixes+`<2> p:a <3> .`)
	l.say("a", "/3", "text/turtle", rdfPrefixes+`<3> p:a <4> .`)
	l.say("a", "/slow", "text/turtle", rdfPrefixes+`<slow> p:a <3> .`)
	l.say("a", "/4", "text/turtle", rdfPrefixes+`<4> p:a "four" .`)
	d := campaign.Document{Name: "x", Seeds: []string{l.at("a", "/1")}, Depth: 2, Graphs: true}
	if c := l.follow(t, d); c.Counts.TooDeep != 1 {
		t.Errorf("%+v", c.Counts)
	}
	if got := l.requests(); got != "a/1 a/2 a/3 a/slow" {
		t.Errorf("depth 2: %s", got)
	}
	l.clock.advance(time.Hour)
	d.Seeds = append(d.Seeds, l.at("a", "/2")) // 3 is now one link from a seed
	c := l.follow(t, d)
	if got := l.contentOf(t, "a", "/4"); got == "" || c.State != campaign.Finished {
		t.Errorf("%+v: %s", c, l.requests())
	}
}

// plain are the links of statements. Without descriptions, well-known places are not looked at.
var plain = []links.Kind{links.Object, links.Subject}

func TestAPausedCampaignAsksNothing(t *testing.T) {
	t.Parallel()
	l := newLinked(t, "a")
	l.say("a", "/1", "text/turtle", rdfPrefixes+`<1> p:a <2> .`)
	l.say("a", "/2", "text/turtle", rdfPrefixes+`<2> p:a <3> .`)
	l.say("a", "/3", "text/turtle", rdfPrefixes+`<3> p:a 1 .`)
	ctx := t.Context()
	if _, err := l.Campaigns.Run(ctx, campaign.Document{Name: "x", Seeds: []string{l.at("a", "/1")}, Follow: plain}); err != nil {
		t.Fatal(err)
	}
	crawl := func() {
		t.Helper()
		if _, err := l.Run(ctx, RunOptions{Once: true}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.Campaigns.Pause(ctx, "x"); err != nil {
		t.Fatal(err)
	}
	if crawl(); l.requests() != "" {
		t.Error("a paused campaign makes requests")
	}
	if _, err := l.Campaigns.Resume(ctx, "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Run(ctx, RunOptions{MaxFetches: 1, Once: true}); err != nil {
		t.Fatal(err)
	}
	if got := l.requests(); got != "a/1" {
		t.Errorf("after it was resumed: %s", got)
	}
	if _, err := l.Campaigns.Stop(ctx, "x"); err != nil {
		t.Fatal(err)
	}
	crawl()
	if got := l.requests(); strings.Contains(got, "a/2") || strings.Contains(got, "a/3") {
		t.Errorf("after it was stopped: %s", got)
	}
	c := l.follow(t, campaign.Document{Name: "x", Seeds: []string{l.at("a", "/1")}, Follow: plain})
	if got := l.requests(); !strings.Contains(got, "a/2 a/3") || c.State != campaign.Finished {
		t.Errorf("run again: %s, %+v", got, c)
	}
	if _, err := l.Campaigns.Pause(ctx, "nobody"); err == nil {
		t.Error("an unknown campaign can be paused")
	}
}

// TestWhatASourceListsIsVisitedWhateverCampaignsForbid has a campaign find two files that redirect out of its scope, of
// which one was listed before and one is listed afterwards. Neither may be lost to the archive, whether the campaign
// runs, is paused or is stopped.
func TestWhatASourceListsIsVisitedWhateverCampaignsForbid(t *testing.T) {
	t.Parallel()
	l := newLinked(t, "a", "b")
	l.say("a", "/1", "text/turtle", rdfPrefixes+`<1> p:a <before>, <after>, <never> .`)
	for _, name := range []string{"before", "after", "never"} {
		l.answer("a", "/"+name, http.RedirectHandler(l.at("b", "/"+name), http.StatusFound).ServeHTTP)
		l.say("b", "/"+name, "text/turtle", rdfPrefixes+`<`+name+`> p:says "`+name+`" .`)
	}
	ctx := t.Context()
	in := &Intake{Archive: l.Pipeline.Archive, Frontier: l.Pipeline.Frontier, Clock: l.clock.now}
	list := func(name string) {
		t.Helper()
		if _, err := in.Add(ctx, []catalog.Seed{{URL: l.at("a", "/"+name)}}); err != nil {
			t.Fatal(err)
		}
	}
	crawl := func() string {
		t.Helper()
		if _, err := l.Run(ctx, RunOptions{Once: true}); err != nil {
			t.Fatal(err)
		}
		return l.requests()
	}
	again := func(names ...string) {
		t.Helper()
		for _, name := range names {
			if err := l.Pipeline.Frontier.MakeDue(ctx, l.at("a", "/"+name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	list("before")
	crawl()
	l.follow(t, campaign.Document{Name: "x", Seeds: []string{l.at("a", "/1")}, Follow: plain, Graphs: true})
	if got := l.requests(); got != "a/1 a/after a/before a/never b/before" {
		t.Errorf("the campaign asked for %s", got)
	}
	if got := l.contentOf(t, "b", "/before"); got != "" {
		t.Errorf("a document out of scope has a content graph: %s", got)
	}
	list("after")
	if got := crawl(); got != "a/after b/after" {
		t.Errorf("a file that was listed later: asked for %s", got)
	}
	if _, err := l.Campaigns.Pause(ctx, "x"); err != nil {
		t.Fatal(err)
	}
	again("before", "after", "never")
	if got := crawl(); got != "a/after a/before b/after b/before" {
		t.Errorf("of a paused campaign: asked for %s", got)
	}
	if _, err := l.Campaigns.Stop(ctx, "x"); err != nil {
		t.Fatal(err)
	}
	again("before", "after", "never")
	if got := crawl(); got != "a/after a/before b/after b/before" {
		t.Errorf("of a stopped campaign: asked for %s", got)
	}
	list("never")
	if got := crawl(); got != "a/never b/never" {
		t.Errorf("a file that a stopped campaign gave up, and that was listed afterwards: asked for %s", got)
	}
}

func TestADocumentWithManyLinksIsRegisteredInParts(t *testing.T) {
	t.Parallel()
	l := newLinked(t, "a")
	var b strings.Builder
	for i := range 1500 {
		fmt.Fprintf(&b, "<%s> <http://p.example/p> <%s> .\n", l.at("a", fmt.Sprint("/s", i)), l.at("a", fmt.Sprint("/o", i)))
	}
	l.say("a", "/many", "application/n-triples", b.String())
	c := l.follow(t, campaign.Document{Name: "x", Seeds: []string{l.at("a", "/many")}, Max: 2000})
	if c.Counts.URLs != 2000 || c.Counts.OverBudget == 0 || c.Counts.Spilled != 0 || c.State != campaign.Finished {
		t.Errorf("%+v", c)
	}
}

// TestATransactionThatFailsLosesNoLink makes the first commits of a visit fail.
func TestATransactionThatFailsLosesNoLink(t *testing.T) {
	t.Parallel()
	l := newLinked(t, "a")
	l.say("a", "/1", "text/turtle", rdfPrefixes+`<1> p:a <2> .`)
	l.say("a", "/2", "text/turtle", rdfPrefixes+`<2> p:a 1 .`)
	ctx, cancel := context.WithCancel(t.Context())
	l.trip = func(step, url string) error {
		if step == "commit, in the transaction" && strings.HasSuffix(url, "/1") {
			cancel()
			return context.Canceled
		}
		return nil
	}
	d := campaign.Document{Name: "x", Seeds: []string{l.at("a", "/1")}, Graphs: true, Follow: plain}
	if _, err := l.Campaigns.Run(ctx, d); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Run(ctx, RunOptions{Once: true}); err == nil {
		t.Error("the crawl was not interrupted")
	}
	if c, err := l.Campaigns.Get(t.Context(), "x"); err != nil || c.Counts.Visited != 0 || c.State != campaign.Running {
		t.Errorf("%+v, %v", c, err)
	}
	l.trip = nil
	l.restart(t)
	l.Campaigns.Frontier = l.Pipeline.Frontier
	if c := l.follow(t, d); c.Round != 1 || c.Counts.Visited != 2 || l.contentOf(t, "a", "/2") == "" {
		t.Errorf("%+v", c)
	}
}

func TestATableThatAnswersWithAPageIsAskedOnceMore(t *testing.T) {
	t.Parallel()
	l := newLinked(t, "a")
	l.answer("a", "/table", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Vary", "Accept")
		if strings.HasPrefix(r.Header.Get("Accept"), "text/csv") {
			w.Header().Set("Content-Type", "text/csv")
			fmt.Fprint(w, "a,b\n1,2\n3,4\n")
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!DOCTYPE html><html><head><title>x</title></head><body>a page</body></html>")
	})
	if _, err := l.Add(t.Context(), []catalog.Seed{{URL: l.at("a", "/table"), Format: "CSV"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Run(t.Context(), RunOptions{Once: true}); err != nil {
		t.Fatal(err)
	}
	if v, err := l.Pipeline.Archive.Newest(t.Context(), l.at("a", "/table")); err != nil || v.Type != "text/csv" {
		t.Errorf("%+v, %v", v, err)
	}
	if got := l.requests(); got != "a/table a/table" {
		t.Errorf("requests: %s", got)
	}
	l.clock.advance(48 * time.Hour)
	if _, err := l.Run(t.Context(), RunOptions{Once: true}); err != nil {
		t.Fatal(err)
	}
	if got := l.requests(); got != "a/table" {
		t.Errorf("the next visit: %s", got)
	}
}
