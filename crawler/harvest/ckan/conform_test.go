package ckan

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/portalapi"
	"odarchive/crawler/harvest/portaltest"
)

func TestCKANConforms(t *testing.T) {
	pack := func(e portaltest.Entry) string {
		return fmt.Sprintf(`{"id":"id-%02d","name":"set-%02[1]d","title":%q,"metadata_modified":%q,"state":"active",`+
			`"resources":[{"id":"r","url":%q}]}`, e.N, e.Title, strings.TrimSuffix(e.Changed, "Z"), e.File)
	}
	portaltest.Conform(t, portaltest.Dialect{
		Source: func(http harvest.Doer) harvest.Harvester {
			return New(portalapi.Source{URL: "https://c.example/", HTTP: http, Rows: portaltest.PageSize, Now: portaltest.Now})
		},
		IRI: func(e portaltest.Entry) string { return fmt.Sprintf("https://c.example/dataset/set-%02d", e.N) },
		Answer: func(p *portaltest.Portal, r *http.Request) string {
			switch r.URL.Path {
			case "/api/3/action/status_show":
				return `{"success":true,"result":{"site_title":"C"}}`
			case "/api/3/action/package_search":
				since, _ := strings.CutPrefix(r.FormValue("fq"), "metadata_modified:[")
				list := p.Since(strings.TrimSuffix(since, " TO *]"))
				if r.FormValue("rows") == "0" {
					return fmt.Sprintf(`{"success":true,"result":{"count":%d,"results":[]}}`, len(list))
				}
				page, _ := p.Page(list, number(r, "start"))
				return fmt.Sprintf(`{"success":true,"result":{"count":%d,"results":[%s]}}`, len(list),
					portaltest.Join(page[:min(len(page), number(r, "rows"))], pack))
			}
			return ""
		},
	})
}
