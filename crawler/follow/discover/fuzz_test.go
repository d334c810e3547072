package discover

import (
	"testing"
)

// Pages, lists and marks of any content neither panic nor exceed the budget, nor make files of what robots.txt forbids.
func FuzzSite(f *testing.F) {
	f.Add("text/html", `<a href="/b">x</a><a href="/d.csv">y</a><base href="//[">`, `<html><a href="?a=1&b=%zz">`, "")
	f.Add("application/xml", `<urlset><url><loc>/x.csv</loc></url></urlset>`, "%PDF", markPrefix+"e30")
	f.Add("text/html",
		`<script `+
			`type="application/ld+json">{"@context":"https://schema.org","@type":"Dataset","distribution":{"contentUrl":"/private/1.csv"}`+
			`}</script>`, "", "")
	f.Fuzz(func(t *testing.T, kind, first, other, mark string) {
		s := &site{robots: "User-agent: *\nDisallow: /private\nSitemap: http://city.example/s.xml", pages: map[string]string{
			"/": "text/html|" + first + `<a href="/b">Open data</a><a href="/get?id=1">CSV</a>`, "/b": kind + "|" + other,
			"/get?id=1": kind + "|" + first, "/s.xml": "application/xml|" + other}}
		k, _, _ := try(t.Context(), s, mark, Options{Budget: 30}) // some of them are errors
		if len(s.asked) >= 30 {
			t.Fatalf("%d requests", len(s.asked))
		}
		for _, d := range k.datasets {
			for _, x := range d.Distributions {
				if v, _ := s.Allowed(t.Context(), x.URL); !v.Allowed && keyOf(x.URL) != 0 && len(d.Distributions) == 1 &&
					d.IRI == datasetOf(x.URL) {
					t.Fatalf("%s is forbidden", x.URL)
				}
			}
		}
	})
}
