package schemaorg

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/portaltest"
)

func TestSchemaOrgConforms(t *testing.T) {
	portaltest.Conform(t, portaltest.Dialect{
		Source: func(http harvest.Doer) harvest.Harvester {
			return Source{URL: "https://city.example/sitemap.xml", HTTP: http, Now: portaltest.Now}
		},
		IRI:     func(e portaltest.Entry) string { return fmt.Sprintf("https://city.example/d/%d", e.N) },
		NoCount: true, NoTotal: true,
		Answer: func(p *portaltest.Portal, r *http.Request) string {
			if r.URL.Path == "/sitemap.xml" {
				var b strings.Builder
				for _, e := range p.Entries {
					fmt.Fprintf(&b, "<url><loc>https://city.example/d/%d</loc><lastmod>%s</lastmod></url>", e.N, e.Changed)
				}
				return `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + b.String() + "</urlset>"
			}
			for _, e := range p.Entries {
				if r.URL.Path == fmt.Sprintf("/d/%d", e.N) {
					p.Page(p.Entries, 0)
					return fmt.Sprintf(
						`<html><script type="application/ld+json">{"@context":"https://schema.org/","@type":"Dataset","name":%q,`+
							`"url":"https://city.example/d/%d","distribution":[{"@type":"DataDownload","contentUrl":%q}]}</script></html>`,
						e.Title,
						e.N, e.File)
				}
			}
			return ""
		},
	})
}
