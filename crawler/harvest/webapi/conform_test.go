package webapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/portaltest"
)

func TestADescribedAPIConforms(t *testing.T) {
	document := strings.Replace(simple(`kind = "offset", parameter = "start"`), "title = \"name\"\n",
		"title = \"name\"\n[[api.dataset.distribution]]\nurl = \"file\"\n", 1)
	portaltest.Conform(t, portaltest.Dialect{
		Source: func(doer harvest.Doer) harvest.Harvester {
			source := compile(t, document, nil)
			source.HTTP = trips{doer}
			return source
		},
		IRI: func(e portaltest.Entry) string { return fmt.Sprintf("https://api.example/dataset/d%d", e.N) },
		Answer: func(p *portaltest.Portal, r *http.Request) string {
			if r.URL.Path != "/list" {
				return ""
			}
			from := 0
			fmt.Sscan(r.FormValue("start"), &from)
			page, _ := p.Page(p.Entries, from)
			return fmt.Sprintf(`{"total":%d,"items":[%s]}`, len(p.Entries), portaltest.Join(page, func(e portaltest.Entry) string {
				return fmt.Sprintf(`{"id":"d%d","name":%q,"file":%q}`, e.N, e.Title, e.File)
			}))
		},
	})
}

// trips is a Doer as a transport.
type trips struct{ harvest.Doer }

func (t trips) RoundTrip(r *http.Request) (*http.Response, error) { return t.Do(r) }
