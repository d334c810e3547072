package webapi

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/portalapi"
	"odarchive/crawler/harvest/portals"
	"odarchive/crawler/harvest/portaltest"
	"odarchive/triplestore/term"

	"github.com/BurntSushi/toml"
)

// transport sends requests to a handler in the process.
type transport struct{ handler http.Handler }

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := (&portaltest.Web{Handler: noRedirects{t.handler}}).Do(r)
	if err == nil && resp.Header.Get("Real-Location") != "" {
		resp.Header.Set("Location", resp.Header.Get("Real-Location"))
		resp.StatusCode = http.StatusFound
	}
	return resp, err
}

// noRedirects hides redirects from portaltest.Web, which follows them: the client under test is to do so.
type noRedirects struct{ http.Handler }

func (n noRedirects) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n.Handler.ServeHTTP(&hiding{w}, r)
}

type hiding struct{ http.ResponseWriter }

func (h *hiding) WriteHeader(status int) {
	if status/100 == 3 {
		h.Header().Set("Real-Location", h.Header().Get("Location"))
		h.Header().Del("Location")
		status = http.StatusOK
	}
	h.ResponseWriter.WriteHeader(status)
}

// read reads a document of a campaign.
func read(t testing.TB, text string) (d struct {
	Name, Kind, Every string
	Keywords          []string
	API               Document
}) {
	t.Helper()
	meta, err := toml.Decode(text, &d)
	if err != nil || len(meta.Undecoded()) > 0 {
		t.Fatalf("%v, unknown %v", err, meta.Undecoded())
	}
	return d
}

// compile makes a Source of a document, with a handler as the interface.
func compile(t testing.TB, text string, h http.Handler) Source {
	t.Helper()
	d := read(t, text)
	api, err := Compile(d.API)
	if err != nil {
		t.Fatal(err)
	}
	return Source{API: api, Keywords: d.Keywords, HTTP: transport{h}}
}

func example(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile("examples/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// statements returns what a harvest says, as sorted text: of the portal, of each dataset, its seeds, and what is gone.
func statements(t testing.TB, h harvest.Harvester) []string {
	t.Helper()
	n, err := portaltest.Harvest(t, h, "")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	add := func(what string, quads []term.Quad) {
		for _, q := range quads {
			all = append(all, fmt.Sprintf("%s: %s %s %s", what, q.S, q.P, q.O))
		}
	}
	for _, p := range n.Portals {
		add("portal", p.Quads())
	}
	for _, d := range n.Datasets {
		add("dataset", d.Quads(n.Portals[0].IRI))
		for _, s := range d.Seeds(n.Portals[0]) {
			all = append(all, fmt.Sprintf("seed: %+v", s))
		}
	}
	for _, g := range n.GoneIRIs {
		all = append(all, "gone: "+g)
	}
	slices.Sort(all)
	return all
}

// same compares the statements of a document with those of a harvester in Go.
func same(t *testing.T, document string, h http.Handler, made func(harvest.Doer) harvest.Harvester) {
	t.Helper()
	want := statements(t, made(&portaltest.Web{Handler: h}))
	got := statements(t, compile(t, document, h))
	if len(want) == 0 {
		t.Fatal("the harvester in Go finds nothing")
	}
	for _, one := range want {
		if !slices.Contains(got, one) {
			t.Errorf("the document lacks %s", one)
		}
	}
	for _, one := range got {
		if !slices.Contains(want, one) {
			t.Errorf("the document has, in addition, %s", one)
		}
	}
}

func day() time.Time { return time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC) }

// answerOf serves one answer, or a list in pages of three.
type answerOf struct {
	path, one, site string
	list            func(r *http.Request) string
}

func (a answerOf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/api/1/site/" && a.site != "":
		fmt.Fprint(w, a.site)
	case r.URL.Path != a.path:
		http.NotFound(w, r)
	case a.list != nil:
		fmt.Fprint(w, a.list(r))
	default:
		fmt.Fprint(w, a.one)
	}
}

func TestADocumentOfSocrataSaysWhatTheHarvesterSays(t *testing.T) {
	t.Parallel()
	made := func(web harvest.Doer) harvest.Harvester {
		return portals.NewSocrata(portalapi.Source{URL: "https://city.example", HTTP: web, Rows: 3, Now: day})
	}
	document := strings.Replace(example(t, "socrata.toml"), `limit = "100"`, `limit = "3"`, 1)
	pages := answerOf{path: "/api/catalog/v1", list: func(r *http.Request) string {
		first, list := 0, []string{}
		if _, err := fmt.Sscanf(r.URL.Query().Get("scroll_id"), "aaaa-%04d", &first); err == nil {
			first++
		}
		for i := first; i < min(first+3, 10); i++ {
			list = append(list,
				fmt.Sprintf(`{"resource":{"id":"aaaa-%04d","name":"Table %d","type":"dataset","updatedAt":"2026-01-%02dT00:00:00.000Z"}}`,
					i, i, i+1))
		}
		return fmt.Sprintf(`{"results":[%s],"resultSetSize":10}`, strings.Join(list, ","))
	}}
	same(t, document, pages, made)
	portaltest.Resumes(t, compile(t, document, pages))
	page := answerOf{path: "/api/catalog/v1", list: func(r *http.Request) string {
		if r.URL.Query().Get("scroll_id") != "" {
			return `{"resultSetSize":7,"results":[]}`
		}
		return `{"resultSetSize":7,"results":[
		{"resource":{"name":"Trees","id":"abcd-1234","type":"dataset","description":"<b>All</b> trees<br/>of it","attribution":"City of Example","attribution_link":"https://city.example","contact_email":"a@city.example","updatedAt":"2026-01-02T03:04:05.000Z","createdAt":"2020-01-01T00:00:00.000Z"},
		 "classification":{"domain_category":"Environment","domain_tags":["trees","parks"],"domain_metadata":[{"key":"Common-Core_Update-Frequency","value":"Weekly"},{"key":"x_Geographic-Coverage","value":"Example City"},{"key":"x_Temporal","value":"2010-01-01/2020-12-31"},{"key":"x_License","value":"CC BY"},{"key":"empty"}]},
		 "metadata":{"domain":"city.example","license":"Public Domain"},"permalink":"https://city.example/d/abcd-1234","link":"https://city.example/Environment/Trees/abcd-1234","owner":{"id":"u","display_name":"Ann"}},
		{"resource":{"name":"A map","id":"mapp-0001","type":"map","lens_view_type":"geo"},"classification":{"categories":["a","b"],"tags":["t"],"domain_metadata":[{"key":"y license","value":"ODbL"}]}},
		{"resource":{"name":"A file","id":"file-0001","type":"file","blob_mime_type":"application/pdf"}},
		{"resource":{"name":"Another","id":"file-0002","type":"file"}},
		{"resource":{"name":"Elsewhere","id":"href-0001","type":"href","href":["https://other.example/a.csv","nowhere",{"url":"https://other.example/b.csv"}]}},
		{"resource":{"name":"A story","id":"stor-0001","type":"story"}},
		{"resource":{"name":"No id"}}, 7, null]}`
	}}
	same(t, document, page, made)
}

func TestADocumentOfUdataSaysWhatTheHarvesterSays(t *testing.T) {
	t.Parallel()
	made := func(web harvest.Doer) harvest.Harvester {
		return portals.NewUdata(portalapi.Source{URL: "https://donnees.example/", HTTP: web, Rows: 3, Now: day})
	}
	document := strings.Replace(example(t, "udata.toml"), `page_size = "100"`, `page_size = "3"`, 1)
	site := `{"id":"x","title":"Données d'Exemple","version":"9.1.0"}`
	for _, saysNext := range []bool{true, false} {
		pages := answerOf{path: "/api/1/datasets/", site: site, list: func(r *http.Request) string {
			page, list, next := 0, []string{}, "null"
			fmt.Sscan(r.URL.Query().Get("page"), &page)
			for i := (page - 1) * 3; i < min(page*3, 10); i++ {
				list = append(list,
					fmt.Sprintf(`{"id":"id%d","slug":"set-%d","title":"Set %d","last_update":"2026-01-%02dT00:00:00+00:00"}`, i, i, i, i+1))
			}
			if page*3 < 10 && saysNext {
				next = fmt.Sprintf(`"http://inside:7000/api/1/datasets/?page=%d"`, page+1)
			}
			return fmt.Sprintf(`{"data":[%s],"next_page":%s,"page":%d,"page_size":3,"total":10}`, strings.Join(list, ","), next, page)
		}}
		same(t, document, pages, made)
		portaltest.Resumes(t, compile(t, document, pages))
	}
	for _, dataset := range []string{
		`{"id":"5d","slug":"arbres","title":"Arbres","description":"Tous les **arbres**","tags":["arbre"],"license":"lov2","frequency":"monthly","page":"https://donnees.example/fr/datasets/arbres/","created_at":"2019-01-01T00:00:00",
		"last_update":"2026-01-01T00:00:00","temporal_coverage":{"start":"2010-01-01","end":"2020-12-31"},"spatial":{"zones":["fr:departement:74"],"geom":null,"granularity":"other"},"organization":{"name":"Ville","page":"https://donnees.example/organizations/ville/"},
		"contact_points":[{"name":"Ann","email":"ann@ville.example"}],"harvest":{"remote_id":"r-1","modified_at":"2025-01-01"},"extras":{"a":{"b":1},"c":"d"},"badges":[],
		"resources":[{"id":"r1","title":"CSV","url":"https://ville.example/a.csv","latest":"https://donnees.example/fr/datasets/r/r1","format":"csv","mime":"text/csv","filesize":12,"checksum":{"type":"sha1","value":"DA39A3EE5E6B4B0D3255BFEF95601890AFD80709"},"type":"main","schema":{"name":"x/y"}},
		{"id":"r2","url":"https://ville.example/api","type":"api","format":"json"},{"id":"r3"},null]}`,
		`{"id":"6","slug":"b","title":"B","owner":{"first_name":"Ann","last_name":"Lee","page":"https://donnees.example/users/ann/"},"res` +
			`ources":[{"url":"/files/b.csv","published":"2025-01-01"}]}`,
		`{"slug":"weg","deleted":"2026-01-01T00:00:00"}`,
		`{"slug":"mine","private":true}`,
	} {
		same(t, document, answerOf{path: "/api/1/datasets/", site: site,
			one: `{"data":[` + dataset + `],"next_page":null,"page":1,"page_size":3,"total":1}`}, made)
	}
}
