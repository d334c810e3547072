package ldes

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/portaltest"
)

func TestLDESConforms(t *testing.T) {
	portaltest.Conform(t, portaltest.Dialect{
		Source:  func(http harvest.Doer) harvest.Harvester { return Source{URL: "http://s.example/root", HTTP: http} },
		IRI:     func(e portaltest.Entry) string { return fmt.Sprintf("http://s.example/d/%d", e.N) },
		NoCount: true, NoTotal: true,
		Answer: func(p *portaltest.Portal, r *http.Request) string {
			const stream = "Content-Type: text/turtle\n" + prefixes + "<stream> a ldes:EventStream ; tree:view <root> ; " +
				"ldes:versionOfPath dct:isVersionOf ; ldes:timestampPath dct:issued .\n"
			if r.URL.Path == "/root" {
				return stream + "<root> tree:relation [ tree:node <p/0> ] ."
			}
			from := 0
			if _, err := fmt.Sscanf(r.URL.Path, "/p/%d", &from); err != nil {
				return ""
			}
			page, next := p.Page(p.Entries, from)
			var b strings.Builder
			b.WriteString(stream)
			for _, e := range page {
				v := fmt.Sprintf("<v/%d-%s>", e.N, e.Changed)
				fmt.Fprintf(&b, "<stream> tree:member %s . %[1]s a dcat:Dataset ; dct:isVersionOf :%d ; dct:issued %q", v, e.N, e.Changed)
				if e.Title != "" {
					fmt.Fprintf(&b, " ; dct:title %q", e.Title)
				}
				if e.File != "" {
					fmt.Fprintf(&b, " ; dcat:distribution [ a dcat:Distribution ; dcat:downloadURL <%s> ]", e.File)
				}
				b.WriteString(" .\n")
			}
			if next > 0 {
				fmt.Fprintf(&b, "<p/%d> tree:relation [ tree:node <p/%d> ] .\n", from, next)
			}
			return b.String()
		},
	})
}
