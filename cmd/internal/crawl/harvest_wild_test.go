package crawl

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/harvest"
)

// wild is a portal as there are real ones: none of them keeps to what its interface promises.
type wild struct {
	about, kind string
	address     string // "" = http://portal.example/
	answers     map[string]string
	answer      http.HandlerFunc // instead
	datasets    int              // some: from 1 to 200, as often as it is asked
	seeds       int
	says        string // in the error or a skipped sentence; "" = nothing may be wrong
}

const some = -1

func (c wild) wants(want, got int) bool { return got == want || want == some && got > 0 && got <= 200 }

func (c wild) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if c.answer != nil {
		c.answer(w, r)
		return
	}
	body, ok := c.answers[r.URL.RequestURI()]
	if !ok {
		body, ok = c.answers[r.URL.Path]
	}
	if !ok {
		http.NotFound(w, r)
		return
	}
	if strings.HasPrefix(body, "<") {
		w.Header().Set("Content-Type", "text/xml")
	}
	fmt.Fprint(w, body)
}

func packed(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(s))
	z.Close()
	return b.String()
}

// latin writes characters of ISO-8859-1 as such.
func latin(s string) string {
	var b []byte
	for _, r := range s {
		b = append(b, byte(r))
	}
	return string(b)
}

// number of a parameter.
func number(r *http.Request, name string, otherwise int) int {
	if n, err := strconv.Atoi(r.FormValue(name)); err == nil {
		return n
	}
	return otherwise
}

func oaiPage(body string) string {
	return `<?xml version="1.0"?><OAI-PMH ` +
		`xmlns="http://www.openarchives.org/OAI/2.0/"><responseDate>2026-01-01T00:00:00Z</responseDate><request>http://portal.example/oai` +
		`</request>` + body + `</OAI-PMH>`
}

func oaiRecord(id string) string {
	return `<record><header><identifier>oai:x:` + id +
		`</identifier><datestamp>2025-01-01</datestamp></header><metadata><oai_dc:dc ` +
		`xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>T ` + id +
		`</dc:title><dc:identifier>http://portal.example/` + id + `.csv</dc:identifier></oai_dc:dc></metadata></record>`
}

const identify = `<Identify><repositoryName>R</repositoryName><baseURL>http://portal.example/oai</baseURL><protocolVersion>2.0</protocolV` +
	`ersion><earliestDatestamp>1999</earliestDatestamp><deletedRecord>persistent</deletedRecord><granularity>YYYY-MM-DD</granularity></Id` +
	`entify>`

// repository answers Identify and formats itself, lists by list.
func repository(list func(token string) string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/xml")
		switch r.FormValue("verb") {
		case "Identify":
			fmt.Fprint(w, oaiPage(identify))
		case "ListMetadataFormats":
			fmt.Fprint(w, oaiPage(
				`<ListMetadataFormats><metadataFormat><metadataPrefix>oai_dc</metadataPrefix><schema>x</schema><metadataNamespace>http://`+
					`www.openarchives.org/OAI/2.0/oai_dc/</metadataNamespace></metadataFormat></ListMetadataFormats>`))
		case "ListSets":
			fmt.Fprint(w, oaiPage(`<error code="noSetHierarchy">no</error>`))
		default:
			fmt.Fprint(w, list(r.FormValue("resumptionToken")))
		}
	}
}

// ckanOf answers package_search with packages.
func ckanOf(packages func(start, rows int) (list []string, count int)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(strings.TrimRight(r.URL.Path, "/"), "/package_search") {
			http.NotFound(w, r)
			return
		}
		list, count := packages(number(r, "start", 0), number(r, "rows", 10))
		fmt.Fprintf(w, `{"success":true,"result":{"count":%d,"results":[%s]}}`, count, strings.Join(list, ","))
	}
}

const dcatPrefixes = `@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dct: <http://purl.org/dc/terms/> . @prefix hydra: ` +
	`<http://www.w3.org/ns/hydra/core#> . `

func wilds() []wild {
	many := func(n int) []string {
		var list []string
		for i := range n {
			list = append(list,
				fmt.Sprintf(
					`{"id":"id%03d","name":"set-%03d","metadata_modified":"2025-01-01T00:%02d:%02d.000001","resources":[{"id":"r%d","url"`+
						`:"http://portal.example/%d.csv"}]}`, i, i, i/60, i%60, i, i))
		}
		return list
	}
	window := func(list []string, start, rows int) []string {
		return list[min(start, len(list)):min(start+rows, len(list))]
	}
	bomb := `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c ` +
		`"&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]>`
	return []wild{
		{about: "a package of CKAN 2.2: extras as an object, tags as words, no organisation", kind: "ckan", datasets: 1, seeds: 1,
			answer: ckanOf(func(start, _ int) ([]string, int) {
				return window([]string{
					`{"id":"1","name":"a","title":null,"license_title":"Some ` +
						`licence","extras":{"spatial":"{\"type\":\"Point\",\"coordinates\":[1,2]}","n":7,"x":null},"tags":["a","b"],"grou` +
						`ps":["g"],"notes_rendered":"<p>x","resources":[{"url":"/files/a b.csv ","format":null,"size":"12 KB"}]}`}, start,
					10), 1
			})},
		{about: "a package of CKAN 2.10: extras as a list, translated titles", kind: "ckan", datasets: 1, seeds: 2,
			answer: ckanOf(func(start, _ int) ([]string, int) {
				return window([]string{
					`{"id":"1","name":"a","title":{"de":"Bäume","en":"Trees"},"extras":[{"key":"k","value":{"a":[1]}},{"key":"k","value":` +
						`"again"},null,7],"organization":{"name":"o","title":{"de":"Amt"}},"tags":[{"name":"x","display_name":"X"}],"reso` +
						`urces":[{"id":"r1","url":"http://Bücher.example/ä.csv"},{"id":"r2","url":"//cdn.example/x.csv"},null,"x"]}`},
					start, 10), 1
			})},
		{about: "addresses that cannot be fetched beside one that can", kind: "ckan", datasets: 1, seeds: 1,
			says: "not a URL that can be crawled", answer: ckanOf(func(start, _ int) ([]string, int) {
				return window([]string{
					`{"id":"1","name":"a","resources":[{"url":"mailto:a@b.example"},{"url":"javascript:alert(1)"},{"url":"file:///etc/pas` +
						`swd"},{"url":""},{"url":"http://"},{"url":"ftp://f.example/a.zip"}]}`}, start, 10), 1
			})},
		{about: "one package on two pages, and a total that is too large", kind: "ckan", datasets: 30, seeds: 30,
			says: "lists 40 packages but returned 30", answer: ckanOf(func(start, rows int) ([]string, int) {
				return window(append(many(30), many(3)...), start, rows), 40
			})},
		{about: "a total of zero beside packages", kind: "ckan", datasets: 30, seeds: 30,
			answer: ckanOf(func(start, rows int) ([]string, int) { return window(many(30), start, min(rows, 10)), 0 })},
		{about: "pages that hold less than was asked for", kind: "ckan", datasets: 30, seeds: 30,
			answer: ckanOf(func(start, rows int) ([]string, int) { return window(many(30), start, min(rows, 7)), 30 })},
		{about: "a byte order mark and Latin-1", kind: "datajson", address: "http://portal.example/data.json", datasets: 1, seeds: 1,
			answers: map[string]string{
				"/data.json": latin(
					`{"dataset":[{"identifier":"1","title":"Bäume in Zürich und Genève, für die ` +
						`Städte","distribution":[{"downloadURL":"http://portal.example/ä.csv"}]}]}`)}},
		{about: "a data.json in UTF-8 with a mark", kind: "datajson", datasets: 1, seeds: 1,
			answers: map[string]string{
				"/data.json": "\ufeff" + `{"dataset":[{"identifier":"1","title":"T","distribution":{"accessURL":"files/x.csv"}}]}`}},
		{about: "a data.json packed without a word", kind: "datajson", datasets: 1, seeds: 1,
			answers: map[string]string{
				"/data.json": packed(
					`{"dataset":[{"identifier":"1","title":"T","distribution":[{"accessURL":"http://portal.example/x.csv"}]}]}`)}},
		{about: "a data.json in UTF-16", kind: "datajson", datasets: 1, seeds: 1,
			answers: map[string]string{
				"/data.json": "\xff\xfe" +
					strings.Join(
						strings.Split(
							`{"dataset":[{"identifier":"1","title":"T","distribution":[{"accessURL":"http://portal.example/x.csv"}]}]}`,
							""), "\x00") + "\x00"}},
		{about: "identifiers twice", kind: "datajson", datasets: 2, seeds: 2,
			answers: map[string]string{
				"/data.json": `{"dataset":[{"identifier":"1","title":"A","distribution":[{"accessURL":"http://portal.example/a.csv"}]},{"` +
					`identifier":"1","title":"B","distribution":[{"accessURL":"http://portal.example/b.csv"}]}]}`}},
		{about: "CKAN packed without a word", kind: "ckan", datasets: 1, seeds: 1, answer: func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, "package_search") {
				fmt.Fprint(w, packed(
					`{"success":true,"result":{"count":1,"results":[{"id":"1","name":"a","resources":[{"url":"http://portal.example/x.csv`+
						`"}]}]}}`))
			}
		}},
		{about: "a catalog with relative addresses and no base", kind: "dcat", address: "http://portal.example/c/catalog.ttl", datasets: 1,
			seeds: 2, answers: map[string]string{
				"/c/catalog.ttl": dcatPrefixes +
					`<> a dcat:Catalog ; dcat:dataset <d/1> . <d/1> a dcat:Dataset ; dcat:distribution [ dcat:downloadURL <../f.csv> ], ` +
					`[ dcat:accessURL <files/g b.csv> ] .`}},
		{about: "pages that go in a circle", kind: "dcat", address: "http://portal.example/c", datasets: 2, says: "repeat at",
			answers: map[string]string{
				"/c":  dcatPrefixes + `<> hydra:next <c2> . <d1> a dcat:Dataset .`,
				"/c2": dcatPrefixes + `<> hydra:next <c> . <d2> a dcat:Dataset .`}},
		{about: "RDF/XML with entities and a statement that cannot be", kind: "dcat", address: "http://portal.example/c", datasets: 2,
			seeds: 1, answers: map[string]string{
				"/c": `<?xml version="1.0" encoding="ISO-8859-1"?><!DOCTYPE rdf:RDF [<!ENTITY xsd ` +
					`"http://www.w3.org/2001/XMLSchema#">]><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" ` +
					`xmlns:dcat="http://www.w3.org/ns/dcat#" xmlns:dct="http://purl.org/dc/terms/"><dcat:Dataset ` +
					`rdf:about="d1"><dct:issued rdf:datatype="&xsd;date">2020-01-01</dct:issued><dct:title>Z` + "\xfc" +
					`rich</dct:title></dcat:Dataset><dcat:Dataset rdf:about="d 2"><dcat:distribution><dcat:Distribution><dcat:accessURL ` +
					`rdf:resource="http://portal.example/a b.csv"/></dcat:Distribution></dcat:distribution></dcat:Dataset></rdf:RDF>`}},
		{about: "JSON-LD with a graph and a context elsewhere", kind: "dcat", address: "http://portal.example/c.jsonld", says: "context",
			answers: map[string]string{
				"/c.jsonld": `{"@context":"http://portal.example/gone.jsonld","@graph":[{"@type":"Dataset","@id":"http://portal.example/d` +
					`"}]}`}},
		{about: "JSON-LD with a graph in a graph", kind: "dcat", address: "http://portal.example/c.jsonld", datasets: 1, seeds: 1,
			answers: map[string]string{
				"/c.jsonld": `{"@context":{"dcat":"http://www.w3.org/ns/dcat#"},"@graph":[{"@id":"http://portal.example/g","@graph":[{"@t` +
					`ype":"dcat:Dataset","@id":"http://portal.example/d","dcat:distribution":{"dcat:downloadURL":{"@id":"http://portal.ex` +
					`ample/x.csv"}}}]}]}`}},
		{about: "an empty token at the end, and an empty list", kind: "oai", address: "http://portal.example/oai", datasets: 2, seeds: 2,
			answer: repository(func(token string) string {
				return oaiPage(`<ListRecords>` + oaiRecord("1") + oaiRecord("2") +
					`<resumptionToken completeListSize="9999"/></ListRecords>`)
			})},
		{about: "a token that loops, and dates that are passed over", kind: "oai", address: "http://portal.example/oai", datasets: some,
			seeds: some, says: "may be missing", answer: repository(func(string) string {
				return oaiPage(`<ListRecords>` + oaiRecord("1") + `<resumptionToken>same</resumptionToken></ListRecords>`)
			})},
		{about: "records without a header, without metadata, deleted ones", kind: "oai", address: "http://portal.example/oai", datasets: 1,
			seeds: 1, says: "a record without an identifier", answer: repository(func(string) string {
				return oaiPage(
					`<ListRecords><record/><record><metadata/></record><record><header ` +
						`status="deleted"><identifier>oai:x:9</identifier><datestamp>yesterday</datestamp></header></record>` +
						oaiRecord("1") + `</ListRecords>`)
			})},
		{about: "entities that grow", kind: "oai", address: "http://portal.example/oai", says: "", datasets: 1, seeds: 1,
			answer: repository(func(string) string {
				return strings.Replace(bomb+strings.TrimPrefix(oaiPage(`<ListRecords>`+oaiRecord("1")+`</ListRecords>`),
					`<?xml version="1.0"?>`), "T 1", "T &c; &unknown;", 1)
			})},
		{about: "a sitemap with entities that grow, packed without a word", kind: "sitemap", address: "http://portal.example/sitemap.xml",
			seeds: 2, answers: map[string]string{
				"/sitemap.xml": packed(bomb +
					`<urlset><url><loc>http://portal.example/&c;</loc></url><url><loc> /relative path.csv ` +
					`</loc><lastmod>0000-00-00</lastmod></url><url><loc>javascript:alert(1)</loc></url></urlset>`)}},
		{about: "pages that describe datasets in every way at once", kind: "schemaorg", address: "http://portal.example/page", datasets: 2,
			seeds: 2, says: "expected a JSON value", answers: map[string]string{
				"/page": `<!doctype html><script type="application/ld+json">/*<![CDATA[*/ ` +
					`{"@context":"https://schema.org","@graph":[{"@type":["Thing","Dataset"],"@id":"#d","name":["A"],"distribution":{"@ty` +
					`pe":"DataDownload","contentUrl":"/a.csv"}},{"@type":"WebPage"}]} /*]]>*/</script><script ` +
					`type='application/ld+json'>{"@context":"http://schema.org/","@type":"Dataset","name":"B` + "\n" +
					`b","url":"http://portal.example/b","distribution":["http://portal.example/b.csv"],}</script><script ` +
					`type="application/ld+json">{broken</script>`}},
		{about: "Socrata with nulls", kind: "socrata", datasets: 1, seeds: 4,
			answers: map[string]string{
				"/api/catalog/v1": `{"results":[{"resource":{"id":"aaaa-bbbb","name":null,"type":null,"updatedAt":null},"classification":` +
					`null,"metadata":{"license":null},"owner":null}],"resultSetSize":"1"}`}},
		{about: "Opendatasoft with nulls", kind: "opendatasoft", datasets: 1, seeds: 4,
			answers: map[string]string{
				"/api/explore/v2.1/catalog/datasets": `{"total_count":1,"results":[{"dataset_id":"a","has_records":true,"metas":{"default` +
					`":{"title":null,"keyword":null,"modified":"x"}},"attachments":null}]}`}},
		{about: "Zenodo with deposits as old and as new", kind: "invenio", datasets: 2, seeds: 2,
			answers: map[string]string{
				"/api/records": `{"hits":{"total":{"value":2,"relation":"eq"},"hits":[{"id":1,"links":{"self_html":"http://portal.example` +
					`/records/1"},"metadata":{"title":"Old","creators":[{"name":"A"}]},"files":[{"key":"a ` +
					`b.csv","links":{"self":"http://portal.example/api/records/1/files/a ` +
					`b.csv/content"},"size":1,"checksum":"md5:x"}]},{"id":"x-2","metadata":{"title":"New"},"files":{"enabled":true,"entri` +
					`es":{"b.csv":{"key":"b.csv","size":2,"links":{"content":"http://portal.example/api/records/x-2/files/b.csv/content"}` +
					`}}}}]},"links":{}}`}},
		{about: "an endpoint that answers a web page", kind: "sparql", address: "http://portal.example/sparql",
			says: "answered with a web page", answers: map[string]string{"/sparql": "<!doctype html><title>Login</title>"}},
		{about: "a repository of geographic data whose records hold entities that grow", kind: "csw", address: "http://portal.example/csw",
			datasets: 1, answers: map[string]string{
				"/csw": bomb +
					`<csw:GetRecordsResponse xmlns:csw="http://www.opengis.net/cat/csw/2.0.2"><csw:SearchResults ` +
					`numberOfRecordsMatched="1" numberOfRecordsReturned="1" nextRecord="0"><csw:Record ` +
					`xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dct="http://purl.org/dc/terms/"><dc:identifier>a ` +
					`b</dc:identifier><dc:title>&c;</dc:title></csw:Record></csw:SearchResults></csw:GetRecordsResponse>`}},
		{about: "a catalogue that says the same whatever it is asked", kind: "csw", address: "http://portal.example/csw", datasets: 1,
			says: "1 of 900 records", answers: map[string]string{
				"/csw": `<csw:GetRecordsResponse xmlns:csw="http://www.opengis.net/cat/csw/2.0.2"><csw:SearchResults ` +
					`numberOfRecordsMatched="900" numberOfRecordsReturned="1" nextRecord="1"><csw:Record ` +
					`xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier>a</dc:identifier></csw:Record></csw:SearchResults></csw:G` +
					`etRecordsResponse>`}},
		{about: "Dataverse with nulls, and a dataset that it lists and does not have", kind: "dataverse", datasets: 1, says: "answered 404",
			answers: map[string]string{
				"/api/search": `{"status":"OK","data":{"q":"*","total_count":1,"start":0,"items":[{"name":null,"type":"dataset","url":"ht` +
					`tps://doi.org/10.1/x","global_id":"doi:10.1/x","authors":null,"keywords":[null]}],"count_in_response":1}}`}},
		{about: "Magda with nulls and what it has from elsewhere", kind: "magda", datasets: 1, seeds: 1,
			answers: map[string]string{
				"/api/v0/registry/records": `{"hasMore":false,"records":[{"id":"ds-x/1","name":null,"aspects":{"dcat-dataset-strings":{"t` +
					`itle":null,"keywords":null,"modified":"2099-01-01"},"source":null,"dataset-distributions":{"distributions":[null,{"i` +
					`d":"d","aspects":{"dcat-distribution-strings":{"downloadURL":null,"accessURL":"http://portal.example/a b.csv ` +
					`"}}}]}}}]}`}},
		{about: "DataCite with nulls", kind: "datacite", address: "http://portal.example/dois", datasets: 1,
			answers: map[string]string{
				"/dois": `{"data":[{"id":"10.1/x","type":"dois","attributes":{"doi":"10.1/x","titles":null,"creators":[{"name":null}],"ur` +
					`l":null,"dates":null,"contentUrl":null}}],"meta":{"total":1,"totalPages":1},"links":{}}`}},
		{about: "udata with nulls", kind: "udata", datasets: 1, seeds: 1,
			answers: map[string]string{
				"/api/1/datasets/": `{"data":[{"id":"1","slug":"a","title":null,"organization":null,"owner":null,"tags":null,"resources":` +
					`[{"id":"r","url":"http://portal.example/x ` +
					`y.csv","checksum":null,"schema":null}],"spatial":null,"extras":[]}],"next_page":null,"page":1,"page_size":100,"total` +
					`":1}`}},
	}
}

func TestRealPortalsKeepToNothing(t *testing.T) {
	t.Parallel()
	for _, c := range wilds() {
		t.Run(c.kind+" "+c.about, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if c.address == "" {
				c.address = "http://portal.example/"
			}
			for _, h := range harvesters() {
				if h.kind != c.kind {
					continue
				}
				report, err := harvest.Run(ctx, h.kind, h.make(HarvestSource{Kind: h.kind, Address: c.address, HTTP: web{c.ServeHTTP}}),
					&keeper{}, harvest.Options{Kind: h.kind})
				said := strings.Join(append(report.Skipped, report.Error), "; ")
				if ctx.Err() != nil || !c.wants(c.datasets, report.Datasets.N()) ||
					!c.wants(c.seeds, report.Seeds.N()-report.Invalid.N()) && !c.wants(c.seeds, report.Seeds.N()) {
					t.Errorf("%d datasets, want %d; %d addresses (%d things cannot be used), want %d; %q, %v", report.Datasets.N(),
						c.datasets, report.Seeds.N(), report.Invalid.N(), c.seeds, said, ctx.Err())
				}
				if !strings.Contains(said, c.says) || c.says == "" && said != "" || strings.Contains(report.Error, "\n") {
					t.Errorf("it says %q, want %q; %v", said, c.says, err)
				}
			}
		})
	}
}
