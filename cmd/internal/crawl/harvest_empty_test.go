package crawl

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/follow/discover"
	"odarchive/crawler/harvest"
)

// empty returns, for each kind, portals of that kind that answer well and list nothing.
func empty() []wild {
	sparql := map[string]string{"/": `{"head":{"vars":["x"]},"results":{"bindings":[]}}`}
	return []wild{
		{kind: "ckan", about: "it counts ten and returns none", answer: ckanOf(func(int, int) ([]string, int) { return nil, 10 })},
		{kind: "ckan", about: "it counts none", answer: ckanOf(func(int, int) ([]string, int) { return nil, 0 })},
		{kind: "ckan", about: "all are deleted", answer: ckanOf(func(start, _ int) ([]string, int) {
			return []string{`{"id":"1","name":"a","state":"deleted","resources":[{"url":"http://portal.example/a.csv"}]}`}[min(start, 1):],
				1
		})},
		{kind: "ckan", about: "no resource has an address", answer: ckanOf(func(start, _ int) ([]string, int) {
			return []string{`{"id":"1","name":"a","resources":[{"id":"r","url":"mailto:a@b.example"}]}`}[min(start, 1):], 1
		})},
		{
			kind: "datajson", answers: map[string]string{
				"/data.json": `{"conformsTo":"https://project-open-data.cio.gov/v1.1/schema","dataset":[]}`}},
		{kind: "socrata", answers: map[string]string{"/api/catalog/v1": `{"results":[],"resultSetSize":0}`}},
		{kind: "opendatasoft", answers: map[string]string{"/api/explore/v2.1/catalog/datasets": `{"total_count":0,"results":[]}`}},
		{kind: "udata", answers: map[string]string{"/api/1/datasets/": `{"data":[],"next_page":null,"page":1,"page_size":100,"total":0}`}},
		{kind: "magda", answers: map[string]string{"/api/v0/registry/records": `{"hasMore":false,"records":[]}`}},
		{kind: "invenio", answers: map[string]string{"/api/records": `{"hits":{"total":0,"hits":[]},"links":{}}`}},
		{kind: "zenodo", answers: map[string]string{"/api/records": `{"hits":{"total":0,"hits":[]},"links":{}}`}},
		{kind: "datacite", address: "http://portal.example/dois",
			answers: map[string]string{"/dois": `{"data":[],"meta":{"total":0,"totalPages":0},"links":{}}`}},
		{
			kind: "dataverse",
			answers: map[string]string{
				"/api/search": `{"status":"OK","data":{"q":"*","total_count":0,"start":0,"items":[],"count_in_response":0}}`}},
		{kind: "csw", address: "http://portal.example/csw", answers: map[string]string{
			"/csw": `<csw:GetRecordsResponse xmlns:csw="http://www.opengis.net/cat/csw/2.0.2"><csw:SearchResults ` +
				`numberOfRecordsMatched="0" numberOfRecordsReturned="0" nextRecord="0"/></csw:GetRecordsResponse>`}},
		{kind: "dcat", address: "http://portal.example/c.ttl",
			answers: map[string]string{"/c.ttl": dcatPrefixes + `<> a dcat:Catalog ; dct:title "C" .`}},
		{kind: "ldes", address: "http://portal.example/ldes",
			answers: map[string]string{
				"/ldes": `@prefix ldes: <https://w3id.org/ldes#> . @prefix tree: <https://w3id.org/tree#> . <> a ldes:EventStream ; ` +
					`tree:view <ldes> . <ldes> a tree:Node .`}},
		{kind: "portalwatch", answers: sparql},
		{kind: "sparql", answers: sparql},
		{kind: "sitemap", address: "http://portal.example/sitemap.xml",
			answers: map[string]string{"/sitemap.xml": `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"></urlset>`}},
		{kind: "schemaorg", address: "http://portal.example/page",
			answers: map[string]string{"/page": `<!doctype html><title>P</title><p>Nothing`}},
		{kind: "oai", address: "http://portal.example/oai",
			answer: repository(func(string) string { return oaiPage(`<error code="noRecordsMatch">none</error>`) })},
	}
}

func TestAPortalOfAnyKindThatListsNothingIsSaidToListNothing(t *testing.T) {
	t.Parallel()
	tried := map[string]bool{}
	for _, c := range empty() {
		tried[c.kind] = true
		if c.address == "" {
			c.address = "http://portal.example/"
		}
		for _, h := range harvesters() {
			if h.kind != c.kind {
				continue
			}
			t.Run(c.kind+" "+c.about, func(t *testing.T) {
				t.Parallel()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				run := func(k *keeper, part harvest.Selection) (harvest.Report, error) {
					asked := &harvest.Asked{Doer: web{c.ServeHTTP}}
					h, err := harvest.Select(h.make(HarvestSource{Kind: h.kind, Address: c.address, HTTP: asked}), part)
					if err != nil {
						return harvest.Report{}, err
					}
					return harvest.Run(ctx, c.kind, h, k, harvest.Options{Kind: c.kind, Part: part, Asked: asked.String})
				}
				k := &keeper{}
				report, err := run(k, harvest.Selection{})
				if err == nil || k.ended || k.mark != "" || strings.Contains(report.Error, "\n") || len(report.Error) > 900 {
					t.Errorf("%v; ended %v, mark %q, %+v", err, k.ended, k.mark, report)
				}
				t.Log(report.Error)
				if c.kind == "oai" || c.kind == "ckan" { // that there are no changes is no error
					if _, err := run(&keeper{}, harvest.Selection{Since: "2026-01-01"}); err != nil {
						t.Errorf("since a date: %v", err)
					}
				}
			})
		}
	}
	for _, kind := range HarvestKinds() {
		if !tried[kind] {
			t.Errorf("the kind %s was not tried with an empty portal", kind)
		}
	}
}

// silent is a source that never answers.
type silent struct{ asked map[string]int }

func (s *silent) Do(req *http.Request) (*http.Response, error) {
	s.asked[req.URL.Scheme+"://"+req.URL.Host]++
	return nil, &url.Error{Op: "Get", URL: req.URL.String(), Err: os.ErrDeadlineExceeded}
}

func TestASilentSourceOfAnyKindIsAskedOnce(t *testing.T) {
	t.Parallel()
	ask := map[string]func(harvest.Doer) error{Recognised: func(d harvest.Doer) error {
		_, err := discover.Recognise(t.Context(), d, "http://portal.example/", nil)
		return err
	}}
	for _, h := range harvesters() {
		ask[h.kind] = func(d harvest.Doer) error {
			asked := &harvest.Asked{Doer: d}
			source := h.make(HarvestSource{Kind: h.kind, Address: "http://portal.example/", HTTP: asked})
			_, err := harvest.Run(t.Context(), h.kind, source, &keeper{}, harvest.Options{Kind: h.kind, Asked: asked.String})
			return err
		}
	}
	for kind, ask := range ask {
		s := &silent{asked: map[string]int{}}
		err := ask(harvest.Reaching(s))
		if !errors.Is(err, harvest.ErrUnreached) || len(s.asked) != 1 || s.asked["http://portal.example"] != 1 {
			t.Errorf("%s: %v, asked %v", kind, err, s.asked)
		}
	}
}
