package protocol_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/protocol"
	"odarchive/triplestore/naive"
	"odarchive/triplestore/sparql"
	"odarchive/triplestore/term"
)

// serve starts an endpoint over a store. Everyone may update unless o.Authorise decides otherwise.
func serve(t *testing.T, store *naive.Store, o protocol.Options) *httptest.Server {
	t.Helper()
	if o.Engine == nil {
		o.Engine = sparql.New(sparql.Options{})
	}
	if o.Snapshot == nil {
		o.Snapshot = func() (term.Dataset, func()) { return store.Snapshot(), func() {} }
	}
	if o.Store == nil {
		o.Store = sparql.StoreOf(store.View, store.Update)
	}
	if o.Authorise == nil {
		o.Authorise = func(*http.Request) error { return nil }
	}
	mux := http.NewServeMux()
	mux.Handle("/sparql", protocol.New(o))
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return srv
}

func numbers(n int) *naive.Store {
	var quads []term.Quad
	for i := range n {
		quads = append(quads, term.Quad{S: term.IRI(fmt.Sprintf("s:%d", i)), P: term.IRI("p:p"),
			O: term.Typed(fmt.Sprint(i), "http://www.w3.org/2001/XMLSchema#integer")})
	}
	return naive.New(quads...)
}

func get(t *testing.T, srv *httptest.Server, params url.Values, accept string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequest("GET", srv.URL+"/sparql?"+params.Encode(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	resp, err := srv.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

func TestTheClientChoosesTheFormat(t *testing.T) {
	t.Parallel()
	srv := serve(t, numbers(2), protocol.Options{})
	const rows, graph, yes = "SELECT ?s { ?s ?p ?o } ORDER BY ?o", "CONSTRUCT WHERE { ?s ?p ?o }", "ASK {}"
	for _, c := range []struct{ query, format, accept, want, text string }{
		{rows, "", "", "application/sparql-results+json", `{"type":"uri","value":"s:0"}`},
		{rows, "", "*/*", "application/sparql-results+json", `"s:0"`},
		{rows, "", "application/json", "application/sparql-results+json", `"s:0"`},
		{rows, "", "application/sparql-results+xml", "application/sparql-results+xml", "<uri>s:0</uri>"},
		{rows, "", "text/csv", "text/csv; charset=utf-8; header=present", "s\r\ns:0\r\n"},
		{rows, "", "text/tab-separated-values, text/csv;q=0.5", "text/tab-separated-values; charset=utf-8", "?s\n<s:0>\n"},
		{rows, "", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html; charset=utf-8",
			`<span class="iri">s:0</span>`},
		{rows, "csv", "text/html", "text/csv; charset=utf-8; header=present", "s:0"},
		{rows, "table", "", "text/plain; charset=utf-8", "?s\n-----\n<s:0>\n"},
		{yes, "", "", "application/sparql-results+json", `"boolean":true`},
		{yes, "", "text/html", "text/html; charset=utf-8", `<p class="boolean">true</p>`},
		{graph, "", "", "text/turtle; charset=utf-8", "<s:0>"},
		{graph, "", "application/n-triples", "application/n-triples; charset=utf-8", "<s:0> <p:p>"},
		{graph, "", "application/rdf+xml", "application/rdf+xml", "rdf:RDF"},
		{graph, "", "application/sparql-results+json", "application/rdf+xml", "rdf:RDF"},
		{graph, "", "application/*", "application/n-triples; charset=utf-8", "<s:0> <p:p>"},
		{graph, "", "text/plain;q=0.5, application/xml;q=0.5", "application/n-triples; charset=utf-8", "<s:0> <p:p>"},
		{graph, "", "application/x-turtle", "text/turtle; charset=utf-8", "<s:0>"},
		{graph, "jsonld", "", "application/ld+json", `"s:0"`},
		{graph, "nt", "text/html", "application/n-triples; charset=utf-8", "<s:0>"},
	} {
		params := url.Values{"query": {c.query}}
		if c.format != "" {
			params.Set("format", c.format)
		}
		resp, body := get(t, srv, params, c.accept)
		if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != c.want || !strings.Contains(body, c.text) {
			t.Errorf("%s format=%s Accept: %s\n got %s %s\n%s\nwant %s with %q", c.query, c.format, c.accept, resp.Status,
				resp.Header.Get("Content-Type"), body, c.want, c.text)
		}
		if !strings.Contains(resp.Header.Get("Vary"), "Accept") {
			t.Errorf("%s: Vary is %q", c.query, resp.Header.Get("Vary"))
		}
	}
}

func TestFieldsOfAFormThatNobodyFilledInSayNothing(t *testing.T) {
	t.Parallel()
	srv := serve(t, numbers(2), protocol.Options{})
	_, body := get(t, srv, url.Values{"query": {"ASK { ?s ?p ?o }"}, "default-graph-uri": {""}, "named-graph-uri": {""}, "timeout": {""},
		"format": {""}, "explain": {""}}, "")
	if !strings.Contains(body, "true") {
		t.Error(body)
	}
}

func TestABodyMayBeCompressed(t *testing.T) {
	t.Parallel()
	srv := serve(t, numbers(2), protocol.Options{MaxQuery: 1 << 20})
	squeeze := func(text string) string {
		var b strings.Builder
		z := gzip.NewWriter(&b)
		io.WriteString(z, text)
		z.Close()
		return b.String()
	}
	const ask = "ASK { ?s ?p ?o }"
	for _, c := range []struct {
		coding, body string
		status       int
		want         string
	}{
		{"gzip", squeeze(ask), 200, "true"},
		{"X-Gzip", squeeze(ask), 200, "true"},
		{"identity", ask, 200, "true"},
		{"gzip", squeeze(ask)[:20], 400, "cannot be read"},
		{"gzip", squeeze(ask + "#" + strings.Repeat("x", 2<<20)), 413, "too large"},
		{"br", ask, 415, "Content-Encoding"},
	} {
		r, err := http.NewRequest("POST", srv.URL+"/sparql", strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/sparql-query")
		r.Header.Set("Content-Encoding", c.coding)
		resp, err := srv.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != c.status || !strings.Contains(string(text), c.want) {
			t.Errorf("%s %q: got %s %s, want %d with %q", c.coding, c.body, resp.Status, text, c.status, c.want)
		}
	}
}

func TestProblemsAreToldWithTheirStatus(t *testing.T) {
	t.Parallel()
	engine := sparql.New(sparql.Options{MaxRows: 5})
	srv := serve(t, numbers(10), protocol.Options{Engine: engine})
	for _, c := range []struct {
		params url.Values
		accept string
		status int
		text   string
	}{
		{url.Values{"query": {"SELECT *\n{ ?s ?p }"}}, "", 400, `"line":2`},
		{url.Values{"query": {"SELECT * { ?s foaf:name ?o }"}}, "", 400, "PREFIX foaf:"},
		{url.Values{"query": {"ASK {}", "ASK {}"}}, "", 400, "given 2 times"},
		{url.Values{"query": {"ASK {}"}, "timeout": {"soon"}}, "", 400, "timeout is a number of seconds"},
		{url.Values{"query": {"ASK {}"}, "format": {"pdf"}}, "", 400, `\"pdf\" is not a format`},
		{url.Values{"query": {"ASK {}"}, "default-graph-uri": {"not absolute"}}, "", 400, "absolute IRI"},
		{url.Values{"query": {"ASK {}"}}, "image/png", 406, "application/sparql-results+json"},
		{url.Values{"query": {"CONSTRUCT WHERE { ?s ?p ?o }"}}, "text/csv", 406, "text/turtle"},
		{url.Values{"query": {"SELECT * { ?s ?p ?o } ORDER BY ?o"}}, "", 422, "5 rows"},
		{url.Values{"query": {"SELECT * { SERVICE <http://example.org/sparql> { ?s ?p ?o } }"}}, "", 403, "switched off"},
		{url.Values{"query": {"ASK { SERVICE ?where { ?s ?p ?o } }"}}, "", 400, "SERVICE needs an IRI"},
		{url.Values{"query": {"\xff"}}, "", 400, "UTF-8"},
		{url.Values{"update": {"CLEAR ALL"}}, "", 400, "POST"},
	} {
		resp, body := get(t, srv, c.params, c.accept)
		if resp.StatusCode != c.status || resp.Header.Get("Content-Type") != "application/problem+json" || !strings.Contains(body, c.text) {
			t.Errorf("%v: got %s %s %s, want %d with %q", c.params, resp.Status, resp.Header.Get("Content-Type"), body, c.status, c.text)
		}
		if !json.Valid([]byte(body)) {
			t.Errorf("%v: not JSON: %s", c.params, body)
		}
	}
}

func TestOnlyTheAuthorisedUpdate(t *testing.T) {
	t.Parallel()
	store := numbers(0)
	srv := serve(t, store, protocol.Options{Authorise: func(r *http.Request) error {
		switch r.Header.Get("Authorization") {
		case "Bearer secret":
			return nil
		case "":
			return problem.New(http.StatusUnauthorized, "A token is needed", "")
		}
		return problem.New(http.StatusForbidden, "Wrong token", "")
	}})
	post := func(token, text string) int {
		r, _ := http.NewRequest("POST", srv.URL+"/sparql", strings.NewReader(text))
		r.Header.Set("Content-Type", "application/sparql-update")
		r.Header.Set("Authorization", token)
		resp, err := srv.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	if got := post("", "INSERT DATA { <s:s> <p:p> 1 }"); got != 401 {
		t.Errorf("without the token: got %d, want 401", got)
	}
	if got := post("Bearer wrong", "INSERT DATA { <s:s> <p:p> 1 }"); got != 403 {
		t.Errorf("with another token: got %d, want 403", got)
	}
	if got := post("Bearer secret", "INSERT DATA { <s:s> <p:p> 1 }"); got != 200 {
		t.Errorf("with the token: got %d, want 200", got)
	}
	if got := post("Bearer secret", "LOAD <file:///etc/passwd>"); got != 403 {
		t.Errorf("LOAD of a file: got %d, want 403", got)
	}
	if resp, body := get(t, srv, url.Values{"query": {"ASK { <s:s> <p:p> 1 }"}}, ""); !strings.Contains(body, "true") {
		t.Errorf("got %s %s", resp.Status, body)
	}
}

func TestAPersonGetsTheConsole(t *testing.T) {
	t.Parallel()
	console := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "the console") })
	srv := serve(t, numbers(0), protocol.Options{Console: console})
	if _, body := get(t, srv, nil, "text/html,application/xhtml+xml,*/*;q=0.8"); body != "the console" {
		t.Errorf("a browser got %q", body)
	}
	if resp, _ := get(t, srv, nil, "*/*"); resp.Header.Get("Content-Type") != "text/turtle; charset=utf-8" {
		t.Errorf("a program got %s", resp.Header.Get("Content-Type"))
	}
}

func TestHeadSaysWhatGetWould(t *testing.T) {
	t.Parallel()
	srv := serve(t, numbers(1), protocol.Options{})
	for query, want := range map[string]string{"": "text/turtle; charset=utf-8", "?query=ASK%7B%7D": "application/sparql-results+json"} {
		resp, err := srv.Client().Head(srv.URL + "/sparql" + query)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != want {
			t.Errorf("HEAD %s: got %s %s", query, resp.Status, resp.Header.Get("Content-Type"))
		}
	}
}

func TestExplainShowsThePlan(t *testing.T) {
	t.Parallel()
	srv := serve(t, numbers(7), protocol.Options{})
	resp, body := get(t, srv, url.Values{"query": {"SELECT ?s { ?s <p:p> ?o FILTER (?o > 3) }"}, "explain": {"1"}}, "")
	for _, want := range []string{"(project (?s)", "(filter (> ?o 3)", "rows≈", "rows=3", "time=", "3 results in"} {
		if resp.StatusCode != 200 || !strings.Contains(body, want) {
			t.Errorf("got %s without %q:\n%s", resp.Status, want, body)
		}
	}
}

// gate is a dataset whose scans stop before some batch until open is closed.
type gate struct {
	term.Dataset
	after int           // batches that pass
	open  chan struct{} // then the scan waits for this
	fail  error         // and returns this, if not nil
	ctx   context.Context
}

func (g *gate) Scan(p term.Pattern, o term.Order) term.Cursor {
	return &gateCursor{Cursor: g.Dataset.Scan(p, o), g: g}
}

type gateCursor struct {
	term.Cursor
	g *gate
	n int
}

func (c *gateCursor) Next() ([]term.IDQuad, error) {
	if c.n++; c.n > c.g.after {
		select {
		case <-c.g.open:
		case <-c.g.ctx.Done():
		}
		if c.g.fail != nil {
			return nil, c.g.fail
		}
	}
	return c.Cursor.Next()
}

func TestAnErrorInTheMiddleCutsTheAnswer(t *testing.T) {
	t.Parallel()
	open := make(chan struct{})
	close(open)
	g := &gate{Dataset: numbers(100_000).Snapshot(), after: 3000, open: open, fail: errors.New("the disk is on fire"), ctx: t.Context()}
	srv := serve(t, nil, protocol.Options{Snapshot: func() (term.Dataset, func()) { return g, func() {} }, Store: noStore{}})
	for _, accept := range []string{"application/sparql-results+json", "text/csv", "text/tab-separated-values",
		"application/sparql-results+xml"} {
		r, _ := http.NewRequest("GET", srv.URL+"/sparql?query="+url.QueryEscape("SELECT ?s ?o { ?s <p:p> ?o }"), nil)
		r.Header.Set("Accept", accept)
		resp, err := srv.Client().Do(r)
		if err != nil {
			continue // cut before the status was read
		}
		n, err := io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if err == nil && resp.StatusCode == 200 {
			t.Errorf("%s: %d bytes came to a regular end", accept, n)
		}
	}
}

type noStore struct{}

func (noStore) View(context.Context, func(term.Dataset) error) error { return errors.New("no store") }
func (noStore) Update(context.Context, func(sparql.Txn) error) error { return errors.New("no store") }

func TestAClientThatGoesAwayStopsItsQuery(t *testing.T) {
	t.Parallel()
	released := make(chan struct{})
	store := numbers(300)
	srv := serve(t, store, protocol.Options{
		Snapshot: func() (term.Dataset, func()) { return store.Snapshot(), func() { close(released) } }})
	ctx, cancel := context.WithCancel(t.Context())
	// 300^5 rows would never end.
	r, _ := http.NewRequestWithContext(ctx, "GET",
		srv.URL+"/sparql?format=csv&query="+url.QueryEscape("SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n ?o }"), nil)
	resp, err := srv.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	io.ReadFull(resp.Body, make([]byte, 1000)) // the first rows arrive while the rest is being computed
	cancel()
	resp.Body.Close()
	select {
	case <-released:
	case <-time.After(10 * time.Second):
		t.Error("the query still runs 10 s after its client has gone")
	}
}

func TestATimeLimitIsAnErrorThatSaysSo(t *testing.T) {
	t.Parallel()
	srv := serve(t, numbers(300), protocol.Options{})
	resp, body := get(t, srv, url.Values{
		"query":   {"SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . FILTER (?c + ?f + ?i < ?l) }"},
		"timeout": {"0.05"}}, "")
	if resp.StatusCode != 503 || !strings.Contains(body, "50ms") || !strings.Contains(body, `"timedOut":true`) {
		t.Errorf("got %s %s", resp.Status, body)
	}
}

func BenchmarkSelectJSON(b *testing.B) {
	store := numbers(1000)
	h := protocol.New(protocol.Options{Engine: sparql.New(sparql.Options{}),
		Snapshot: func() (term.Dataset, func()) { return store.Snapshot(), func() {} }})
	r := httptest.NewRequest("GET", "/sparql?query="+url.QueryEscape("SELECT * { ?s ?p ?o }"), nil)
	for b.Loop() {
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
}
