package discover

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/portaltest"
)

// web is a host whose documents are found by path, with or without query. A document may begin with header lines and an
// empty line.
type web map[string]string

func (w web) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, found := w[r.URL.RequestURI()]
	if !found {
		body, found = w[r.URL.Path]
	}
	if head, rest, ok := strings.Cut(body, "\n\n"); ok && !strings.HasPrefix(head, "<") && !strings.HasPrefix(head, "{") {
		for line := range strings.Lines(head) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			rw.Header().Add(name, value)
		}
		body = rest
	}
	if location := rw.Header().Get("Location"); location != "" {
		rw.WriteHeader(http.StatusFound)
	} else if !found {
		rw.WriteHeader(http.StatusNotFound)
		body = "<!doctype html><title>404</title>"
	}
	fmt.Fprint(rw, body)
}

func TestPortalsAreRecognised(t *testing.T) {
	t.Parallel()
	const ok = "<!doctype html><title>Open data</title>"
	for _, c := range []struct {
		about, address string
		web            web
		software, kind string
		url            string
	}{
		{"CKAN by its generator", "https://a.example/",
			web{"/": `<!DOCTYPE html><meta name="generator" content="ckan 2.10.4">`,
				"/api/3/action/status_show": `{"success":true,"result":{"ckan_version":"2.10.4"}}`}, "CKAN", "ckan", "https://a.example/"},
		{"CKAN whose interface is closed to probes", "https://a.example/",
			web{"/": `<!DOCTYPE html><meta name="generator" content="ckan 2.9">`}, "CKAN", "ckan", "https://a.example/"},
		{"CKAN by a probe alone", "https://a.example/", web{"/": ok, "/api/3/action/package_search": `{"success": true,"result":{}}`},
			"CKAN", "ckan", "https://a.example/"},
		{"CKAN below a path", "https://a.example/katalog/",
			web{"/katalog/": ok, "/katalog/api/3/action/status_show": `{"ckan_version":"2"}`}, "CKAN", "ckan", "https://a.example/katalog"},
		{"CKAN at the host though a path was given", "https://a.example/en/welcome",
			web{"/en/welcome": `<html><body data-site-root="https://a.example/">`, "/api/3/action/status_show": `{"ckan_version":"2"}`},
			"CKAN", "ckan", "https://a.example/"},
		{"CKAN behind a home page that is missing", "https://a.example/", web{"/api/3/action/status_show": `{"ckan_version":"2"}`}, "CKAN",
			"ckan", "https://a.example/"},
		{"CKAN behind a redirect to another host", "https://a.example/",
			web{"/": "Location: https://data.b.example/start\n\n", "/start": ok, "/api/3/action/status_show": `{"ckan_version":"2"}`},
			"CKAN", "ckan", "https://data.b.example/"},
		{"DKAN", "https://a.example/",
			web{"/": `<!doctype html><meta name="Generator" content="Drupal 10 (DKAN)">`, "/api/1/metastore/schemas": `{"dataset":{}}`},
			"DKAN", "datajson", "https://a.example/data.json"},
		{"Socrata by a header", "https://a.example/",
			web{"/": "X-Socrata-Region: aws-us-east-1\n\n" + ok, "/api/catalog/v1": `{"results":[],"resultSetSize":0}`}, "Socrata",
			"socrata", "https://a.example/"},
		{"Socrata by a cookie", "https://a.example/",
			web{"/": "Set-Cookie: socrata-csrf-token=x; Path=/\n\n" + ok, "/api/catalog/v1": `{"resultSetSize":0}`}, "Socrata", "socrata",
			"https://a.example/"},
		{"Opendatasoft", "https://a.example/explore/",
			web{"/explore/": `<html><script src="https://static.opendatasoft.com/ods/1/x.js"></script>`,
				"/api/explore/v2.1/catalog/datasets": `{"total_count": 3,"results":[]}`}, "Opendatasoft", "opendatasoft",
			"https://a.example/"},
		{"Opendatasoft, version 1", "https://a.example/", web{"/": ok, "/api/datasets/1.0/search/": `{"nhits": 3}`}, "Opendatasoft",
			"opendatasoft", "https://a.example/"},
		{"udata", "https://a.example/fr/",
			web{"/fr/": `<html><meta name="generator" content="udata">`, "/api/1/datasets/?page_size=1": `{"data":[],"next_page":null}`},
			"udata", "udata", "https://a.example/"},
		{"Magda", "https://a.example/", web{"/": ok, "/api/v0/registry/records": `{"hasMore":false,"records":[]}`}, "Magda", "magda",
			"https://a.example/"},
		{"ArcGIS Hub", "https://a.example/",
			web{"/": `<html><script src="https://hubcdn.arcgis.com/opendata-ui/assets/x.js">`,
				"/api/feed/dcat-us/1.1.json": `{"dataset":[]}`}, "ArcGIS Hub", "datajson", "https://a.example/api/feed/dcat-us/1.1.json"},
		{"GeoNetwork", "https://a.example/geonetwork/",
			web{"/geonetwork/": `<html><title>My GeoNetwork catalogue</title>`,
				"/geonetwork/srv/eng/csw": `<?xml version="1.0"?><csw:Capabilities xmlns:csw="http://www.opengis.net/cat/csw/2.0.2">`},
			"GeoNetwork", "csw", "https://a.example/geonetwork/srv/eng/csw"},
		{"a catalogue service itself", "https://a.example/x?service=CSW&request=GetCapabilities",
			web{"/x": `<csw:Capabilities version="2.0.2" xmlns:csw="http://www.opengis.net/cat/csw/2.0.2">`},
			"Catalogue Service for the Web", "csw", "https://a.example/x?service=CSW&request=GetCapabilities"},
		{"a record of geographic data itself", "https://a.example/x.xml",
			web{"/x.xml": `<?xml version="1.0"?><che:CHE_MD_Metadata xmlns:gmd="http://www.isotc211.org/2005/gmd">`},
			"Catalogue Service for the Web", "csw", "https://a.example/x.xml"},
		{"pycsw", "https://a.example/csw", web{"/csw": "X-Powered-By: pycsw\n\n<html>"}, "pycsw", "csw", "https://a.example/csw"},
		{"GeoNetwork without a catalogue service", "https://a.example/geonetwork/",
			web{"/geonetwork/": `<html><title>My GeoNetwork catalogue</title>`,
				"/geonetwork/srv/eng/rdf.search": `<rdf:RDF xmlns:dcat="http://www.w3.org/ns/dcat#">`}, "GeoNetwork", "dcat",
			"https://a.example/geonetwork/srv/eng/rdf.search"},
		{"GeoNetwork without RDF", "https://a.example/",
			web{"/": `<html><title>GeoNetwork</title>`, "/geonetwork/srv/api/sitemap": `<sitemapindex>`}, "GeoNetwork", "sitemap",
			"https://a.example/geonetwork/srv/api/sitemap"},
		{"Dataverse", "https://a.example/",
			web{"/": `<html><div id="dataverseHeader">`, "/api/info/version": `{"status":"OK","data":{"version":"6.2"}}`}, "Dataverse",
			"dataverse", "https://a.example/"},
		{"InvenioRDM", "https://a.example/",
			web{"/": `<html><script src="/static/dist/js/invenio-app-rdm.js">`,
				"/api/records": `{"hits": {"hits":[],"total":0},"links":{}}`}, "InvenioRDM", "invenio", "https://a.example/"},
		{"DataCite", "https://api.a.example/dois", web{"/dois": `{"data":[{"id":"10.1/x","type":"dois"}]}`}, "DataCite", "datacite",
			"https://api.a.example/dois"},
		{"DSpace 7", "https://a.example/",
			web{"/": `<html><meta name="Generator" content="DSpace 7.6"><ds-app>`,
				"/server/oai/request?verb=Identify": `<OAI-PMH><Identify>`}, "DSpace", "oai", "https://a.example/server/oai/request"},
		{"DSpace 6 below a path", "https://a.example/xmlui/",
			web{"/xmlui/": `<html><meta name="Generator" content="DSpace 6.3">`, "/oai/request?verb=Identify": `<OAI-PMH><Identify>`},
			"DSpace", "oai", "https://a.example/oai/request"},
		{"EPrints", "https://a.example/",
			web{"/": `<html><meta name="Generator" content="EPrints 3.4">`, "/cgi/oai2?verb=Identify": `<Identify>`}, "EPrints", "oai",
			"https://a.example/cgi/oai2"},
		{"OAI-PMH itself", "https://a.example/x/oai?verb=Identify", web{"/x/oai": `<?xml version="1.0"?><OAI-PMH xmlns="x">`}, "OAI-PMH",
			"oai", "https://a.example/x/oai?verb=Identify"},
		{"a data.json itself", "https://a.example/x/data.json",
			web{"/x/data.json": `{"conformsTo":"https://project-open-data.cio.gov/v1.1/schema","dataset":[]}`}, "data.json", "datajson",
			"https://a.example/x/data.json"},
		{"DCAT in JSON-LD that calls its terms as data.json does", "https://a.example/c.jsonld",
			web{
				"/c.jsonld": `{"@context":{"dcat":"http://www.w3.org/ns/dcat#","dataset":"dcat:dataset"},"@type":"dcat:Catalog","dataset"` +
					`:[{"title":"A"}]}`}, "DCAT", "dcat", "https://a.example/c.jsonld"},
		{"DCAT-AP by its context", "https://a.example/c.jsonld",
			web{"/c.jsonld": `{"@context":["https://a.example/DCAT-AP/context.jsonld"],"dataset":[{"title":"A"}]}`}, "DCAT", "dcat",
			"https://a.example/c.jsonld"},
		{"a data.json with its context", "https://a.example/d.json",
			web{
				"/d.json": `{"@context":"https://project-open-data.cio.gov/v1.1/schema/catalog.jsonld",` +
					`"@type":"dcat:Catalog","dataset":[]}`}, "data.json", "datajson", "https://a.example/d.json"},
		{"data.json beside a home page", "https://a.example/", web{"/": ok, "/data.json": `{"dataset":[]}`}, "data.json", "datajson",
			"https://a.example/data.json"},
		{"a DCAT file itself", "https://a.example/c.ttl", web{"/c.ttl": `@prefix dcat: <http://www.w3.org/ns/dcat#> .`}, "DCAT", "dcat",
			"https://a.example/c.ttl"},
		{"DCAT by a link", "https://a.example/", web{"/": `<html><link rel="alternate" type="text/turtle" href="/feeds/catalog.ttl">`},
			"DCAT", "dcat", "https://a.example/feeds/catalog.ttl"},
		{"DCAT by a probe", "https://a.example/", web{"/": ok, "/catalog.rdf": `<rdf:RDF xmlns:dcat="http://www.w3.org/ns/dcat#">`}, "DCAT",
			"dcat", "https://a.example/catalog.rdf"},
		{"DCAT by a header", "https://a.example/",
			web{
				"/": "Link: <https://a.example/x>; rel=preconnect, <feeds/dcat.rdf>; type=\"application/rdf+xml\"; rel=\"alternate\"\n\n" +
					ok}, "DCAT", "dcat", "https://a.example/feeds/dcat.rdf"},
		{"GeoNetwork below a path, by a page within", "https://a.example/catalogue/srv/eng/catalog.search",
			web{"/catalogue/srv/eng/catalog.search": `<html><title>GeoNetwork</title><script src="/catalogue/srv/eng/x.js">`,
				"/catalogue/srv/eng/csw": `<csw:Capabilities xmlns:csw="x">`}, "GeoNetwork", "csw",
			"https://a.example/catalogue/srv/eng/csw"},
		{"a SPARQL endpoint by its editor", "https://a.example/sparql",
			web{"/sparql": `<html><head><title>Virtuoso SPARQL Query Editor</title>`}, "SPARQL", "sparql", "https://a.example/sparql"},
		{"a SPARQL endpoint by its description", "https://a.example/sparql",
			web{"/sparql": `@prefix sd: <http://www.w3.org/ns/sparql-service-description#> . [] a sd:Service .`}, "SPARQL", "sparql",
			"https://a.example/sparql"},
		{"pages with schema.org", "https://a.example/d/1",
			web{"/d/1": `<html><script type="application/ld+json">{"@type": "Dataset"}</script>`}, "schema.org", "schemaorg",
			"https://a.example/d/1"},
		{"a sitemap", "https://a.example/", web{"/": ok, "/sitemap.xml": `<?xml version="1.0"?><urlset>`}, "sitemap", "sitemap",
			"https://a.example/sitemap.xml"},
	} {
		doer := &portaltest.Web{Handler: c.web}
		got, err := Recognise(t.Context(), doer, c.address, nil)
		if err != nil || got.Software != c.software || got.Kind != c.kind || got.URL != c.url || len(got.Because) == 0 {
			t.Errorf("%s: %+v, %v; want %s, %s, %s", c.about, got, err, c.software, c.kind, c.url)
		}
		if n := doer.Requests.Load(); n > maxRequests+1 {
			t.Errorf("%s: %d requests", c.about, n)
		}
	}
}

// Virtuoso's page as its versions 6 and 7 send it to browsers; Portal Watch runs the latter.
func TestPortalWatchIsToldFromOtherSPARQLEndpoints(t *testing.T) {
	t.Parallel()
	const page = "<html><body><h1>Virtuoso SPARQL Query Editor</h1>"
	for _, c := range []struct {
		about, page string
		answers     func(query string) string
		want        string
	}{
		{"Portal Watch", page, func(string) string { return `{"head":{"link":[]},"boolean":true}` }, "portalwatch"},
		{"Portal Watch behind a page without signs", "<html>welcome", func(string) string { return `{"head":{},"boolean": true}` },
			"portalwatch"},
		{"one that answers in XML", "<html>welcome", func(string) string {
			return `<?xml version="1.0"?><sparql xmlns="http://www.w3.org/2005/sparql-results#"><head/><boolean>true</boolean></sparql>`
		}, "portalwatch"},
		{"another", page, func(query string) string {
			return fmt.Sprintf(`{"head":{},"boolean":%t}`, !strings.Contains(query, "odpw"))
		},
			"sparql"},
		{"a page about SPARQL", page, func(string) string { return page }, ""},
		{"an empty one with a title", "<html><title>Virtuoso SPARQL Query Editor</title>",
			func(string) string { return `{"boolean":false}` }, "sparql"},
	} {
		doer := &portaltest.Web{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if query := r.URL.Query().Get("query"); r.URL.Path != "/sparql" {
				w.WriteHeader(http.StatusNotFound)
			} else if query != "" {
				fmt.Fprint(w, c.answers(query))
			} else {
				fmt.Fprint(w, c.page)
			}
		})}
		found, err := Recognise(t.Context(), doer, "https://a.example/sparql", nil)
		if found.Kind != c.want || c.want != "" && found.URL != "https://a.example/sparql" || (err == nil) != (c.want != "") {
			t.Errorf("%s: %+v, %v", c.about, found, err)
		}
	}
}

func TestWhatIsUnknownIsSaidAfterABoundedNumberOfRequests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		about, want string
		handler     http.HandlerFunc
	}{
		{"an ordinary page", "no portal software was recognised at https://a.example/x/: its page has no known sign",
			func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/x/" {
					w.WriteHeader(http.StatusNotFound)
				}
				fmt.Fprint(w, "<html><title>Hello</title>")
			}},
		{"the same page for every address", "no portal software",
			func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html><title>Hello</title>") }},
		{"refused everywhere", "no portal software", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }},
		{"an endless page", "no portal software", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "<html>"+strings.Repeat("<link rel=x>", 1<<15))
		}},
	} {
		doer := &portaltest.Web{Handler: c.handler}
		got, err := Recognise(t.Context(), doer, "https://a.example/x/", nil)
		if err == nil || !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %+v, %v", c.about, got, err)
		}
		if n := doer.Requests.Load(); n > maxRequests {
			t.Errorf("%s: %d requests", c.about, n)
		}
	}
	if _, err := Recognise(t.Context(), &portaltest.Web{}, "see our homepage", nil); err == nil ||
		!strings.Contains(err.Error(), "is not an http or https address") {
		t.Errorf("no address: %v", err)
	}
}

func TestEveryRuleCanApply(t *testing.T) {
	t.Parallel()
	all, err := Rules()
	if err != nil {
		t.Fatal(err)
	}
	where := []string{"generator", "cookie", "asset", "link", "text", "body", "address"}
	for _, s := range all {
		if s.Name == "" || s.Kind == "" || len(s.Signs) == 0 {
			t.Errorf("%q is incomplete", s.Name)
		}
		for _, sign := range s.Signs {
			known := strings.HasPrefix(sign.Where, "header:")
			for _, w := range where {
				known = known || w == sign.Where
			}
			if !known || sign.Weight <= 0 || sign.Match == "" {
				t.Errorf("%s: a sign that never applies: %+v", s.Name, sign)
			}
		}
		for _, p := range s.Probes {
			if strings.HasPrefix(p.Path, "/") == strings.HasPrefix(p.Ask, "ASK ") || p.Match == "" {
				t.Errorf("%s: a probe that never applies: %+v", s.Name, p)
			}
		}
	}
}

func FuzzPages(f *testing.F) {
	f.Add(`<html><meta name=generator content="ckan 2"><link rel=alternate type=text/turtle href="%zz"><script src=x>`,
		"https://a.example/")
	f.Add(`{"dataset":[`, "https://a.example/x?y#z")
	all, err := Rules()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body, address string) {
		r := &search{ctx: t.Context(), http: &portaltest.Web{Handler: http.NotFoundHandler()}, address: address,
			answers: map[string][]byte{}, asked: maxRequests}
		r.suspects(all, read(harvest.Answer{URL: address, Header: http.Header{}, Body: []byte(body)}))
	})
}
