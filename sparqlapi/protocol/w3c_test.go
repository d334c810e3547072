package protocol_test

import (
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"odarchive/sparqlapi/protocol"
	"odarchive/testdata/shared"
	"odarchive/triplestore/naive"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/sparql/conformance"
	"odarchive/triplestore/sparql/results"
	"odarchive/triplestore/term"
)

const (
	ht  = "http://www.w3.org/2011/http#"
	cnt = "http://www.w3.org/2011/content#"
	mf  = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
	ut  = "http://www.w3.org/2009/sparql/tests/test-update#"
)

// TestTheW3CProtocolTests sends the requests of the W3C protocol manifest. There are no exceptions.
func TestTheW3CProtocolTests(t *testing.T) {
	t.Parallel()
	root := shared.Data(t, "w3c", "sparql")
	tests, err := conformance.Load(filepath.Join(root, "sparql11", "protocol", "manifest.ttl"))
	if err != nil || len(tests) < 30 {
		t.Fatalf("%d tests, %v", len(tests), err)
	}
	for _, x := range tests {
		t.Run(x.Name, func(t *testing.T) {
			t.Parallel()
			var graphs conformance.Graphs
			for _, g := range x.Manifest.All(term.IRI(x.IRI), ut+"graphData") {
				graphs.Named = append(graphs.Named, conformance.NamedFile{
					Name: x.Manifest.One(g, "http://www.w3.org/2000/01/rdf-schema#label").Value(),
					File: x.Manifest.One(g, ut+"graph").Value(),
				})
			}
			quads, err := graphs.Quads()
			if err != nil {
				t.Fatal(err)
			}
			srv := serve(t, naive.New(quads...), protocol.Options{})
			for i, list := range x.Manifest.All(x.Action, ht+"requests") {
				for j, req := range x.Manifest.List(list) {
					exchange(t, srv, x.Manifest, req, i+j)
				}
			}
		})
	}
}

// exchange sends one request and checks its answer.
func exchange(t *testing.T, srv *httptest.Server, g *conformance.Graph, req term.Key, nr int) {
	body := g.One(req, ht+"body")
	text := g.One(body, cnt+"chars").Value()
	if enc := g.One(body, cnt+"characterEncoding").Value(); strings.EqualFold(enc, "UTF-16") {
		var b strings.Builder
		for _, u := range utf16.Encode([]rune(text)) {
			b.Write([]byte{byte(u >> 8), byte(u)})
		}
		text = b.String()
	}
	path := strings.Replace(g.One(req, ht+"absolutePath").Value(), "/sparql/", "/sparql", 1)
	r, err := http.NewRequest(g.One(req, ht+"methodName").Value(), srv.URL+path, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range g.List(g.One(req, ht+"headers")) {
		r.Header.Add(g.One(h, ht+"fieldName").Value(), g.One(h, ht+"fieldValue").Value())
	}
	resp, err := srv.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	want := g.One(req, ht+"resp")
	var classes []string
	for _, s := range g.All(want, mf+"expectedStatus") {
		_, class, _ := strings.Cut(s.Value(), "StatusCode")
		classes = append(classes, class)
	}
	if got := string(rune('0'+resp.StatusCode/100)) + "xx"; !slices.Contains(classes, got) {
		t.Errorf("request %d: %s %s: got %s, want %v\n%s\n%s", nr, r.Method, path, resp.Status, classes, text, answer)
		return
	}
	mt, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch format := g.One(want, mf+"expectedFormat").Value(); format {
	case "boolean", "tabular":
		f, ok := results.ByName(mt)
		if !ok {
			t.Errorf("request %d: got %s, want %s", nr, mt, format)
			return
		}
		res, err := conformance.DecodeResult(strings.NewReader(string(answer)), f)
		if err != nil || (res.Boolean != nil) != (format == "boolean") {
			t.Errorf("request %d: got %s %v, want %s", nr, answer, err, format)
			return
		}
		if b := g.One(want, mf+"expectedBoolean"); b != "" && *res.Boolean != (b.Value() == "true") {
			t.Errorf("request %d: got %v, want %v\n%s", nr, *res.Boolean, b.Value(), path)
		}
	case "RDF":
		if _, ok := rdfio.ByMediaType(mt); !ok {
			t.Errorf("request %d: got %s, want RDF", nr, mt)
		}
	}
}

// TestTheServiceDescription runs the three tests of the W3C service description manifest.
func TestTheServiceDescription(t *testing.T) {
	t.Parallel()
	quad := term.Quad{S: term.IRI("s:s"), P: term.IRI("p:p"), O: term.IRI("o:o"), G: term.IRI("http://example.org/g")}
	srv := serve(t, naive.New(quad), protocol.Options{Federated: true})
	for _, accept := range []string{"", "text/turtle", "application/rdf+xml", "application/n-triples"} {
		r, _ := http.NewRequest("GET", srv.URL+"/sparql", nil)
		r.Header.Set("Accept", accept)
		resp, err := srv.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		s, ok := rdfio.ByMediaType(resp.Header.Get("Content-Type"))
		if resp.StatusCode != 200 || !ok {
			t.Fatalf("Accept %q: got %s %s, want RDF", accept, resp.Status, resp.Header.Get("Content-Type"))
		}
		var quads []term.Quad
		for q, err := range rdfio.NewReader(resp.Body, s, rdfio.Options{}).All() {
			if err != nil {
				t.Fatal(err)
			}
			quads = append(quads, q)
		}
		g := conformance.NewGraph(quads)
		const sd = "http://www.w3.org/ns/sparql-service-description#"
		services := g.Subjects("http://www.w3.org/1999/02/22-rdf-syntax-ns#type", term.IRI(sd+"Service"))
		if len(services) != 1 || g.One(services[0], sd+"endpoint") != term.IRI(srv.URL+"/sparql") {
			t.Fatalf("Accept %q: want one sd:Service whose sd:endpoint is %s/sparql, got %q", accept, srv.URL, quads)
		}
		// The schema test: the objects of a service's properties have the classes that the schema names.
		dataset := g.One(services[0], sd+"defaultDataset")
		named := g.One(dataset, sd+"namedGraph")
		for about, ok := range map[string]bool{
			"sd:supportedLanguage": slices.Contains(g.All(services[0], sd+"supportedLanguage"), term.IRI(sd+"SPARQL11Query")),
			"sd:feature":           slices.Contains(g.All(services[0], sd+"feature"), term.IRI(sd+"BasicFederatedQuery")),
			"sd:resultFormat":      len(g.All(services[0], sd+"resultFormat")) > 3,
			"sd:Dataset": slices.Contains(g.All(dataset, "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"),
				term.IRI(sd+"Dataset")),
			"sd:defaultGraph": g.One(dataset, sd+"defaultGraph") != "",
			"sd:name":         g.One(named, sd+"name") == term.IRI("http://example.org/g"),
			"sd:graph":        g.One(g.One(named, sd+"graph"), "http://rdfs.org/ns/void#triples").Value() == "1",
		} {
			if !ok {
				t.Errorf("Accept %q: %s is missing or wrong in %q", accept, about, quads)
			}
		}
	}
}
