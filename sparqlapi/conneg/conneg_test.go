package conneg_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"odarchive/sparqlapi/conneg"
)

func TestTheClientsPreferenceDecidesThenTheServersOrder(t *testing.T) {
	t.Parallel()
	const (
		ttl  = "text/turtle"
		nt   = "application/n-triples"
		html = "text/html"
		json = "application/json"
		ld   = "application/ld+json"
	)
	for _, c := range []struct {
		name, accept, offers, want string // offers are separated by spaces; want "" means 406
	}{
		{"no header accepts everything", "", ttl + " " + html, ttl},
		{"any", "*/*", html + " " + ttl, html},
		{"one asked for", "text/html", ttl + " " + html, html},
		{"nothing acceptable", "image/png", ttl + " " + html, ""},
		{"nothing offered", "*/*", "", ""},
		{"quality before order", "text/turtle;q=0.5, text/html;q=0.9", ttl + " " + html, html},
		{"ties go to the server's order", "text/html, text/turtle", ttl + " " + html, ttl},
		{"ties of a wildcard too", "text/*, application/json", json + " " + ttl, json},
		{"a browser", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", ttl + " " + html, html},
		{"the specific range sets the quality", "text/*;q=0.3, text/html;q=0.1, */*;q=0.2", html + " " + ttl + " " + json, ttl},
		{"the specific range may lower it", "text/html;q=0.1, */*", html + " " + json, json},
		{"zero excludes", "text/html;q=0, */*", html + " " + ttl, ttl},
		{"zero excludes all", "*/*;q=0", html, ""},
		{"zero for a type, not for its member", "text/*;q=0, text/turtle", html + " " + ttl, ttl},
		{"example of the RFC, plain", "text/*;q=0.3, text/plain;q=0.7, text/plain;format=flowed, text/plain;format=fixed;q=0.4, */*;q=0.5",
			"text/plain image/jpeg", "text/plain"},
		{"example of the RFC, flowed", "text/*;q=0.3, text/plain;q=0.7, text/plain;format=flowed, text/plain;format=fixed;q=0.4, */*;q=0.5",
			"text/plain;format=fixed image/jpeg text/plain;format=flowed", "text/plain;format=flowed"},
		{"example of the RFC, fixed is below any", "text/plain;format=fixed;q=0.4, */*;q=0.5", "text/plain;format=fixed image/jpeg",
			"image/jpeg"},
		{"case does not matter", "Text/HTML;Q=0.9, TEXT/turtle;q=0.1", ttl + " " + html, html},
		{"white space does not matter", " text/html \t; q=0.2 ,\ttext/turtle ;q=0.1 ", ttl + " " + html, html},
		{"empty elements are nothing", ",,text/html,,", ttl + " " + html, html},
		{"charset UTF-8 is what we have anyway", "text/html;charset=UTF-8", html, html},
		{"a charset offered is no obstacle", "text/html", "text/html;charset=utf-8", "text/html;charset=utf-8"},
		{"a profile we do not have is no 406", `application/ld+json;profile="http://www.w3.org/ns/json-ld#compacted, or not"`,
			json + " " + ld, ld},
		{"but the plain range counts more", "application/ld+json;profile=x, application/ld+json;q=0.1, application/json;q=0.5",
			ld + " " + json, json},
		{"another value of a parameter we have is", "text/csv;header=absent", "text/csv;header=present", ""},
		{"the matching parameter wins", "text/csv;header=absent", "text/csv;header=present text/csv;header=absent",
			"text/csv;header=absent"},
		{"commas in quotes", `text/html;x="a,b;q=0", text/turtle;q=0.5`, ttl + " " + html, html},
		{"escaped quotes", `text/html;x="a\",b", text/turtle;q=0.5`, ttl + " " + html, html},
		{"extensions behind the weight", "text/html;q=0.1;level=1, text/turtle;q=0.2", html + " " + ttl, ttl},
		{"old Java", "text/csv, image/gif, *; q=.2, */*; q=.2", ttl + " text/csv", "text/csv"},
		{"a lone star", "*", nt, nt},
		{"an unreadable weight is one", "text/html;q=high, text/turtle;q=0.9", ttl + " " + html, html},
		{"too much weight is one", "text/html;q=7, text/turtle", ttl + " " + html, ttl},
		{"negative weight is none", "text/html;q=-1, */*;q=0.1", html, ""},
		{"no number that is not one", "text/html;q=NaN, text/turtle;q=1e9", ttl + " " + html, ttl},
		{"three decimals count", "text/html;q=0.001, text/turtle;q=0.002", html + " " + ttl, ttl},
		{"one broken range is passed over", "text, */html, text/turtle", html + " " + ttl, ttl},
		{"a header of nonsense is no header", "gimme; !!, /, html", ttl + " " + html, ttl},
		{"an unclosed quote swallows the rest", `text/turtle;x="a, text/html`, html + " " + ttl, ttl},
		{"a broken offer is never chosen", "*/*", "turtle " + html, html},
	} {
		got, ok := conneg.Choose(c.accept, conneg.Of(strings.Fields(c.offers)...))
		if got.MediaType != c.want || ok != (c.want != "") {
			t.Errorf("%s: Choose(%q, %s) = %q, %v; want %q", c.name, c.accept, c.offers, got.MediaType, ok, c.want)
		}
	}
}

func TestTheNameOfAnOfferComesBack(t *testing.T) {
	t.Parallel()
	got, _ := conneg.Choose("text/turtle", []conneg.Offer{{MediaType: "text/html", Name: "page"}, {MediaType: "text/turtle", Name: "rdf"}})
	if got.Name != "rdf" {
		t.Errorf("got %+v", got)
	}
}

func TestSeveralHeaderLinesAreOneHeader(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Add("Accept", "text/html;q=0.5")
	r.Header.Add("Accept", "text/turtle")
	if got, ok := conneg.Negotiate(r, conneg.Of("text/html", "text/turtle")); !ok || got.MediaType != "text/turtle" {
		t.Errorf("got %+v, %v", got, ok)
	}
}

func FuzzChoose(f *testing.F) {
	f.Add("text/html;q=0.5, */*")
	f.Add(`a/b;c="\`)
	offers := conneg.Of("text/html", "text/turtle;x=y", "application/json")
	f.Fuzz(func(t *testing.T, accept string) {
		got, ok := conneg.Choose(accept, offers)
		if ok == (got == conneg.Offer{}) {
			t.Errorf("Choose(%q) = %+v, %v", accept, got, ok)
		}
	})
}
