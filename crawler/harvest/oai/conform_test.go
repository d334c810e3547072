package oai

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/portaltest"
)

func TestOAIConforms(t *testing.T) {
	portaltest.Conform(t, portaltest.Dialect{
		Source: func(http harvest.Doer) harvest.Harvester {
			return Source{URL: "http://r.example/oai", HTTP: http, Now: portaltest.Now}
		},
		IRI: func(e portaltest.Entry) string {
			return fmt.Sprintf("http://r.example/oai?identifier=oai%%3Ar.example%%3A%d&metadataPrefix=oai_dc&verb=GetRecord", e.N)
		},
		NoCount: true, NoTotal: true,
		Answer: func(p *portaltest.Portal, r *http.Request) string {
			repository := &repo{date: max(p.Entries[len(p.Entries)-1].Changed, "2026-03-01T00:00:00Z")}
			args := r.URL.Query()
			if verb := args.Get("verb"); verb != "ListRecords" {
				return repository.answer(args)
			}
			token, start := strings.Split(args.Get("resumptionToken"), "!"), 0
			if len(token) == 3 {
				fmt.Sscan(token[0], &start)
				args = url.Values{"from": {token[1]}, "until": {token[2]}}
			}
			list := slices.DeleteFunc(p.Since(args.Get("from")), func(e portaltest.Entry) bool {
				return args.Has("until") && args.Get("until") != "" && e.Changed > args.Get("until")
			})
			page, next := p.Page(list, start)
			if len(page) == 0 {
				return "<OAI-PMH>" + fail("noRecordsMatch") + "</OAI-PMH>"
			}
			more := ""
			if next > 0 {
				more = fmt.Sprintf("%d!%s!%s", next, args.Get("from"), args.Get("until"))
			}
			var records strings.Builder
			for _, e := range page {
				it := item{id: fmt.Sprintf("oai:r.example:%d", e.N), stamp: e.Changed,
					metadata: strings.Replace(dc(fmt.Sprintf("http://r.example/d/%d", e.N)), "A title", e.Title, 1)}
				it.metadata = strings.Replace(it.metadata, "</oai_dc:dc>", "<dc:identifier>"+e.File+"</dc:identifier></oai_dc:dc>", 1)
				records.WriteString(it.record())
			}
			return strings.Replace(repository.answer(r.URL.Query()), fail("noRecordsMatch"),
				"<ListRecords>"+records.String()+"<resumptionToken>"+more+"</resumptionToken></ListRecords>", 1)
		},
	})
}
