package discover

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"odarchive/crawler/catalog"
	"odarchive/crawler/harvest"
	"odarchive/crawler/web/politeness"
	"odarchive/triplestore/term"
)

const home = "http://city.example/"

// site answers from a table of paths. A body that begins with "->" is a redirect, "type|…" has another media type.
type site struct {
	pages   map[string]string
	robots  string
	asked   []string
	unless  int // conditional requests answered with 304
	onAsk   func(n int)
	retries int // answers of 429 before each page
	busy    map[string]int
}

func (s *site) Do(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	s.asked = append(s.asked, req.URL.RequestURI())
	if s.onAsk != nil {
		s.onAsk(len(s.asked))
	}
	resp := &http.Response{StatusCode: 200, Header: http.Header{}, Request: req}
	body, ok := s.pages[req.URL.RequestURI()]
	switch {
	case s.busy[req.URL.RequestURI()] < s.retries:
		s.busy[req.URL.RequestURI()]++
		resp.StatusCode = 429
	case !ok:
		resp.StatusCode = 404
	case strings.HasPrefix(body, "->"):
		resp.StatusCode = 302
		resp.Header.Set("Location", body[2:])
		body = ""
	default:
		kind := "text/html"
		if k, rest, found := strings.Cut(body, "|"); found && len(k) < 60 && !strings.Contains(k, "<") {
			kind, body = k, rest
		}
		resp.Header.Set("Content-Type", kind)
		tag := fmt.Sprintf("%q", fmt.Sprint(hash(body)))
		resp.Header.Set("Etag", tag)
		if req.Header.Get("If-None-Match") == tag {
			s.unless++
			resp.StatusCode, body = 304, ""
		}
	}
	resp.Body = io.NopCloser(strings.NewReader(body))
	return resp, nil
}

// Allowed implements Judge.
func (s *site) Allowed(_ context.Context, raw string) (politeness.Verdict, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return politeness.Verdict{}, err
	}
	rules := politeness.ParseRobots([]byte(s.robots), "odarchive")
	return politeness.Verdict{Allowed: rules.Allowed(u.RequestURI()), Reason: "robots.txt says so", Sitemaps: rules.Sitemaps}, nil
}

// sink keeps what a discovery hands over, and what of it is behind a mark.
type sink struct {
	datasets []harvest.Dataset
	gone     []string
	skipped  []string
	portals  []harvest.Portal
	marks    []string
	asked    []int // requests at each mark
	next     string
	kept     int // datasets behind the last mark
	site     *site
}

func (k *sink) Portal(p harvest.Portal, _ bool) error {
	k.portals = append(k.portals, p)
	return nil
}
func (k *sink) Dataset(d harvest.Dataset) error {
	k.datasets = append(k.datasets, d)
	return nil
}
func (k *sink) Gone(iri string) error {
	k.gone = append(k.gone, iri)
	return nil
}
func (k *sink) Mark(m string) error {
	k.marks, k.kept = append(k.marks, m), len(k.datasets)
	if k.site != nil {
		k.asked = append(k.asked, len(k.site.asked))
	}
	return nil
}
func (k *sink) Unknown(string, string) error { return nil }
func (k *sink) Seed(catalog.Seed) error      { return nil }
func (k *sink) Quad(term.Quad) error         { return nil }
func (k *sink) Next(m string)                { k.next = m }
func (k *sink) NotModified(string)           {}
func (k *sink) Skip(why string)              { k.skipped = append(k.skipped, why) }

func (k *sink) files() string {
	var all []string
	for _, d := range k.datasets {
		for _, x := range d.Distributions {
			all = append(all, strings.TrimPrefix(x.URL, "http://city.example"))
		}
	}
	return strings.Join(all, " ")
}

// discovered runs a discovery of a site from a mark.
func discovered(t *testing.T, s *site, from string, o Options) (*sink, []Find) {
	t.Helper()
	k, finds, err := try(t.Context(), s, from, o)
	if err != nil {
		t.Fatalf("%v after %q", err, s.asked)
	}
	return k, finds
}

func try(ctx context.Context, s *site, from string, o Options) (*sink, []Find, error) {
	k := &sink{site: s}
	var finds []Find
	o.URL = home
	src := Source{Options: o, HTTP: s, Robots: s, Explain: true, Found: func(f Find) { finds = append(finds, f) }}
	err := src.Harvest(ctx, from, k)
	return k, finds, err
}

func pageOf(title string, links ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<html lang="en"><head><title>%s</title></head><body><main><h1>%s</h1><ul>`, title, title)
	for i := 0; i+1 < len(links); i += 2 {
		fmt.Fprintf(&b, `<li><a href="%s">%s</a></li>`, links[i], links[i+1])
	}
	return b.String() + "</ul></main></body></html>"
}
