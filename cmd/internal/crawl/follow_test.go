package crawl

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"odarchive/cmd/internal/config"
	"odarchive/cmd/internal/store"
	"odarchive/crawler"
	"odarchive/crawler/follow/campaign"
	"odarchive/crawler/harvest/portaltest"
	"odarchive/triplestore"
	"odarchive/triplestore/term"
)

// TestEndpointsAndPortalsOfACampaignAreRead has an endpoint whose data leads on to another document, a CKAN portal with
// a file of RDF, an endpoint that robots.txt forbids, one that is none, and one that is out of scope.
func TestEndpointsAndPortalsOfACampaignAreRead(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []string
	note := func(name string, h http.HandlerFunc) *httptest.Server {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			asked = append(asked, name+r.URL.Path)
			mu.Unlock()
			h(w, r)
		}))
		t.Cleanup(s.Close)
		return s
	}
	var endpoint http.Handler
	var in, out *httptest.Server
	out = note("out", func(w http.ResponseWriter, _ *http.Request) { says("text/turtle", "<a:b> <a:c> <a:d> .")(w, nil) })
	in = note("in", func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			fmt.Fprint(w, "User-agent: *\nDisallow: /forbidden\n")
		case "/void":
			says("text/turtle",
				fmt.Sprintf(
					`@prefix void: <http://rdfs.org/ns/void#> . <#d> void:sparqlEndpoint </sparql>, </forbidden/sparql>, </page>, `+
						`<%s/sparql> ; void:in </portal/> .`, out.URL))(w, r)
		case "/sparql", "/forbidden/sparql":
			if r.Method == http.MethodGet {
				says("text/turtle", "<> <http://p.example/p> 1 .")(w, r)
				return
			}
			endpoint.ServeHTTP(w, r)
		case "/page":
			says("text/html", "<html><body>no endpoint</body></html>")(w, r)
		case "/portal/":
			says("text/html", `<html><head><meta name="generator" content="ckan 2.10"></head><body>a portal</body></html>`)(w, r)
		case "/portal/files/data.ttl", "/linked":
			says("text/turtle", "<> <http://p.example/p> \"kept\" .")(w, r)
		case "/portal/files/table.csv":
			says("text/csv", "a,b\n1,2\n")(w, r)
		default:
			if strings.HasPrefix(r.URL.Path, "/portal/api/") {
				file := func(name, format string) string {
					return fmt.Sprintf(`{"id":"%s","url":"%s/portal/files/%s","format":"%s"}`, name, in.URL, name, format)
				}
				ckanOf(func(start, _ int) ([]string, int) {
					if start > 0 {
						return nil, 1
					}
					return []string{
						`{"id":"1","name":"one","title":"One","metadata_modified":"2024-03-01T10:00:00","resources":[` + file("data.ttl",
							"TTL") + "," + file("table.csv", "CSV") + `]}`}, 1
				})(w, r)
				return
			}
			http.NotFound(w, r)
		}
	})
	endpoint = portaltest.NewEndpoint(t,
		fmt.Sprintf(
			"<urn:a> <http://p.example/p> <%s/linked>, \"in the default graph\" . <http://g.example/1> { <urn:b> <http://p.example/p> "+
				"\"named\" }", in.URL))

	cfg := config.Defaults()
	cfg.Data, cfg.Fetch.AllowPrivateHosts, cfg.Fetch.HostDelay = t.TempDir(), true, 0
	s, err := store.Open(t.Context(), cfg, slog.New(slog.DiscardHandler), store.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(c.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	}()
	for round := 1; round <= 2; round++ {
		if _, err := c.Campaigns.Run(t.Context(),
			campaign.Document{Name: "x", Seeds: []string{in.URL + "/void"}, Graphs: true}); err != nil {
			t.Fatal(err)
		}
		now, _, err := c.Follow(t.Context(), "x", crawler.RunOptions{Once: true})
		if err != nil || now.State != campaign.Finished || now.Why != "" || round == 2 && now.Counts.Changed != 0 {
			t.Errorf("round %d: %+v, %v", round, now, err)
		}
	}
	kept := map[string]string{}
	err = s.Triples.View(t.Context(), func(sn *triplestore.Snapshot) error {
		return sn.Dump(t.Context(), term.Pattern{}, func(q term.Quad) error {
			if q.P == term.IRI("http://p.example/p") {
				kept[strings.ReplaceAll(q.G.Value(), in.URL, "in")] += q.O.Value() + ";"
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	graph := cfg.Base + "graph/"
	for name, want := range map[string]string{
		graph + "in/sparql?default":                          "in the default graph",
		graph + "in/sparql?graph=http%3A%2F%2Fg.example%2F1": "named",
		graph + "in/linked":                                  "kept",
		graph + "in/portal/files/data.ttl":                   "kept",
		graph + "in/sparql":                                  "1",
	} {
		if !strings.Contains(kept[name], want) {
			t.Errorf("graph %s: %q, want %q; there are %q", name, kept[name], want, kept)
		}
	}
	if kept[""] != "" {
		t.Errorf("statements of documents are in the default graph: %q", kept[""])
	}
	mu.Lock()
	defer mu.Unlock()
	for _, one := range asked {
		if strings.HasPrefix(one, "out") || strings.HasPrefix(one, "in/forbidden") || one == "in/portal/files/table.csv" {
			t.Errorf("%s was requested", one)
		}
	}
}
