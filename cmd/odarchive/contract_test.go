package main

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"odarchive/crawler/address"
	"odarchive/ns"
	"odarchive/sparqlapi/openapi/contract"
)

// everyGETHoldsToTheDocument calls every GET operation of the OpenAPI document, with and without what it requires, and
// compares the answers with the document. HEAD is answered alike, without a body.
func (s served) everyGETHoldsToTheDocument(t *testing.T) {
	doc, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	file := s.web.Base("city") + "environment/trees.csv"
	key, err := address.Key(file)
	if err != nil {
		t.Fatal(err)
	}
	id := ns.ResourceID(key)
	query := "SELECT ?v { ?f <http://purl.org/dc/terms/hasVersion> ?v } LIMIT 2"
	known := map[string]string{
		"url": file, "domain": strings.TrimSuffix(strings.TrimPrefix(s.web.Base("city"), "http://"), "/"), "type": "csv", "number": "0",
		"level": "0", "timestamp": "20261121060000",
		"q": query, "query": query, "iri": file, "default": "", "host": "city.example", "path": "nothing.csv", "name": "nothing",
	}
	value := func(path string, p contract.Parameter) string {
		switch {
		case p.Name == "id" && strings.Contains(path, "/get/file/id/"):
			return ns.VersionID(id, 1)
		case p.Name == "id":
			return id
		}
		return known[p.Name]
	}
	answered := 0
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		o, ok := doc.Paths[path]["get"]
		if !ok {
			continue
		}
		address, q, header := path, url.Values{}, []string{}
		if len(o.Security) > 0 && len(o.Security[0]) > 0 {
			header = []string{"Authorization", "Bearer t0k"}
		}
		for _, p := range o.Parameters {
			switch {
			case p.In == "path":
				address = strings.Replace(address, "{"+p.Name+"}", url.PathEscape(value(path, p)), 1)
			case p.In == "query" &&
				(p.Required || slices.Contains([]string{"url", "q", "query", "default", "from", "to"}, p.Name) && path != "/diff" &&
					path != "/cdx" && path != "/crawl/series"):
				q.Set(p.Name, value(path, p))
			case p.In == "query" && (path == "/diff" || path == "/cdx") && p.Name == "url":
				q.Set(p.Name, file)
			}
		}
		if len(q) > 0 {
			address += "?" + q.Encode()
		}
		resp, body := s.get(t, address, header...)
		for _, fault := range doc.Answer(o, resp.StatusCode, resp.Header.Get("Content-Type"), []byte(body)) {
			t.Errorf("GET %s: %s", address, fault)
		}
		if resp.StatusCode/100 < 4 {
			answered++
		}
		if strings.HasPrefix(path, "/get/") && strings.HasSuffix(path, "{id}") && resp.StatusCode/100 >= 4 {
			t.Errorf("GET %s: %d %.300s", address, resp.StatusCode, body)
		}
		if resp.StatusCode >= 500 {
			t.Errorf("GET %s: %d %.300s", address, resp.StatusCode, body)
		}
		s.runsNoCode(t, address, header)
		if path != "/changes/rdf" { // whose HEAD says only how far the log is
			s.headIsGET(t, address, header, resp)
		}
		if resp, body := s.get(t, address+"&limit=nonsense&format=nonsense&timeout=-1", header...); true {
			for _, fault := range doc.Answer(o, resp.StatusCode, resp.Header.Get("Content-Type"), []byte(body)) {
				t.Errorf("GET %s with nonsense: %s", address, fault)
			}
		}
	}
	if answered < 50 {
		t.Errorf("only %d operations had an answer that is no refusal", answered)
	}
}

// headIsGET compares the answer to HEAD with that to GET.
func (s served) headIsGET(t *testing.T, address string, header []string, get *http.Response) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "HEAD", s.base+address, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	head, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	head.Body.Close()
	if head.StatusCode != get.StatusCode || head.Header.Get("Content-Type") != get.Header.Get("Content-Type") {
		t.Errorf("HEAD %s: %d %q, GET %d %q", address, head.StatusCode, head.Header.Get("Content-Type"), get.StatusCode,
			get.Header.Get("Content-Type"))
	}
}

// runsNoCode asks for an address as a program and as a browser does, and looks at what the answer allows browsers.
func (s served) runsNoCode(t *testing.T, address string, header []string) {
	t.Helper()
	for _, accept := range []string{"*/*", "text/html"} {
		resp, _ := s.get(t, address, append([]string{"Accept", accept}, header...)...)
		policy, isPage := resp.Header.Get("Content-Security-Policy"), false
		if kind := resp.Header.Get("Content-Type"); strings.HasPrefix(kind, "text/html") {
			isPage = strings.Contains(policy, "script-src 'nonce-")
		}
		if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") || !isPage &&
			!strings.Contains(policy, "sandbox") ||
			isPage && strings.Contains(policy, "unsafe") || strings.Contains(policy, "allow-") {
			t.Errorf("GET %s for %s: %d, policy %q", address, accept, resp.StatusCode, policy)
		}
		if h := resp.Header; h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") == "" {
			t.Errorf("GET %s for %s: %d, %q, %q", address, accept, resp.StatusCode, h.Get("X-Content-Type-Options"),
				h.Get("Referrer-Policy"))
		}
	}
}

// everyPageRunsOnlyItsScripts does the same for the pages, which the document does not name.
func (s served) everyPageRunsOnlyItsScripts(t *testing.T) {
	for _, address := range []string{"/", "/search?q=%3Cscript%3E", "/portals",
		"/dataset?url=" + url.QueryEscape(s.web.Base("city")+"environment/trees.csv"), "/crawls", "/campaign", "/hosts", "/sign-in",
		"/statistics", "/fixity", "/console?query=%3Cscript%3E", "/basket?id=%3Cscript%3E", "/api-doc", "/api-doc?call=%3Cscript%3E",
		"/docs/", "/docs/?q=%3Cscript%3E%E2%80%AE", "/docs/tutorial", "/docs/%3Cscript%3E",
		"/version?id=%3Cscript%3E", "/portal?url=%3Cscript%3E", "/dataset?url=%3Cscript%3E", "/%3Cscript%3E", "/assets/nothing.js",
		"/favicon.ico"} {
		s.runsNoCode(t, address, nil)
		if _, body := s.get(t, address, "Accept", "text/html"); strings.Contains(body, "<script>") {
			t.Errorf("GET %s: the page has what was asked for as markup", address)
		}
	}
}
