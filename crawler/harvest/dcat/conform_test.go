package dcat

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/portaltest"
)

func TestDCATConforms(t *testing.T) {
	portaltest.Conform(t, portaltest.Dialect{
		Source: func(http harvest.Doer) harvest.Harvester {
			return Source{URL: "http://c.example/catalog", HTTP: http, Now: portaltest.Now}
		},
		IRI:     func(e portaltest.Entry) string { return fmt.Sprintf("http://c.example/d/%d", e.N) },
		NoCount: true, NoTotal: true,
		Answer: func(p *portaltest.Portal, r *http.Request) string {
			if r.URL.Path != "/catalog" {
				return ""
			}
			from := 0
			fmt.Sscan(r.FormValue("from"), &from)
			page, next := p.Page(p.Entries, from)
			var b strings.Builder
			b.WriteString("Content-Type: text/turtle\n" + prefixes + "<http://c.example/> a dcat:Catalog .\n")
			for _, e := range page {
				fmt.Fprintf(&b, "<http://c.example/> dcat:dataset :%d . :%[1]d a dcat:Dataset", e.N)
				if e.Title != "" {
					fmt.Fprintf(&b, " ; dct:title %q", e.Title)
				}
				if e.File != "" {
					fmt.Fprintf(&b, " ; dcat:distribution [ dcat:downloadURL <%s> ]", e.File)
				}
				b.WriteString(" .\n")
			}
			if next > 0 {
				fmt.Fprintf(&b, "<http://c.example/catalog> hydra:next <http://c.example/catalog?from=%d> .\n", next)
			}
			return b.String()
		},
	})
}
