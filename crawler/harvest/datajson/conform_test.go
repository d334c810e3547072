package datajson

import (
	"fmt"
	"net/http"
	"testing"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/portaltest"
)

func TestDataJSONConforms(t *testing.T) {
	portaltest.Conform(t, portaltest.Dialect{
		Source: func(http harvest.Doer) harvest.Harvester {
			return Source{URL: "https://city.example/", HTTP: http, Now: portaltest.Now}
		},
		IRI:      func(e portaltest.Entry) string { return fmt.Sprintf("https://city.example/data.json#set%d", e.N) },
		Document: true, NoCount: true,
		Answer: func(p *portaltest.Portal, r *http.Request) string {
			if r.URL.Path != "/data.json" {
				return ""
			}
			page, _ := p.Page(p.Entries, 0)
			return `{"conformsTo":"https://project-open-data.cio.gov/v1.1/schema","dataset":[` +
				portaltest.Join(page, func(e portaltest.Entry) string {
					return fmt.Sprintf(`{"identifier":"set%d","title":%q,"modified":%q,"distribution":[{"downloadURL":%q}]}`, e.N, e.Title,
						e.Changed, e.File)
				}) + `]}`
		},
	})
}
