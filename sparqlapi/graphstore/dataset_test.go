package graphstore_test

import (
	"strings"
	"testing"

	"odarchive/sparqlapi/graphstore"
	"odarchive/triplestore/term"
)

const dataset = `@prefix ex: <http://example.org/> . ex:d ex:p 0 . ex:g { ex:a ex:p 1 . ex:b ex:p 2 } ex:h { ex:a ex:p 3 }`

func TestTheWholeDatasetIsReadAndWritten(t *testing.T) {
	t.Parallel()
	h, _ := newHandler(t, nil)
	const all = "/rdf-graph-store"
	want(t, ask(t, h, "PUT", all, dataset, "Content-Type", "application/trig"), 204, "PUT of TriG")
	nquads := want(t, ask(t, h, "GET", all, "", "Accept", "application/n-quads"), 200, "N-Quads")
	if strings.Count(nquads, "\n") != 4 || strings.Count(nquads, "<http://example.org/g> .") != 2 {
		t.Errorf("got %s", nquads)
	}
	for accept, kind := range map[string]string{"*/*": "application/trig", "application/trig": "application/trig",
		"application/ld+json": "application/ld+json", "application/trix": "application/trix"} {
		res := ask(t, h, "GET", all, "", "Accept", accept)
		body := want(t, res, 200, accept)
		if res.Header.Get("Content-Type") != kind || res.Header.Get("ETag") == "" {
			t.Errorf("Accept %s: %v", accept, res.Header)
		}
		h2, _ := newHandler(t, nil)
		want(t, ask(t, h2, "POST", all, "<http://example.org/x> <http://example.org/p> <http://example.org/y> <http://example.org/z> .",
			"Content-Type", "application/n-quads"), 204, "before")
		want(t, ask(t, h2, "PUT", all, body, "Content-Type", kind), 204, "PUT of "+kind)
		if got := want(t, ask(t, h2, "GET", all, "", "Accept", "application/n-quads"), 200, "again"); got != nquads {
			t.Errorf("%s: got %s\nwant %s", kind, got, nquads)
		}
	}
	want(t, ask(t, h, "POST", all, "<http://example.org/c> <http://example.org/p> <http://example.org/e> <http://example.org/g> .",
		"Content-Type", "application/n-quads"), 204, "POST adds")
	if got := want(t, ask(t, h, "GET", all, "", "Accept", "application/n-quads"), 200, "after POST"); strings.Count(got, "\n") != 5 {
		t.Errorf("after POST: %s", got)
	}
	if res := ask(t, h, "HEAD", all, ""); res.StatusCode != 200 || res.Header.Get("Content-Type") != "application/trig" {
		t.Errorf("HEAD: %d %v", res.StatusCode, res.Header)
	}
	want(t, ask(t, h, "GET", all, "", "Accept", "text/turtle"), 406, "a dataset as Turtle")
	want(t, ask(t, h, "PUT", all, one, "Content-Type", ttl), 400, "PUT of triples without a graph")
	want(t, ask(t, h, "PUT", all, "ex:a", "Content-Type", "application/trig"), 400, "nonsense")
	want(t, ask(t, h, "PUT", all, dataset, "Content-Type", "application/trig", "If-None-Match", "*"), 412, "a dataset always exists")
	want(t, ask(t, h, "PUT", all, dataset, "Content-Type", "application/trig", "Authorization", "Bearer x"), 401, "without the token")
	want(t, ask(t, h, "DELETE", all, ""), 400, "DELETE of everything")
	if got := want(t, ask(t, h, "GET", all, "", "Accept", "application/n-quads"), 200, "after refusals"); strings.Count(got, "\n") != 5 {
		t.Errorf("after refusals: %s", got)
	}
}

func TestAGraphComesAsQuadsWithItsName(t *testing.T) {
	t.Parallel()
	h, _ := newHandler(t, nil)
	want(t, ask(t, h, "PUT", "/rdf-graph-store", dataset, "Content-Type", "application/trig"), 204, "PUT")
	if got := want(t, ask(t, h, "GET", "/rdf-graph-store?graph=http://example.org/h", "", "Accept", "application/n-quads"), 200,
		"a named graph"); !strings.HasSuffix(got, " <http://example.org/h> .\n") || strings.Count(got, "\n") != 1 {
		t.Errorf("got %s", got)
	}
	if got := want(t, ask(t, h, "GET", "/rdf-graph-store?default", "", "Accept", "application/trig"), 200,
		"the default graph"); strings.Contains(got, "{") {
		t.Errorf("got %s", got)
	}
}

func TestADatasetThatIsTooLargeIs413(t *testing.T) {
	t.Parallel()
	h, _ := newHandler(t, func(o *graphstore.Options) { o.MaxBody = 100 })
	want(t, ask(t, h, "PUT", "/rdf-graph-store", dataset+strings.Repeat(" ", 100), "Content-Type", "application/trig"), 413, "too large")
}

func TestReplacingTheDatasetLeavesTheServersOwnGraphs(t *testing.T) {
	t.Parallel()
	h, _ := newHandler(t, func(o *graphstore.Options) {
		o.Owned = func(g term.Key) bool { return g == "" || g == term.IRI("http://example.org/catalog") }
	})
	const all, base = "/rdf-graph-store", "<http://example.org/own> <http://example.org/p> 1"
	want(t, ask(t, h, "POST", all, base+" . GRAPH <http://example.org/catalog> { "+base+" } GRAPH <http://example.org/old> { "+base+" }",
		"Content-Type", "application/trig"), 204, "POST")
	if got := want(t, ask(t, h, "PUT", all, base+" .", "Content-Type", "application/trig"), 409,
		"the default graph"); !strings.Contains(got, "the default graph holds the archive's own records") {
		t.Error(got)
	}
	if got := want(t, ask(t, h, "PUT", all, "GRAPH <http://example.org/catalog> { "+base+" }", "Content-Type", "application/trig"), 409,
		"a catalog"); !strings.Contains(got, "http://example.org/catalog") {
		t.Error(got)
	}
	for _, graph := range []string{"?default", "?graph=http://example.org/catalog"} {
		for _, method := range []string{"PUT", "DELETE"} {
			if got := want(t, ask(t, h, method, all+graph, one, "Content-Type", ttl), 409, method+" "+graph); !strings.Contains(got,
				"the archive's own records, which "+method) {
				t.Error(got)
			}
		}
		want(t, ask(t, h, "POST", all+graph, base+" .", "Content-Type", ttl), 204, "POST adds to "+graph)
	}
	want(t, ask(t, h, "PUT", all, "GRAPH <http://example.org/new> { "+base+" }", "Content-Type", "application/trig"), 204, "other graphs")
	got := want(t, ask(t, h, "GET", all, "", "Accept", "application/n-quads"), 200, "after PUT")
	for graph, n := range map[string]int{"/catalog>": 1, "/new>": 1, "/old>": 0} {
		if strings.Count(got, graph) != n {
			t.Errorf("%d statements of %s in\n%s", strings.Count(got, graph), graph, got)
		}
	}
	if strings.Count(got, "\n") != 3 {
		t.Errorf("got %s", got)
	}
}
