package rest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/rest"
	"odarchive/sparqlapi/target"

	"github.com/go-chi/chi/v5"
)

const (
	address = "http://data.example/d/a.csv?x=1"
	id      = "0123456789abcdef01234567"
)

var at = time.Date(2026, 11, 20, 10, 0, 0, 5e8, time.UTC)

// fake is an archive of 300 resources, the first of which has every field, and its crawler.
type fake struct {
	resources []catalog.Resource
	seeds     []catalog.Seed
	fails     error // of ResourcesOfType, after the first page
}

func newFake() *fake {
	f := &fake{
		resources: []catalog.Resource{
			{ID: id, URL: address, Host: "data.example", Title: "A", MediaType: "text/csv", FileName: "a.csv", Versions: 3, ErrorPages: 1,
				Portals: []string{"http://portal.example/"},
				Added:   at, Visits: 3, LastVisit: at.Add(time.Hour), Interval: 90 * time.Second, Errors: 1, Outcome: catalog.NoVersion}}}
	for i := 1; i < 300; i++ {
		f.resources = append(f.resources,
			catalog.Resource{ID: fmt.Sprintf("1%023d", i), URL: fmt.Sprintf("http://many.example/%d", i), Host: "many.example",
				MediaType: "application/pdf"})
	}
	return f
}

func (f *fake) Stats(context.Context) (catalog.Stats, error) {
	return catalog.Stats{Resources: 300, Hosts: 2, Versions: 3, Portals: 1, Types: []catalog.Count{{Key: "text/csv", Count: 2, Bytes: 9}}},
		nil
}

func (f *fake) list(after string, emit func(catalog.Resource) bool, which func(catalog.Resource) bool) error {
	if f.fails != nil && after != "" {
		return f.fails
	}
	for _, r := range f.resources {
		if r.ID > after && which(r) && !emit(r) {
			break
		}
	}
	return nil
}

func (f *fake) ResourcesOfHost(_ context.Context, host, after string, emit func(catalog.Resource) bool) error {
	return f.list(after, emit, func(r catalog.Resource) bool { return r.Host == host })
}

func (f *fake) ResourcesOfType(_ context.Context, mediaType, after string, emit func(catalog.Resource) bool) error {
	return f.list(after, emit, func(r catalog.Resource) bool { return r.MediaType == mediaType })
}

func (f *fake) Resource(_ context.Context, urlOrID string) (catalog.Resource, error) {
	for _, r := range f.resources {
		if r.URL == urlOrID || r.ID == urlOrID {
			return r, nil
		}
	}
	return catalog.Resource{}, fmt.Errorf("resource %s: %w", urlOrID, archive.ErrNotFound)
}

func (f *fake) Versions(_ context.Context, url string) ([]catalog.Version, error) {
	if url != address {
		return nil, nil
	}
	return []catalog.Version{
		{ID: id + "_0", URL: url, Size: 7, Type: "text/csv", Charset: "utf-8", FileName: "a.csv", At: at,
			Digests: catalog.Digests{MD5: [16]byte{0xab}}}}, nil
}

func (f *fake) Hosts(_ context.Context, limit int) ([]catalog.HostHealth, error) {
	return []catalog.HostHealth{{Host: "many.example", Resources: 299},
		{Host: "data.example", Resources: 1, Versions: 3, Bytes: 7}}[:min(2, limit)], nil
}

func (f *fake) Activities(_ context.Context, q catalog.ActivityQuery) ([]catalog.Activity, error) {
	if q.URL != address {
		return nil, nil
	}
	return []catalog.Activity{ // newest first
		{Start: at.Add(2 * time.Hour), Outcome: catalog.NoVersion, ErrorClass: catalog.ErrTimeout, Why: "no answer in 30 s"},
		{Start: at.Add(time.Hour), Outcome: catalog.Unchanged}, {Start: at, Outcome: catalog.Archived},
	}, nil
}

func (f *fake) Add(_ context.Context, seeds []catalog.Seed) ([]bool, error) {
	f.seeds = append(f.seeds, seeds...)
	return make([]bool, len(seeds)), nil
}

func (f *fake) CrawlNow(_ context.Context, id, host string) (n int, err error) {
	for _, r := range f.resources {
		if r.ID == id || r.Host == host {
			n++
		}
	}
	return n, nil
}

// routed serves the handlers as package sparqlapi does.
func routed(f *fake, crawler rest.Crawler) http.Handler {
	a := rest.New(f, crawler, ns.Mint{Base: "http://base.example/"})
	r := chi.NewRouter()
	r.Use(problem.Use(problem.Options{
		Table: problem.Table{{Err: archive.ErrNotFound, Status: 404, Title: "Not in the archive", Public: true}}}), target.Escaped)
	for pattern, h := range map[string]func(http.ResponseWriter, *http.Request) error{
		"/stats/basic": a.StatsBasic, "/stats/datasetCountPerHost": a.StatsPerHost, "/stats/fileTypeDistribution": a.StatsFileTypes,
		"/get/dataset/*": a.DatasetByURL, "/get/dataset/url/*": a.DatasetByURL, "/get/dataset/id/{id}": a.DatasetByID,
		"/get/dataset/type/*":    a.DatasetsByType,
		"/get/datasets/{domain}": a.DatasetsByHost, "/get/file/dsid/{id}": a.FileByDataset, "/get/file/url/*": a.FileByNamedURL,
		"/post/resource": a.PostResources, "/crawl": a.Crawl,
	} {
		r.Handle(pattern, problem.Handler(h))
	}
	return r
}

func ask(h http.Handler, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// sameJSON compares two documents by their values.
func sameJSON(t *testing.T, got, want string) {
	t.Helper()
	var a, b any
	if err := json.Unmarshal([]byte(got), &a); err != nil {
		t.Fatalf("%v in %s", err, got)
	}
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		t.Fatalf("%v in %s", err, want)
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestADatasetHasTheShapeThatClientsOfTheOriginalRead(t *testing.T) {
	t.Parallel()
	h := routed(newFake(), nil)
	want := `{"_id":"` + id + `","id":"` + address + `",
		"url":{"href":"` + address + `","origin":"http://data.example","protocol":"http:","host":"data.example","hostname":"data.example","port":"","pathname":"/d/a.csv","search":"?x=1","hash":""},
		"meta":{"title":"A","filename":"a.csv","filetype":"text/csv","extension":"csv","versionCount":2,"insertDate":"2026-11-20T10:00:00.500Z","source":["http://portal.example/"],"references":[]},
		"crawl_info":{"firstCrawl":false,"crawlInterval":90,"nextCrawl":null,"lastCrawlAttempt":"2026-11-20T11:00:00.500Z","stopped":false,"errorCount":1,
			"errorStore":[{"time":"2026-11-20T12:00:00.500Z","outcome":"no-version","errorClass":"timeout","why":"no answer in 30 s"}],
			"changeDistribution":[{"newFile":true,"interval":null},{"newFile":false,"interval":3600}],"outcome":"no-version"},
		"versions":[{"_id":"` + id + `_0","length":7,"uploadDate":"2026-11-20T10:00:00.500Z","filename":"a.csv","md5":"ab000000000000000000000000000000",
			"metadata":{"dataset_ref_id":"` + id + `","dataset_ref_url":"` + address + `","version":0,"filetype":"text/csv","charset":"utf-8"},
			"sha256":"` + strings.Repeat("0", 64) + `","iri":"http://base.example/api/v1/get/file/id/` + id + `_0"}],
		"page":"http://base.example/dataset?url=http%3A%2F%2Fdata.example%2Fd%2Fa.csv%3Fx%3D1","timemap":"http://base.example/timemap/link/` + address + `"}`
	for _, path := range []string{"/get/dataset/" + address, "/get/dataset/url/" + address,
		"/get/dataset/http%3A%2F%2Fdata.example%2Fd%2Fa.csv%3Fx%3D1", "/get/dataset/id/" + id} {
		w := ask(h, "GET", path, "")
		if w.Code != 200 || w.Header().Get("Content-Type") != "application/json" {
			t.Fatalf("%s: %d %v %s", path, w.Code, w.Header(), w.Body)
		}
		sameJSON(t, w.Body.String(), want)
	}
}

func TestFiguresHaveTheOriginalsNames(t *testing.T) {
	t.Parallel()
	h := routed(newFake(), nil)
	sameJSON(t, ask(h, "GET", "/stats/datasetCountPerHost", "").Body.String(),
		`[{"_id":"many.example","hostname":"many.example","datasets":299,"count":299,"files":0,"bytes":0}]`)
	sameJSON(t, ask(h, "GET", "/stats/fileTypeDistribution", "").Body.String(), `[{"_id":"text/csv","count":2,"bytes":9}]`)
	var basic map[string]int
	if err := json.Unmarshal(ask(h, "GET", "/stats/basic", "").Body.Bytes(), &basic); err != nil || basic["datasetCount"] != 300 ||
		basic["hostCount"] != 2 || basic["fileCount"] != 3 || basic["sourceCount"] != 1 {
		t.Errorf("%v, %v", basic, err)
	}
}

func TestTheOriginalsLongerAddressesLeadToTheFile(t *testing.T) {
	t.Parallel()
	h := routed(newFake(), nil)
	for _, path := range []string{"/get/file/dsid/" + id, "/get/file/url/" + address} {
		if w := ask(h, "GET", path, ""); w.Code != 307 ||
			w.Header().Get("Location") != "/get/file/http:%2F%2Fdata.example%2Fd%2Fa.csv%3Fx=1" {
			t.Errorf("%s: %d to %s", path, w.Code, w.Header().Get("Location"))
		}
	}
}

func TestAListIsOnePageOrEverything(t *testing.T) {
	t.Parallel()
	h := routed(newFake(), nil)
	for path, want := range map[string]int{"/get/datasets/many.example": 299, "/get/dataset/type/pdf": 299,
		"/get/dataset/type/application/PDF": 299, "/get/dataset/type/.csv": 1, "/get/dataset/type/text%2Fcsv": 1,
		"/get/datasets/many.example?limit=7": 7, "/get/datasets/many.example?after=zzz": 0} {
		w := ask(h, "GET", path, "")
		var list []any
		if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || len(list) != want {
			t.Errorf("%s: %d, %d datasets of %d, %v", path, w.Code, len(list), want, err)
		}
	}
	page := ask(h, "GET", "/get/datasets/many.example?limit=298", "")
	if link := page.Header().Get("Link"); link != fmt.Sprintf(`</get/datasets/many.example?after=1%023d&limit=298>; rel="next"`, 298) {
		t.Errorf("Link %s", link)
	}
	if w := ask(h, "HEAD", "/get/datasets/many.example", ""); w.Code != 200 || w.Body.Len() > 0 {
		t.Errorf("HEAD: %d, %d bytes", w.Code, w.Body.Len())
	}
}

func TestAListThatFailsInTheMiddleDoesNotLookWhole(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.fails = errors.New("the disk is on fire")
	defer func() {
		if v := recover(); v != http.ErrAbortHandler {
			t.Errorf("it ended with %v", v)
		}
	}()
	w := ask(routed(f, nil), "GET", "/get/dataset/type/pdf", "")
	t.Errorf("it ended with %d bytes", w.Body.Len())
}

func TestBadRequestsAreProblems(t *testing.T) {
	t.Parallel()
	f := newFake()
	h := routed(f, f)
	for _, c := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"GET", "/get/dataset/http://nowhere.example/", "", 404, "nowhere.example"}, {"GET", "/get/dataset/nonsense", "", 400, "nonsense"},
		{"GET", "/get/dataset/id/0", "", 404, "resource 0"},
		{"GET", "/get/file/dsid/0", "", 404, "resource 0"}, {"GET", "/get/file/url/x", "", 400, "absolute"},
		{"GET", "/get/datasets/nowhere.example", "", 404, "nowhere.example"}, {"GET", "/get/dataset/type/nonsense", "", 404, "nonsense"},
		{"GET", "/get/dataset/type/png", "", 404, "image/png"},
		{"GET", "/get/datasets/many.example?limit=1001", "", 400, "1000"}, {"GET", "/stats/datasetCountPerHost?limit=x", "", 400, "limit"},
		{"POST", "/post/resource", "", 400, "expected"}, {"POST", "/post/resource", `{"href":"mailto:x"}`, 400, "resource 0: href: "},
		{"POST", "/post/resource", `{"url":"mailto:x"}`, 400, "resource 0: url: "},
		{"POST", "/post/resource", `{}`, 400, "resource 0: url: "},
		{"POST", "/post/resource", `{"href":"http://a.example/","source":[[]]}`, 400, "source"},
		{"POST", "/post/resource", `{"href":"http://a.example/","portal":"x:\n"}`, 400, "portal"},
		{"POST", "/post/resource", "[" + strings.Repeat("{},", 100_000) + "{}]", 413, "100000"},
		{"POST", "/crawl", "", 400, "domain="}, {"POST", "/crawl?id=0", "", 404, `\"0\"`},
		{"POST", "/crawl?domain=nowhere.example", "", 404, "nowhere.example"},
	} {
		if w := ask(h, c.method, c.path, c.body); w.Code != c.status || w.Header().Get("Content-Type") != problem.ContentType ||
			!strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%s %s: %d %s, want %d with %q", c.method, c.path, w.Code, w.Body, c.status, c.says)
		}
	}
	if w := ask(h, "POST", "/post/resource", `{}`, "Content-Type", "application/xml"); w.Code != 415 {
		t.Errorf("XML: %d", w.Code)
	}
	for _, path := range []string{"/post/resource", "/crawl?id=" + id} {
		if w := ask(routed(f, nil), "POST", path, `{"href":"http://a.example/"}`); w.Code != 403 {
			t.Errorf("%s without a crawler: %d", path, w.Code)
		}
	}
	if len(f.seeds) > 0 {
		t.Errorf("bad requests registered %v", f.seeds)
	}
}

func TestPostedResourcesReachTheCrawler(t *testing.T) {
	t.Parallel()
	f := newFake()
	h := routed(f, f)
	for body, want := range map[string]catalog.Seed{
		`{"href":" http://a.example/ "}`: {
			URL: "http://a.example/"},
		`[{"href":"ftp://a.example/x","format":"CSV","title":"T"}]`: {URL: "ftp://a.example/x",
			Format: "CSV", Title: "T"},
		`{"href":"http://a.example/","source":"http://p.example/"}`: {URL: "http://a.example/",
			Portal: "http://p.example/"},
		`{"href":"http://a.example/","source":[{"href":"http://p.example/"}]}`: {URL: "http://a.example/",
			Portal: "http://p.example/"},
		`{"href":"http://a.example/","source":[]}`: {
			URL: "http://a.example/"},
		`{"href":"http://a.example/","source":"x:y","portal":"http://p.example/","dataset":"http://d.example/"}`: {URL: "http://a.example/",
			Portal: "http://p.example/", Dataset: "http://d.example/"},
	} {
		f.seeds = nil
		if w := ask(h, "POST", "/post/resource", body); w.Code != 200 || w.Body.String() != "[false]\n" || len(f.seeds) != 1 ||
			!reflect.DeepEqual(f.seeds[0], want) {
			t.Errorf("%s: %d %s %+v", body, w.Code, w.Body, f.seeds)
		}
	}
	sameJSON(t, ask(h, "POST", "/crawl?hostname=many.example", "").Body.String(),
		`{"crawling":true,"count":299,"_id":"","domain":"many.example"}`)
	sameJSON(t, ask(h, "POST", "/crawl?id="+id, "").Body.String(), `{"crawling":true,"count":1,"_id":"`+id+`","domain":""}`)
}

func TestAPostedListLeavesOutMalformedResourcesUnlessItIsStrict(t *testing.T) {
	t.Parallel()
	f := newFake()
	h := routed(f, f)
	list := `[{"href":"http://a.example/"},{"href":"mailto:x"},{"href":"http://b.example/","source":[[]]},{"href":"http://c.example/"}]`
	for _, strict := range []string{"1", "true"} {
		if w := ask(h, "POST", "/post/resource?strict="+strict, list); w.Code != 400 || len(f.seeds) > 0 ||
			!strings.Contains(w.Body.String(), "resource 1") {
			t.Errorf("strict=%s: %d %s %+v", strict, w.Code, w.Body, f.seeds)
		}
	}
	w := ask(h, "POST", "/post/resource", list)
	var done struct {
		Fresh []*bool
		Bad   []struct {
			Index int
			Error string
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &done); err != nil || w.Code != 207 || len(f.seeds) != 2 ||
		f.seeds[1].URL != "http://c.example/" {
		t.Fatalf("%d %s, %v, %+v", w.Code, w.Body, err, f.seeds)
	}
	if len(done.Fresh) != 4 || done.Fresh[0] == nil || done.Fresh[1] != nil || done.Fresh[2] != nil || done.Fresh[3] == nil {
		t.Errorf("fresh: %s", w.Body)
	}
	if len(done.Bad) != 2 || done.Bad[0].Index != 1 || done.Bad[1].Index != 2 || !strings.Contains(done.Bad[1].Error, "source") {
		t.Errorf("bad: %s", w.Body)
	}
}

func TestTypesAreReadAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"CSV": "text/csv",
		".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", " Text/CSV; charset=utf-8": "text/csv",
		"owl": "application/rdf+xml", "nonsense": "", "": ""} {
		if got := rest.MediaType(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	for mime, want := range map[string]string{"application/rdf+xml": "rdf", "application/x-ndjson": "jsonl", "x/y": ""} {
		if got := rest.ExtensionOf(mime); got != want {
			t.Errorf("%q: %q, want %q", mime, got, want)
		}
	}
}
