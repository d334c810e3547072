package protocol_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"odarchive/sparqlapi/protocol"
	"odarchive/triplestore/naive"
	"odarchive/triplestore/sparql"
	"odarchive/triplestore/term"
)

func TestTheFirstFormatThatIsKnownWins(t *testing.T) {
	t.Parallel()
	srv := serve(t, numbers(2), protocol.Options{})
	const rows, graph = "SELECT ?s { ?s ?p ?o }", "CONSTRUCT WHERE { ?s ?p ?o }"
	for _, c := range []struct {
		query, accept string
		params        url.Values
		status        int
		want          string
	}{
		{graph, "application/rdf+xml", url.Values{"format": {"xml"}, "output": {"xml"}, "results": {"xml"}}, 200, "application/rdf+xml"},
		{graph, "*/*", url.Values{"format": {"xml"}}, 200, "application/rdf+xml"},
		{graph, "", url.Values{"output": {"json"}}, 200, "application/ld+json"},
		{graph, "", url.Values{"format": {"application/json"}}, 200, "application/ld+json"},
		{graph, "", url.Values{"format": {"rdf+xml", "application/rdf+xml"}}, 200, "application/rdf+xml"},
		{graph, "", url.Values{"format": {"n3"}}, 200, "text/n3; charset=utf-8"},
		{graph, "text/rdf+n3,application/n-triples;q=0.5", nil, 200, "text/n3; charset=utf-8"},
		{rows, "text/tab-separated-values",
			url.Values{"format": {"tsv", "text/tab-separated-values"}, "output": {"tsv", "text/tab-separated-values"}}, 200,
			"text/tab-separated-values; charset=utf-8"},
		{rows, "", url.Values{"results": {"xml"}}, 200, "application/sparql-results+xml"},
		{rows, "text/csv", url.Values{"format": {"json-ld"}}, 200, "text/csv; charset=utf-8; header=present"},
		{rows, "", url.Values{"format": {"nonsense"}}, 400, "application/problem+json"},
		{rows, "*/*", url.Values{"format": {"nonsense"}}, 400, "application/problem+json"},
	} {
		params := url.Values{"query": {c.query}}
		for name, values := range c.params {
			params[name] = values
		}
		resp, body := get(t, srv, params, c.accept)
		if resp.StatusCode != c.status || resp.Header.Get("Content-Type") != c.want {
			t.Errorf("%s %v Accept: %q: got %s %s, want %s\n%s", c.query, c.params, c.accept, resp.Status, resp.Header.Get("Content-Type"),
				c.want, body)
		}
	}
}

// unfit returns a store with n triples and a last one whose predicate RDF/XML cannot express.
func unfit(n int) *naive.Store {
	var quads []term.Quad
	for i := range n {
		quads = append(quads, term.Quad{S: term.IRI(fmt.Sprintf("s:%06d", i)), P: term.IRI("http://p.example/p"),
			O: term.String(strings.Repeat("x", 100))})
	}
	return naive.New(append(quads, term.Quad{S: term.IRI("s:zzz"), P: term.IRI("http://p.example/1"), O: term.String("last")})...)
}

func TestAGraphThatAFormatCannotHoldComesInAnother(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 20_000} { // the second is longer than what is held back
		srv := serve(t, unfit(n), protocol.Options{})
		for _, c := range []struct {
			accept, format string
			status         int
			want           string
		}{
			{"application/rdf+xml, text/turtle;q=0.5", "", 200, "text/turtle; charset=utf-8"},
			{"application/rdf+xml, */*;q=0.1", "", 200, "text/turtle; charset=utf-8"},
			{"application/rdf+xml", "", 406, "application/problem+json"},
			{"", "xml", 406, "application/problem+json"},
			{"application/ld+json", "", 200, "application/ld+json"},
		} {
			params := url.Values{"query": {"CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o } ORDER BY ?s"}}
			if c.format != "" {
				params.Set("format", c.format)
			}
			resp, body := get(t, srv, params, c.accept)
			if resp.StatusCode != c.status || resp.Header.Get("Content-Type") != c.want {
				t.Errorf("%d triples, Accept: %q: got %s %s, want %s", n, c.accept, resp.Status, resp.Header.Get("Content-Type"), c.want)
			}
			switch {
			case c.status == 406 && (!strings.Contains(body, "RDF/XML") || !strings.Contains(body, "http://p.example/1")):
				t.Errorf("the reason is missing: %s", body)
			case c.status == 200 && (strings.Contains(body, "rdf:RDF") || !strings.Contains(body, "last")):
				t.Errorf("%d triples, Accept: %q: not one whole document", n, c.accept)
			}
		}
	}
}

func TestALongGraphThatRDFXMLCanHoldComesWhole(t *testing.T) {
	t.Parallel()
	srv := serve(t, unfit(20_000), protocol.Options{})
	resp, body := get(t, srv, url.Values{"query": {"CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o FILTER (?p = <http://p.example/p>) }"}},
		"application/rdf+xml")
	if resp.StatusCode != 200 || strings.Count(body, "<rdf:Description") != 20_000 || strings.Count(body, "<?xml") != 1 ||
		!strings.HasSuffix(body, "</rdf:RDF>\n") {
		t.Errorf("%s, %d descriptions in %d bytes", resp.Status, strings.Count(body, "<rdf:Description"), len(body))
	}
}

func TestTripleTermsAreNever500(t *testing.T) {
	t.Parallel()
	srv := serve(t, naive.New(term.Quad{S: term.IRI("s:s"), P: term.IRI("http://p.example/p"),
		O: term.Triple(term.IRI("a:a"), term.IRI("b:b"), term.IRI("c:c"))}), protocol.Options{})
	for accept, status := range map[string]int{"text/turtle": 200, "application/rdf+xml": 406, "application/ld+json": 406,
		"application/rdf+xml, application/ld+json, application/n-triples;q=0.1": 200} {
		if resp, body := get(t, srv, url.Values{"query": {"DESCRIBE <s:s>"}}, accept); resp.StatusCode != status {
			t.Errorf("Accept: %s: %s %s", accept, resp.Status, body)
		}
	}
}

func TestAPlanComesAsJSONToo(t *testing.T) {
	t.Parallel()
	srv := serve(t, numbers(5), protocol.Options{})
	params := url.Values{"query": {"SELECT ?s { ?s <p:p> ?o FILTER (?o > 3) }"}, "explain": {"1"}}
	_, text := get(t, srv, params, "*/*")
	resp, body := get(t, srv, params, "application/json")
	var plan struct {
		Algebra string
		Plan    sparql.PlanStep
		Results int
	}
	if err := json.Unmarshal([]byte(body), &plan); err != nil || resp.Header.Get("Content-Type") != "application/json" {
		t.Fatal(err, resp.Header, body)
	}
	if plan.Results != 1 || !strings.Contains(plan.Algebra, "filter") || plan.Plan.Operator == "" || plan.Plan.Rows == nil ||
		*plan.Plan.Rows != 1 || plan.Plan.Milliseconds == nil {
		t.Errorf("got %s", body)
	}
	if first, _, _ := strings.Cut(strings.SplitAfterN(text, "\n", 2)[1], " rows≈"); !strings.Contains(text, plan.Plan.Operator) {
		t.Errorf("the text begins with %q, the JSON with %q", first, plan.Plan.Operator)
	}
	params.Set("format", "json")
	if resp, _ := get(t, srv, params, "text/plain"); resp.Header.Get("Content-Type") != "application/json" {
		t.Errorf("format=json: %s", resp.Header.Get("Content-Type"))
	}
}
