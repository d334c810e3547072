package sparqlapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/sparqlapi"
	"odarchive/sparqlapi/openapi"
	"odarchive/sparqlapi/openapi/contract"

	"github.com/go-chi/chi/v5"
)

func TestEveryReadingRouteAnswersUnderBothRoots(t *testing.T) {
	t.Parallel()
	h, a := server(t, nil)
	id := a.resources[0].ID
	for _, route := range []string{"/stats/basic", "/stats/datasetCountPerHost?limit=2", "/stats/fileTypeDistribution",
		"/get/dataset/http://data.example/a.csv",
		"/get/dataset/url/http://data.example/a.csv", "/get/dataset/id/" + id, "/get/datasets/data.example",
		"/get/datasets/hostname/data.example", "/get/dataset/type/csv", "/get/dataset/type/text/csv",
		"/get/datasets/type/application%2Fjson", "/get/file/id/" + id + "_0", "/get/file/http://data.example/a.csv",
		"/get/files/sparql?q=x", "/get/files/sparql/count?q=x", "/get/files/type/csv", "/sparql?query=x"} {
		for _, root := range []string{"", "/api/v1"} {
			if res := ask(h, "GET", root+route, ""); res.StatusCode != 200 {
				t.Errorf("GET %s%s: %d %s", root, route, res.StatusCode, text(t, res))
			}
			if res := ask(h, "HEAD", root+route, ""); res.StatusCode != 200 {
				t.Errorf("HEAD %s%s: %d", root, route, res.StatusCode)
			}
		}
	}
	for _, route := range []string{"/", "/dataset?url=http://data.example/a.csv", "/describe?iri=http://data.example/a.csv", "/catalog.ttl",
		"/catalog.rdf", "/catalog.jsonld", "/catalog.nt", "/catalog", "/ns/csvw", "/ns/csvw.ttl", "/ns/",
		"/.well-known/void", "/dumps", "/openapi.json", "/healthz", "/readyz", "/metrics", "/cdx?url=x", "/feed.atom",
		"/feed.json?kind=schema", "/event/0", "/ldes", "/ldes/shape", "/ldes/0/0", "/timegate/http://data.example/a.csv",
		"/timemap/link/http://data.example/a.csv", "/timemap/cdxj/http://data.example/a.csv", "/web/2026/http://data.example/a.csv",
		"/rdf-graph-store?default", "/rdf-graph-store/person/1"} {
		if res := ask(h, "GET", route, ""); res.StatusCode != 200 {
			t.Errorf("GET %s: %d %s", route, res.StatusCode, text(t, res))
		}
	}
}

func TestAnAddressInAPathMayHoldAQueryAndDoubleSlashes(t *testing.T) {
	t.Parallel()
	h, _ := server(t, nil)
	for _, path := range []string{"/get/dataset/http://data.example:8080/b.json?x=1&y=2",
		"/get/dataset/http%3A%2F%2Fdata.example%3A8080%2Fb.json%3Fx%3D1%26y%3D2",
		"/get/dataset/http:/data.example:8080/b.json?x=1&y=2", "/get/dataset/https%3A%2F%2Fother.example%2Fc%20d.csv"} {
		if res := ask(h, "GET", path, ""); res.StatusCode != 200 {
			t.Errorf("%s: %d %s", path, res.StatusCode, text(t, res))
		}
	}
}

func TestParametersOfAPathAreDecodedOnce(t *testing.T) {
	t.Parallel()
	h, a := server(t, nil)
	id := a.resources[0].ID + "_0"
	for path, want := range map[string]string{
		"/get/file/http://a.example/a%20b%2Fc?x=%20":                   "latest GET http://a.example/a%20b%2Fc?x=%20 ",
		"/get/file/http%3A%2F%2Fa.example%2Fa%2520b?download=1":        "latest GET http://a.example/a%20b download=1",
		"/get/file/id/" + id[:24] + "%5F0":                             "file GET " + id,
		"/get/file/id/" + id + "/member/in%20a/100%25%2F%23b//c%3Fd.x": "member GET " + id + " in a/100%/#b//c?d.x",
		"/api/v1/get/file/id/" + id + "/member/get/file/id/x/member/y": "member GET " + id + " get/file/id/x/member/y",
		"/get/files/type/text%2Fcsv":                                   "zip of type GET text/csv",
		"/timegate/http://a.example//x":                                "time gate GET http://a.example//x",
		"/timemap/json/http://a.example/timemap/link/x":                "time map in JSON GET http://a.example/timemap/link/x",
	} {
		if got := text(t, ask(h, "GET", path, "")); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	if res := ask(h, "GET", "/get/datasets/data.example%3A8080", ""); res.StatusCode != 200 {
		t.Errorf("an escaped host: %d %s", res.StatusCode, text(t, res))
	}
}

func TestWhatIsUnknownIsAProblemThatSaysWhatWasLookedFor(t *testing.T) {
	t.Parallel()
	h, _ := server(t, nil)
	for path, want := range map[string]string{
		"/get/dataset/http://nowhere.example/": "http://nowhere.example/", "/get/datasets/nowhere.example": "nowhere.example",
		"/get/dataset/type/nonsense": "nonsense",
		"/get/dataset/type/pdf":      "application/pdf", "/describe?iri=http://nowhere.example/": "http://nowhere.example/",
		"/nothing/here": "/nothing/here", "/ns/other": "other",
	} {
		res := ask(h, "GET", path, "")
		if body := text(t, res); res.StatusCode != 404 || res.Header.Get("Content-Type") != "application/problem+json" ||
			!strings.Contains(body, want) {
			t.Errorf("%s: %d %s", path, res.StatusCode, body)
		}
	}
	res := ask(h, "PUT", "/stats/basic", "")
	if res.StatusCode != 405 || res.Header.Get("Allow") != "GET, HEAD, OPTIONS" {
		t.Errorf("PUT: %d, Allow %q", res.StatusCode, res.Header.Get("Allow"))
	}
}

func TestIRIsBelowAFormerBaseWithAPathAreRedirected(t *testing.T) {
	t.Parallel()
	h, _ := server(t, func(o *sparqlapi.Options) {
		o.Former = []string{"http://before.example/", "https://old.example/my%20archive/"}
	})
	for path, want := range map[string]string{
		"/my%20archive/api/v1/get/file/id/x_0?format=ttl": "/api/v1/get/file/id/x_0?format=ttl",
		"/my%20archive/graph/http://a.example/%C3%A9":     "/graph/http://a.example/%C3%A9",
		"/my%20archive//elsewhere.example/":               "/elsewhere.example/",
		"/other/api/v1/get/file/id/x_0":                   "",
	} {
		res := ask(h, "GET", path, "")
		if got := res.Header.Get("Location"); got != want || (res.StatusCode == 308) != (want != "") {
			t.Errorf("%s: %d, to %q, want %q", path, res.StatusCode, got, want)
		}
	}
}

func TestASlashTooManyLeadsToTheRoute(t *testing.T) {
	t.Parallel()
	h, _ := server(t, nil)
	for path, want := range map[string]string{
		"/openapi.json/?x=1":             "/openapi.json?x=1",
		"/api/v1/stats/basic//":          "/api/v1/stats/basic",
		"//openapi.json/":                "/openapi.json",
		"//elsewhere.example/":           "",
		"/%2Felsewhere.example/":         "",
		"/graph/http://a.example/":       "", // a name that ends so
		"/nothing/":                      "",
		"/get/dataset/http://a.example/": "",
		"/feed.atom/":                    "/feed.atom",
	} {
		res := ask(h, "GET", path, "")
		if got := res.Header.Get("Location"); got != want || (res.StatusCode == 308) != (want != "") {
			t.Errorf("%s: %d, to %q, want %q", path, res.StatusCode, got, want)
		}
	}
	if res := ask(h, "POST", "/openapi.json/", ""); res.StatusCode != 404 {
		t.Errorf("POST: %d", res.StatusCode)
	}
}

func TestAVersionHasThreeFaces(t *testing.T) {
	t.Parallel()
	h, a := server(t, nil)
	address := "/api/v1/get/file/id/" + a.resources[0].ID + "_1"
	browser := "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"
	for _, c := range []struct{ path, accept, want string }{
		{address, "", "file GET"}, {address, "*/*", "file GET"}, {address, "text/csv", "file GET"},
		{address, "application/json, */*", "file GET"},
		{address, browser, "page of"}, {address, "text/turtle", "@prefix"},
		{address, "application/n-triples;q=0.9, text/html;q=0.1", "<http://archive.example/api/v1/get/file/id/"},
		{address + "?format=ttl", browser, "@prefix"}, {address + "?format=html", "", "page of"},
		{address + "?download=1", browser, "file GET"},
		{address + ".ttl", browser, "@prefix"}, {address + ".nt", "", "isVersionOf"},
		{address + ".html", "", "page of " + a.resources[0].ID + "_1"}, {address + ".jsonld", "", "{"}, {address + ".rdf", "", "<rdf:RDF"},
	} {
		res := ask(h, "GET", c.path, "", "Accept", c.accept)
		if body := text(t, res); res.StatusCode != 200 || !strings.Contains(body, c.want) {
			t.Errorf("%s with %q: %d %.200s", c.path, c.accept, res.StatusCode, body)
		}
		if vary := strings.Join(res.Header.Values("Vary"), ","); !strings.Contains(vary, "Accept") {
			t.Errorf("%s: Vary %q", c.path, vary)
		}
	}
}

func TestWritingNeedsTheTokenAndTheTokenReachesNoLog(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	h, a := server(t, func(o *sparqlapi.Options) {
		o.Log = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	body := `{"href":"http://new.example/x.csv","title":"X"}`
	for _, c := range []struct {
		address string
		headers []string
		status  int
	}{
		{"/post/resource", nil, 401}, {"/post/resource", []string{"Authorization", "Bearer wrong"}, 403},
		{"/post/resource?secret=wrong", nil, 403},
		{"/post/resource", []string{"Authorization", "Bearer " + token}, 200},
		{"/api/v1/post/resources?secret=a+token+that+must+never+reach+a+log", nil, 200},
		{"/crawl?domain=data.example&secret=a%20token%20that%20must%20never%20reach%20a%20log", nil, 200},
		{"/post/resource?x=1;secret=a%20token%20that%20must%20never%20reach%20a%20log;y=2", nil, 401},
		{"/crawl;Secret=a%20token%20that%20must%20never%20reach%20a%20log", nil, 404},
	} {
		if res := ask(h, "POST", c.address, body, c.headers...); res.StatusCode != c.status {
			t.Errorf("POST %s %v: %d %s, want %d", c.address, c.headers, res.StatusCode, text(t, res), c.status)
		}
	}
	// Fetch Metadata: https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header. A form of another site needs no
	// preflight.
	for _, from := range [][]string{{"Origin", "http://evil.example"}, {"Origin", "null"}, {"Sec-Fetch-Site", "cross-site"},
		{"Sec-Fetch-Site", "same-site", "Origin", "http://a.example"},
		{"Authorization", "Basic dTpw", "Origin", "http://evil.example"}} {
		if res := ask(h, "POST", "/post/resource?secret=a+token+that+must+never+reach+a+log", body, from...); res.StatusCode != 403 {
			t.Errorf("POST with a token in the address, sent by another site (%v): %d", from, res.StatusCode)
		}
	}
	for _, method := range []string{"PUT", "POST", "DELETE"} {
		if res := ask(h, method, "/rdf-graph-store?default", ""); res.StatusCode != 401 {
			t.Errorf("%s without a token: %d", method, res.StatusCode)
		}
	}
	if len(a.posted) != 2 {
		t.Errorf("%d resources were taken, want 2", len(a.posted))
	}
	if l := log.String(); strings.Contains(l, "never reach") || strings.Contains(l, "never+reach") ||
		strings.Contains(l, "never%20reach") || strings.Contains(l, "wrong") {
		t.Errorf("a token is in the log:\n%s", l)
	}
	closed, _ := server(t, func(o *sparqlapi.Options) { o.Guard = nil })
	if res := ask(closed, "POST", "/post/resource", body, "Authorization", "Bearer "); res.StatusCode != 403 {
		t.Errorf("a server without a token let somebody write: %d", res.StatusCode)
	}
}

func TestArchivedBytesAreNeverCode(t *testing.T) {
	t.Parallel()
	h, a := server(t, nil)
	address := "/api/v1/get/file/id/" + a.resources[0].ID + "_1"
	for dest, want := range map[string]int{"": 200, "empty": 200, "document": 200, "image": 200, "script": 403, "worker": 403, "style": 403,
		"iframe": 403} {
		if got := ask(h, "GET", address, "", "Sec-Fetch-Dest", dest).StatusCode; got != want {
			t.Errorf("as %q: %d, want %d", dest, got, want)
		}
	}
	if got := ask(h, "GET", "/assets/console.js", "", "Sec-Fetch-Dest", "script").StatusCode; got == 403 {
		t.Error("the pages' own scripts are refused")
	}
}

func TestWrongTokensAreTriedSlowly(t *testing.T) {
	t.Parallel()
	h, _ := server(t, nil)
	send := func(with string) *http.Response {
		return ask(h, "POST", "/post/resource", `{"href":"http://new.example/x.csv"}`, "Authorization", "Bearer "+with, "Content-Type",
			"application/json")
	}
	for i := range 20 {
		if got := send("wrong").StatusCode; got != 403 {
			t.Fatalf("wrong token %d: %d", i, got)
		}
	}
	if res := send("wrong"); res.StatusCode != 429 || res.Header.Get("Retry-After") != "1" {
		t.Errorf("after twenty wrong tokens, one more: %d, Retry-After %q", res.StatusCode, res.Header.Get("Retry-After"))
	}
	// Others may have the same address, such as that of a proxy.
	if res := send(token); res.StatusCode != 200 {
		t.Errorf("after twenty wrong tokens, the right one: %d", res.StatusCode)
	}
}

func TestPostedResourcesAreTakenOrRefused(t *testing.T) {
	t.Parallel()
	h, a := server(t, nil)
	post := func(body string) *http.Response {
		return ask(h, "POST", "/post/resources?strict=1", body, "Authorization", "Bearer "+token, "Content-Type", "application/json")
	}
	if got := text(t,
		post(
			`[{"href":"http://data.example/a.csv"},{"href":"http://new.example/",`+
				`"source":[{"href":"http://p.example/"}],"format":"CSV"}]`)); got != "[false,true]\n" {
		t.Errorf("got %s", got)
	}
	if s := a.posted[1]; s.Portal != "http://p.example/" || s.Format != "CSV" {
		t.Errorf("seed %+v", s)
	}
	for body, want := range map[string]string{
		`[{"href":"http://ok.example/"},{"href":"not a url"}]`: "resource 1", `{"href":"javascript:alert(1)"}`: "resource 0",
		`{"href":"http://ok.example/","dataset":"http://d.example/\u0000"}`: "resource 0: dataset",
		`{"href":"http://ok.example/","portal":"http://p.example/\n"}`:      "resource 0: portal", `{`: "expected",
		`[{"href":3}]`: "expected",
		``:             "expected",
	} {
		res := post(body)
		if got := text(t, res); res.StatusCode != 400 || !strings.Contains(got, want) {
			t.Errorf("%s: %d %s", body, res.StatusCode, got)
		}
	}
	if len(a.posted) != 2 {
		t.Errorf("a bad list left %d resources", len(a.posted))
	}
	if res := post(`{"href":"http://x.example/","title":"` + strings.Repeat("x", 33<<20) + `"}`); res.StatusCode != 413 {
		t.Errorf("33 MB: %d", res.StatusCode)
	}
}

func TestListsArePagedAndStreamed(t *testing.T) {
	t.Parallel()
	h, _ := server(t, nil)
	var all, paged []map[string]any
	if err := json.Unmarshal([]byte(text(t, ask(h, "GET", "/get/dataset/type/csv", ""))), &all); err != nil || len(all) != 2 {
		t.Fatalf("%d datasets, %v", len(all), err)
	}
	next := "/get/dataset/type/csv?limit=1"
	for range 5 {
		res := ask(h, "GET", next, "")
		var page []map[string]any
		if err := json.Unmarshal([]byte(text(t, res)), &page); err != nil {
			t.Fatal(err)
		}
		paged = append(paged, page...)
		m := regexp.MustCompile(`<([^>]*)>; rel="next"`).FindStringSubmatch(res.Header.Get("Link"))
		if m == nil {
			break
		}
		next = m[1]
	}
	if len(paged) != len(all) || paged[1]["_id"] != all[1]["_id"] {
		t.Errorf("pages held %d datasets, the whole list %d", len(paged), len(all))
	}
	for _, limit := range []string{"0", "-1", "x", "1001"} {
		if res := ask(h, "GET", "/get/datasets/data.example?limit="+limit, ""); res.StatusCode != 400 {
			t.Errorf("limit=%s: %d", limit, res.StatusCode)
		}
	}
}

func TestAnswersHaveTagsAndAreNotSentTwice(t *testing.T) {
	t.Parallel()
	h, _ := server(t, nil)
	for _, path := range []string{"/stats/basic", "/get/dataset/http://data.example/a.csv",
		"/describe?iri=http://data.example/a.csv&format=ttl", "/catalog.ttl", "/ns/csvw.ttl"} {
		tag := ask(h, "GET", path, "").Header.Get("ETag")
		if res := ask(h, "GET", path, "", "If-None-Match", tag); tag == "" || res.StatusCode != 304 {
			t.Errorf("%s: tag %q, then %d", path, tag, res.StatusCode)
		}
	}
}

func TestScriptsOfOtherSitesMayReadAndWithTheTokenWriteTriples(t *testing.T) {
	t.Parallel()
	h, _ := server(t, nil)
	if got := ask(h, "GET", "/stats/basic", "", "Origin",
		"https://elsewhere.example").Header.Get("Access-Control-Allow-Origin"); got != "*" {
		t.Errorf("Access-Control-Allow-Origin %q", got)
	}
	for _, c := range []struct {
		path, method string
		allowed      bool
	}{{"/sparql", "POST", true}, {"/get/files", "POST", true}, {"/stats/basic", "GET", true}, {"/post/resource", "POST", false},
		{"/rdf-graph-store", "PUT", true}, {"/rdf-graph-store/a", "DELETE", true}, {"/crawl", "POST", false}} {
		res := ask(h, "OPTIONS", c.path, "", "Origin", "https://elsewhere.example", "Access-Control-Request-Method", c.method)
		if got := res.Header.Get("Access-Control-Allow-Methods") != ""; got != c.allowed || res.StatusCode != 204 {
			t.Errorf("preflight of %s %s: allowed %v, status %d", c.method, c.path, got, res.StatusCode)
		}
		if got := res.Header.Get("Access-Control-Allow-Headers"); strings.Contains(got, "Authorization") != c.allowed {
			t.Errorf("preflight of %s %s: headers %q", c.method, c.path, got)
		}
	}
}

func TestAClientThatAsksTooOftenIsToldWhenToComeBack(t *testing.T) {
	t.Parallel()
	h, _ := server(t, func(o *sparqlapi.Options) { o.Rate = sparqlapi.Rate{PerSecond: 0.01, Burst: 3} })
	var last *http.Response
	for range 4 { // httptest's remote address is 192.0.2.1
		last = ask(h, "GET", "/healthz", "")
	}
	if last.StatusCode != 429 || last.Header.Get("Retry-After") == "" {
		t.Errorf("the fourth request: %d, Retry-After %q", last.StatusCode, last.Header.Get("Retry-After"))
	}
}

func TestWhatIsLeftToAClientIsInTheHeader(t *testing.T) {
	t.Parallel()
	h, _ := server(t, func(o *sparqlapi.Options) { o.Rate = sparqlapi.Rate{PerSecond: 0.01, Burst: 3} })
	for _, want := range []string{`"requests";r=2;t=`, `"requests";r=1;t=`, `"requests";r=0;t=`, `"requests";r=0;t=`} {
		res := ask(h, "GET", "/healthz", "")
		if got := res.Header.Get("RateLimit"); !strings.HasPrefix(got, want) ||
			res.Header.Get("RateLimit-Policy") != `"requests";q=3;w=300` {
			t.Errorf("RateLimit %q, want %q; RateLimit-Policy %q", got, want, res.Header.Get("RateLimit-Policy"))
		}
	}
	free, _ := server(t, nil)
	if got := ask(free, "GET", "/healthz", "").Header.Get("RateLimit"); got != "" {
		t.Errorf("without a limit: RateLimit %q", got)
	}
}

func TestHEADIsAnsweredWhereverGETIs(t *testing.T) {
	t.Parallel()
	h, _ := server(t, nil)
	for _, path := range []string{"/", "/healthz", "/tokens"} { // the fake pages register GET alone
		get, head := ask(h, "GET", path, "", "Authorization", "Bearer "+token), ask(h, "HEAD", path, "", "Authorization", "Bearer "+token)
		if head.StatusCode != get.StatusCode || head.Header.Get("Content-Type") != get.Header.Get("Content-Type") {
			t.Errorf("HEAD %s: %d %q, GET %d %q", path, head.StatusCode, head.Header.Get("Content-Type"), get.StatusCode,
				get.Header.Get("Content-Type"))
		}
	}
	if res := ask(h, "HEAD", "/post/resource", ""); res.StatusCode != 405 || res.Header.Get("Allow") != "POST, OPTIONS" {
		t.Errorf("HEAD where there is no GET: %d, Allow %q", res.StatusCode, res.Header.Get("Allow"))
	}
}

func TestAPanicIsOneClients500(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	h, _ := server(t, func(o *sparqlapi.Options) {
		o.Log = slog.New(slog.NewTextHandler(&log, nil))
		o.CDX = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("a bug") })
	})
	res := ask(h, "GET", "/cdx?url=x", "")
	if body := text(t, res); res.StatusCode != 500 || strings.Contains(body, "a bug") {
		t.Errorf("%d %s", res.StatusCode, body)
	}
	if !strings.Contains(log.String(), "a bug") || !strings.Contains(log.String(), "status=500") {
		t.Errorf("log: %s", &log)
	}
}

func TestMetricsSeePatternsAndNotAddresses(t *testing.T) {
	t.Parallel()
	var events []sparqlapi.Event
	h, _ := server(t, func(o *sparqlapi.Options) { o.Observe = func(e sparqlapi.Event) { events = append(events, e) } })
	ask(h, "GET", "/get/dataset/http://data.example/a.csv", "")
	ask(h, "GET", "/nowhere", "")
	if e := events[0]; e.Route != "/get/dataset/*" || e.Status != 200 || e.Bytes == 0 || e.Took <= 0 || e.Took > time.Minute {
		t.Errorf("%+v", e)
	}
	if e := events[1]; e.Status != 404 {
		t.Errorf("%+v", e)
	}
}

func TestTheDocumentAndTheRoutesAreTheSame(t *testing.T) {
	t.Parallel()
	h, _ := server(t, nil)
	var doc struct {
		OpenAPI string
		Paths   map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(openapi.Document(), &doc); err != nil || doc.OpenAPI != "3.1.0" {
		t.Fatalf("OpenAPI %q, %v", doc.OpenAPI, err)
	}
	documented := map[string]bool{}
	for path, methods := range doc.Paths {
		for method := range methods {
			documented[strings.ToUpper(method)+" "+plainPath(path)] = true
		}
	}
	routed := map[string]bool{}
	err := chi.Walk(h.(chi.Routes), func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		if method == "HEAD" || strings.HasPrefix(route, "/api/v1/") && route != "/api/v1/search" || route == "/" ||
			route == "/activity/{id}" || route == "/graph/*" || route == "/rdf-graph-store/*" || strings.HasPrefix(route, "/crawler") ||
			route == "/ns" {
			return nil // duplicates, or IRIs that are followed but not called
		}
		routed[method+" "+plainPath(route)] = true
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range keys(routed) {
		if !documented[r] {
			t.Errorf("%s is not in openapi.json", r)
		}
	}
	for _, d := range keys(documented) {
		pages := d == "GET /harvests.json" || d == "GET /fixity" || d == "GET /quality.json" // package ui serves them
		if !routed[d] && !pages {
			t.Errorf("%s is in openapi.json and not served", d)
		}
	}
}

// plainPath returns the common form of a documented path and a routing pattern.
func plainPath(path string) string {
	path = regexp.MustCompile(`\{(url|type|path|tile)\}$`).ReplaceAllString(path, "*")
	path = strings.Replace(path, "/ns/csvw", "/ns/*", 1)
	return path
}

func keys(m map[string]bool) []string {
	var list []string
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}

func TestEachOperationOfTheDocumentIsWhole(t *testing.T) {
	t.Parallel()
	doc, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]string{}
	for path, methods := range doc.Paths {
		for method, o := range methods {
			where := strings.ToUpper(method) + " " + path
			if other := ids[o.ID]; o.ID == "" || other != "" {
				t.Errorf("%s: operationId %q, which %s has", where, o.ID, other)
			}
			ids[o.ID] = where
			for _, status := range []string{"4XX", "429", "default"} { // refused, too many requests, failed
				if _, ok := o.Responses[status]; !ok {
					t.Errorf("%s: no response %s; see the others", where, status)
				}
			}
			var named []string
			for _, p := range o.Parameters {
				if p.In == "path" {
					named = append(named, "{"+p.Name+"}")
				}
			}
			if inPath := regexp.MustCompile(`\{\w+\}`).FindAllString(path, -1); strings.Join(inPath, " ") != strings.Join(named, " ") {
				t.Errorf("%s: parameters of the path are %q, those listed %q", where, inPath, named)
			}
			i := slices.IndexFunc(rightOf,
				func(r struct{ route, right string }) bool { return regexp.MustCompile(r.route).MatchString(where) })
			want := "[]" // open
			if i >= 0 && rightOf[i].right != "" {
				want = "[map[token:[" + rightOf[i].right + "]]]"
			}
			if where == "POST /sparql" {
				want = "[map[] map[token:[update]]]"
			}
			if got := fmt.Sprint(o.Security); got != want || o.Security == nil {
				t.Errorf("%s: security is %s, want %s", where, got, want)
			}
		}
	}
}

func TestTheDocumentNamesTheServerThatServesIt(t *testing.T) {
	t.Parallel()
	for root, want := range map[string]string{"": "/", "/archive": "/archive"} {
		h, _ := server(t, func(o *sparqlapi.Options) { o.Root = root })
		var doc struct{ Servers []struct{ URL string } }
		if err := json.Unmarshal([]byte(text(t, ask(h, "GET", "/openapi.json", ""))), &doc); err != nil || len(doc.Servers) != 1 ||
			doc.Servers[0].URL != want {
			t.Errorf("below %q the server is %+v, %v", root, doc.Servers, err)
		}
	}
}

func TestAnswersHoldToTheDocumentsSchemas(t *testing.T) {
	t.Parallel()
	h, a := server(t, nil)
	schemas, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	for path, template := range map[string]string{
		"/stats/basic": "/stats/basic", "/stats/datasetCountPerHost?limit=5": "/stats/datasetCountPerHost",
		"/stats/fileTypeDistribution":            "/stats/fileTypeDistribution",
		"/get/dataset/http://data.example/a.csv": "/get/dataset/{url}", "/get/dataset/id/" + a.resources[1].ID: "/get/dataset/id/{id}",
		"/get/datasets/other.example": "/get/datasets/{domain}", "/get/dataset/type/csv": "/get/dataset/type/{type}",
		"/event/0": "/event/{number}",
	} {
		var v any
		body := text(t, ask(h, "GET", path, ""))
		if err := json.Unmarshal([]byte(body), &v); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, fault := range schemas.Check(schemas.Schema(template), v, "$") {
			t.Errorf("%s: %s", path, fault)
		}
	}
	var problem any
	if err := json.Unmarshal([]byte(text(t, ask(h, "GET", "/get/dataset/http://nowhere.example/", ""))), &problem); err != nil {
		t.Fatal(err)
	}
	for _, fault := range schemas.Check(map[string]any{"$ref": "#/components/schemas/Problem"}, problem, "$") {
		t.Error(fault)
	}
}
