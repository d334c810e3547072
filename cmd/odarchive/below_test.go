package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// TestEveryAddressIsBelowTheBaseBehindAProxy follows every link of a served sample, as a visitor behind a proxy sees
// them: in pages, scripts, headers and documents.
func TestEveryAddressIsBelowTheBaseBehindAProxy(t *testing.T) {
	t.Parallel()
	const base = "http://archive.example/the/archive/"
	archive := serveBelow(t, base)
	for name, strips := range map[string]bool{"a proxy that removes the path": true, "a proxy that keeps the path": false} {
		t.Run(name, func(t *testing.T) {
			v := &visitor{t: t, base: base, client: behindProxy(t, archive.base, "/the/archive", strips), seen: map[string]bool{},
				perShape: map[string]int{}}
			for _, start := range []string{"", "openapi.json", "robots.txt", "api-doc", "catalog.ttl", "catalog.jsonld", ".well-known/void",
				"feed.atom", "feed.json", "ldes", "ns/csvw",
				"sparql?query=SELECT%20*%20WHERE%20{?s%20?p%20?o}%20LIMIT%20200", "stats/basic", "get/datasets/type/csv?limit=1",
				"quality.json", "harvests.json", "campaign", "hosts", "basket", "nowhere/x"} {
				v.visit(base+start, "the test")
			}
			for len(v.queue) > 0 {
				next := v.queue[0]
				v.queue = v.queue[1:]
				v.follow(next.address, next.from)
			}
			if len(v.seen) < 150 {
				t.Errorf("only %d addresses were found", len(v.seen))
			}
			t.Logf("%d addresses", len(v.seen))
		})
	}
}

// behindProxy returns a client of a proxy that serves the server at inner below path, and nothing else.
func behindProxy(t *testing.T, inner, path string, strips bool) *http.Client {
	t.Helper()
	to, err := url.Parse(inner)
	if err != nil {
		t.Fatal(err)
	}
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = to.Scheme, to.Host }}
	var handler http.Handler = forward
	if strips {
		handler = http.StripPrefix(path, forward)
	}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, path+"/") {
			http.Error(w, "outside", http.StatusTeapot)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	transport := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, proxy.Listener.Addr().String())
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// visitor follows the links of a site.
type visitor struct {
	t        *testing.T
	base     string
	client   *http.Client
	queue    []struct{ address, from string }
	seen     map[string]bool
	perShape map[string]int // how many addresses of one form were visited
}

// maxPerShape bounds how many addresses are visited that differ in ids and numbers only.
const maxPerShape = 6

var varying = regexp.MustCompile(`[0-9a-f]{24}|[0-9]+|=[^&]*|https?:/.*|https?%3A.*`)

func (v *visitor) visit(address, from string) {
	u, err := url.Parse(address)
	if err != nil || u.Host != "archive.example" {
		return
	}
	u.Fragment = ""
	address = u.String()
	if v.seen[address] {
		return
	}
	v.seen[address] = true
	if !strings.HasPrefix(address, v.base) {
		v.t.Errorf("%s, in %s, is not below %s", address, from, v.base)
		return
	}
	shape := varying.ReplaceAllString(strings.TrimPrefix(address, v.base), "*")
	if v.perShape[shape]++; v.perShape[shape] <= maxPerShape {
		v.queue = append(v.queue, struct{ address, from string }{address, from})
	}
}

var entities = strings.NewReplacer("&amp;", "&", `\u0026`, "&", `\u003c`, "<", `\u003e`, ">", "&lt;", "<", "&gt;", ">")

var ownAddress = regexp.MustCompile("http://archive[.]example/[^\\s\"'<>\\\\)`,{}|*]*")

// mayBeUnknown are addresses that may be 404: one that the test asks for, and descriptions of IRIs that are only
// mentioned.
var mayBeUnknown = regexp.MustCompile(`/nowhere/x$|/describe[?]iri=`)

func (v *visitor) follow(address, from string) {
	for _, accept := range []string{"text/html,*/*;q=0.5", "*/*"} {
		r, err := http.NewRequestWithContext(v.t.Context(), "GET", address, nil)
		if err != nil {
			v.t.Fatal(err)
		}
		r.Header.Set("Accept", accept)
		answer, err := v.client.Do(r)
		if err != nil {
			v.t.Fatalf("%s: %v", address, err)
		}
		body, err := io.ReadAll(io.LimitReader(answer.Body, 4<<20))
		answer.Body.Close()
		if err != nil {
			v.t.Fatalf("%s: %v", address, err)
		}
		if s := answer.StatusCode; s == 404 && mayBeUnknown.MatchString(address) {
			continue
		} else if s == 404 || s >= 500 || s == http.StatusTeapot {
			v.t.Errorf("%s, in %s (Accept: %s): %d\n%.300s", address, from, accept, s, body)
			continue
		}
		at := answer.Request.URL
		for _, name := range []string{"Location", "Content-Location"} {
			v.resolve(at, answer.Header.Get(name), address)
		}
		for _, line := range answer.Header.Values("Link") {
			for _, link := range regexp.MustCompile(`<([^>]*)>`).FindAllStringSubmatch(line, -1) {
				v.resolve(at, link[1], address)
			}
		}
		if answer.Header.Get("Memento-Datetime") != "" && !strings.Contains(answer.Header.Get("Content-Type"), "html") {
			return // archived bytes
		}
		v.read(at, answer.Header.Get("Content-Type"), body)
	}
}

func (v *visitor) resolve(at *url.URL, ref, from string) {
	if to, err := at.Parse(ref); err == nil && ref != "" {
		v.visit(to.String(), from)
	}
}

// read finds the addresses in a body.
func (v *visitor) read(at *url.URL, mediaType string, body []byte) {
	if !strings.HasPrefix(mediaType, "text/html") {
		if strings.Contains(mediaType, "text") || strings.Contains(mediaType, "json") || strings.Contains(mediaType, "xml") {
			for _, found := range ownAddress.FindAllString(entities.Replace(string(body)), 300) {
				if !strings.HasSuffix(found, "/graph/") { // the beginning of a name in an explanation
					v.visit(strings.TrimRight(found, ".;:"), at.String())
				}
			}
		}
		return
	}
	tokens := html.NewTokenizer(strings.NewReader(string(body)))
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			return
		case html.StartTagToken, html.SelfClosingTagToken:
			for _, a := range tokens.Token().Attr {
				switch a.Key {
				case "href", "src", "action", "formaction", "data-path":
					if !strings.Contains(a.Val, "{") {
						v.resolve(at, a.Val, at.String())
					}
				}
			}
		}
	}
}
