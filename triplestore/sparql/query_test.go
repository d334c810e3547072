package sparql_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"odarchive/triplestore/naive"
	"odarchive/triplestore/sparql"
	"odarchive/triplestore/sparql/conformance"
	"odarchive/triplestore/sparql/internal/syntax"
	"odarchive/triplestore/term"
)

// filled returns a store with the quads of an INSERT DATA body.
func filled(t testing.TB, data string) *naive.Store {
	t.Helper()
	store := naive.New()
	if _, err := apply(t, sparql.New(sparql.Options{}), store, "INSERT DATA { "+data+" }"); err != nil {
		t.Fatal(err)
	}
	return store
}

func TestDescribeIsAConciseBoundedDescription(t *testing.T) {
	t.Parallel()
	e := sparql.New(sparql.Options{})
	store := filled(t, `<x:a> <x:p> [ <x:q> [ <x:r> _:loop ] ] ; <x:name> "a" ; <x:knows> <x:b> . _:loop <x:back> _:loop .
		<x:b> <x:p> "not of a" . <x:c> <x:knows> <x:a> . GRAPH <g:1> { <x:a> <x:name> "a" ; <x:more> 1 . <x:b> <x:p> 2 }`)
	for text, want := range map[string]string{
		"DESCRIBE <x:a>": `<x:a> <x:p> [ <x:q> [ <x:r> _:loop ] ] ; <x:name> "a" ; <x:knows> <x:b> ; ` +
			`<x:more> 1 . _:loop <x:back> _:loop .`,
		"DESCRIBE ?x { ?x <x:knows> <x:b> }": `<x:a> <x:p> [ <x:q> [ <x:r> _:loop ] ] ; <x:name> "a" ; <x:knows> <x:b> ; ` +
			`<x:more> 1 . _:loop <x:back> _:loop .`,
		"DESCRIBE ?x <x:c> { ?x <x:p> \"not of a\" }": `<x:b> <x:p> "not of a", 2 . <x:c> <x:knows> <x:a> .`,
		"DESCRIBE * { <x:b> <x:p> ?v . ?x <x:knows> ?y . FILTER (?y = <x:a>) } LIMIT 1": `<x:c> <x:knows> <x:a> . <x:a> <x:p> [ <x:q> [ ` +
			`<x:r> _:loop ] ] ; <x:name> "a" ; <x:knows> <x:b> ; <x:more> 1 . _:loop <x:back> _:loop .`,
		"DESCRIBE <x:b> FROM <g:1>":      "<x:b> <x:p> 2 .",
		"DESCRIBE <x:nobody>":            "",
		"DESCRIBE ?x { <x:b> <x:p> ?x }": "",
	} {
		got := ask(t, e, store.Snapshot(), text, sparql.QueryOptions{})
		if want := state(t, filled(t, want)); !conformance.Isomorphic(got.Graph, want) {
			t.Errorf("%s:\n got\n%s\nwant\n%s", text, show(got.Graph), show(want))
		}
	}
}

func TestTheUnionOfAllGraphsCanBeTheDefault(t *testing.T) {
	t.Parallel()
	e := sparql.New(sparql.Options{})
	store := filled(t, `<x:a> <x:p> 1 . GRAPH <g:1> { <x:a> <x:p> 1, 2 } GRAPH <g:2> { <x:a> <x:p> 1 ; <x:q> 3 }`)
	for text, want := range map[string][2]string{ // the default graph alone, the union
		"SELECT (COUNT(*) AS ?n) { ?s ?p ?o }":                                              {"1", "3"},
		"SELECT (COUNT(*) AS ?n) { ?s <x:p> ?o }":                                           {"1", "2"},
		"SELECT (COUNT(*) AS ?n) { <x:a> ?p 1 }":                                            {"1", "1"},
		"SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }":                                 {"4", "4"},
		"SELECT (COUNT(*) AS ?n) { GRAPH <g:1> { ?s ?p ?o } }":                              {"2", "2"},
		"SELECT (COUNT(*) AS ?n) { ?s <x:p> ?o . ?s <x:q> ?v }":                             {"0", "2"},
		"SELECT (COUNT(*) AS ?n) { ?s (<x:p>|<x:q>)+ ?o }":                                  {"1", "3"},
		"SELECT (COUNT(*) AS ?n) FROM <g:2> { ?s ?p ?o }":                                   {"2", "2"},
		"SELECT (COUNT(*) AS ?n) { ?s <x:p> ?o FILTER NOT EXISTS { ?s <x:q> ?v } }":         {"1", "0"},
		"SELECT (COUNT(*) AS ?n) { { SELECT DISTINCT ?s ?o { ?s <x:p> ?o } ORDER BY ?o } }": {"1", "2"},
	} {
		for i, union := range []bool{false, true} {
			got := ask(t, e, store.Snapshot(), text, sparql.QueryOptions{UnionDefault: union})
			if len(got.Rows) != 1 || got.Rows[0][0].Value() != want[i] {
				t.Errorf("%s, union %v: got %q, want %s", text, union, got.Rows, want[i])
			}
		}
	}
}

func TestTheProtocolsDatasetReplacesThatOfTheQuery(t *testing.T) {
	t.Parallel()
	e := sparql.New(sparql.Options{})
	store := filled(t, `<x:a> <x:p> 1 . GRAPH <g:1> { <x:b> <x:p> 2 } GRAPH <g:2> { <x:c> <x:p> 3 }`)
	for _, c := range []struct {
		o    sparql.QueryOptions
		want string
	}{
		{sparql.QueryOptions{}, "g:1"},
		{sparql.QueryOptions{DefaultGraphs: []string{"g:2"}}, "g:2"},
		{sparql.QueryOptions{DefaultGraphs: []string{"g:1", "g:2"}}, "g:1 g:2"},
		{sparql.QueryOptions{NamedGraphs: []string{"g:2"}}, ""},
	} {
		got := ask(t, e, store.Snapshot(), "SELECT ?o FROM <g:1> { ?s ?p ?o } ORDER BY ?o", c.o)
		var graphs []string
		for _, row := range got.Rows {
			graphs = append(graphs, map[string]string{"1": "default", "2": "g:1", "3": "g:2"}[row[0].Value()])
		}
		if strings.Join(graphs, " ") != c.want {
			t.Errorf("%+v: got %v, want %s", c.o, graphs, c.want)
		}
	}
}

func TestTheQueryOfThePaper(t *testing.T) {
	t.Parallel()
	e := sparql.New(sparql.Options{})
	version := `<http://h/v%[1]d> <http://purl.org/dc/terms/issued> "%[2]s"^^<` + xsd + `dateTime> .`
	resource := `<http://h/f%[1]d> <https://archiver.ai.wu.ac.at/ns/csvw#hasPortal> <http://portal/%[3]d> ; <http://purl.org/dc/terms/hasVersion> <http://h/v%[1]d> ;
		<http://www.w3.org/ns/dcat#mediaType> "%[4]s" . `
	store := filled(t, fmt.Sprintf(resource+version, 1, "2020-06-01T12:00:00Z", 1, "text/csv")+fmt.Sprintf(resource+version, 2,
		"2020-05-09T23:59:59Z", 1, "text/csv")+
		fmt.Sprintf(resource+version, 3, "2021-01-01T00:00:00.5Z", 2, "text/csv")+fmt.Sprintf(resource+version, 4, "2021-01-01T00:00:00Z",
		1, "application/json")+
		fmt.Sprintf(resource+version, 5, "2020-05-10T00:00:00Z", 1, "text/csv"))
	for _, slash := range []string{"", "/"} {
		got := ask(t, e, store.Snapshot(), strings.ReplaceAll(`
    PREFIX arc: <https://archiver.ai.wu.ac.at/ns/csvw#>
    PREFIX dcat: <http://www.w3.org/ns/dcat#>
    PREFIX dc: <http://purl.org/dc/elements/1.1`+slash+`>
    PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
    SELECT ?versionURL WHERE {
      ?datasetURL arc:hasPortal ?Portal ; dc:hasVersion ?versionURL ; dcat:mediaType ?mediaType .
      ?versionURL dc:issued ?dateVersion .
      FILTER (?Portal = <PORTAL> && ?mediaType = "text/csv" &&
              strdt(?dateVersion, xsd:dateTimeStamp) >= "2020-05-10T00:00Z"^^xsd:dateTimeStamp) }`, "PORTAL", "http://portal/1"), sparql.QueryOptions{Dialect: true})
		var found []string
		for _, row := range got.Rows {
			found = append(found, row[0].Value())
		}
		if len(found) != 2 || !strings.Contains(strings.Join(found, " "), "http://h/v1") ||
			!strings.Contains(strings.Join(found, " "), "http://h/v5") {
			t.Errorf("with dc: ending in %q: got %v, want v1 and v5", slash, found)
		}
	}
}

func TestLimitsAreErrorsThatSayWhich(t *testing.T) {
	t.Parallel()
	var data strings.Builder
	for i := range 200 {
		fmt.Fprintf(&data, "<x:s%d> <x:p> %d . ", i, i)
	}
	store := filled(t, data.String())
	const product = "{ ?a <x:p> ?b . ?c <x:p> ?d . ?e <x:p> ?f . ?g <x:p> ?h . ?i <x:p> ?j }"
	for _, c := range []struct {
		about, text string
		o           sparql.QueryOptions
		want        error
	}{
		{"time", "SELECT (SUM(?b + ?d + ?f + ?h * ?j) AS ?n) " + product, sparql.QueryOptions{Timeout: 50 * time.Millisecond},
			sparql.ErrTimeout},
		{"memory of sorting", "SELECT * " + product + " ORDER BY ?j ?b", sparql.QueryOptions{Memory: 4 << 20}, sparql.ErrMemory},
		{"memory of DISTINCT", "SELECT DISTINCT * " + product, sparql.QueryOptions{Memory: 4 << 20}, sparql.ErrMemory},
		{"memory of grouping", "SELECT ?a ?c ?e ?g (COUNT(*) AS ?n) " + product + " GROUP BY ?a ?c ?e ?g",
			sparql.QueryOptions{Memory: 4 << 20}, sparql.ErrMemory},
		{"rows", "SELECT * { ?s ?p ?o }", sparql.QueryOptions{MaxRows: 10}, sparql.ErrRows},
		{"triples", "CONSTRUCT WHERE { ?s ?p ?o }", sparql.QueryOptions{MaxRows: 10}, sparql.ErrRows},
	} {
		r, err := sparql.New(sparql.Options{MaxTemp: -1}).Query(t.Context(), store.Snapshot(), c.text, c.o)
		if err == nil {
			_, err = collect(r)
		}
		if !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.about, err, c.want)
		}
	}
	var e *syntax.Error
	if _, err := sparql.New(sparql.Options{}).Query(t.Context(), store.Snapshot(), "SELECT {", sparql.QueryOptions{}); !errors.As(err, &e) {
		t.Errorf("a broken query: got %v, want a *syntax.Error", err)
	}
}

func TestACancelledQueryEndsWithItsContext(t *testing.T) {
	t.Parallel()
	var data strings.Builder
	for i := range 300 {
		fmt.Fprintf(&data, "<x:s%d> <x:p> %d . ", i, i)
	}
	store := filled(t, data.String())
	for about, text := range map[string]string{
		"a product": "SELECT (COUNT(*) AS ?n) { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f . ?g ?s ?h FILTER (?b + ?d > ?f + ?h) }",
		"a sort":    "SELECT * { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f } ORDER BY ?b ?d ?f",
		"a path": "SELECT (COUNT(*) AS ?n) { ?a (!<x:none>|^!<x:none>)* ?b . ?c (!<x:none>|^!<x:none>)* ?d . ?e " +
			"(!<x:none>|^!<x:none>)* ?f }",
		"many EXISTS": "SELECT (COUNT(*) AS ?n) { ?a ?p ?b . ?c ?q ?d FILTER EXISTS { ?e ?r ?f . ?g ?s ?h FILTER (?f + ?h = ?b * " +
			"1000000) } }",
		"a description": "DESCRIBE ?a ?c ?e { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f . ?g ?s ?h }",
	} {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(30*time.Millisecond, cancel)
		r, err := sparql.New(sparql.Options{Memory: 4 << 30}).Query(ctx, store.Snapshot(), text, sparql.QueryOptions{})
		if err == nil {
			_, err = collect(r)
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v, want %v", about, err, context.Canceled)
		}
		cancel()
	}
}

func TestSlowQueriesAreLogged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		e := sparql.New(sparql.Options{Slow: time.Second, Log: slog.New(slog.NewTextHandler(&log, nil))})
		store := filled(t, "<x:a> <x:p> 1 . <x:b> <x:p> 2")
		for _, wait := range []time.Duration{0, 2 * time.Second} {
			r, err := e.Query(t.Context(), store.Snapshot(), "SELECT * { ?s <x:p> ?o }", sparql.QueryOptions{})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(wait) // on the fake clock
			r.Next()
			r.Close()
			r.Close()
			if got, want := strings.Count(log.String(), "slow query"), map[bool]int{false: 0, true: 1}[wait > 0]; got != want {
				t.Errorf("after a query of %s: %d lines, want %d: %s", wait, got, want, log.String())
			}
		}
	})
}

// endpoint answers every query with one document.
func endpoint(t *testing.T, contentType, body string, status int) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		io.WriteString(w, body)
	}))
	t.Cleanup(srv.Close)
	return srv.URL + "/sparql"
}

func TestServiceAsksOnlyWhomItMay(t *testing.T) {
	t.Parallel()
	const json = "application/sparql-results+json"
	row := `{"x":{"type":"uri","value":"x:remote"}}`
	good := endpoint(t, json, `{"head":{"vars":["x"]},"results":{"bindings":[`+row+`]}}`, 200)
	redirects := httptest.NewServer(http.RedirectHandler("http://elsewhere.invalid/sparql", http.StatusTemporaryRedirect))
	t.Cleanup(redirects.Close)
	local := filled(t, "<x:a> <x:p> 1")
	for _, c := range []struct {
		about, url string
		allow      []string
		want       error // nil: the remote row is found
	}{
		{"by its address", good, []string{good}, nil},
		{"by its host", good, []string{"127.0.0.1"}, nil},
		{"anyone", good, []string{"*"}, nil},
		{"not on the list", good, []string{"example.org"}, sparql.ErrForbidden},
		{"an empty list", good, nil, sparql.ErrForbidden},
		{"a file", "file:///etc/passwd", []string{"*"}, sparql.ErrForbidden},
		{"a redirect to someone else", redirects.URL, []string{"127.0.0.1"}, sparql.ErrForbidden},
		{"an error", endpoint(t, "text/plain", "no", 500), []string{"*"}, sparql.ErrRemote},
		{"HTML", endpoint(t, "text/html", "<html>", 200), []string{"*"}, sparql.ErrRemote},
		{"a broken document", endpoint(t, json, `{"head":{"vars":["x"]},"results":{"bindings":[`+row, 200), []string{"*"},
			sparql.ErrRemote},
		{"too many rows", endpoint(t, json, `{"head":{"vars":["x"]},"results":{"bindings":[`+strings.Repeat(row+",", 100)+row+`]}}`, 200),
			[]string{"*"}, sparql.ErrTooLarge},
		{"too many bytes", endpoint(t, json, `{"head":{"vars":["x"]},"results":{"bindings":[`+strings.Repeat(" ", 1<<17)+row+`]}}`, 200),
			[]string{"*"}, sparql.ErrTooLarge},
		{"a boolean", endpoint(t, json, `{"head":{},"boolean":true}`, 200), []string{"*"}, sparql.ErrRemote},
	} {
		e := sparql.New(sparql.Options{Service: &sparql.Federation{Allow: c.allow, MaxRows: 50, MaxBytes: 1 << 16}})
		run := func(silent string) (*conformance.Result, error) {
			r, err := e.Query(t.Context(), local.Snapshot(), "SELECT * { ?s <x:p> ?o SERVICE "+silent+"<"+c.url+"> { ?x ?y ?z } }",
				sparql.QueryOptions{})
			if err != nil {
				return nil, err
			}
			return collect(r)
		}
		got, err := run("")
		if !errors.Is(err, c.want) || c.want == nil && (len(got.Rows) != 1 || !strings.Contains(fmt.Sprint(got.Rows), "x:remote")) {
			t.Errorf("%s: got %v, %v, want %v", c.about, got, err, c.want)
		}
		if got, err := run("SILENT "); err != nil || len(got.Rows) == 0 {
			t.Errorf("%s, SILENT: got %v, %v", c.about, got, err)
		}
	}
}

func TestWhoIsTrustedMayHaveAnyoneAsked(t *testing.T) {
	t.Parallel()
	url := endpoint(t, "application/sparql-results+json", `{"head":{"vars":["x"]},"results":{"bindings":[{}]}}`, 200)
	text := "SELECT * { SERVICE <" + url + "> { ?x ?y ?z } }"
	e := sparql.New(sparql.Options{Service: &sparql.Federation{}})
	for trusted, want := range map[bool]error{false: sparql.ErrForbidden, true: nil} {
		r, err := e.Query(t.Context(), naive.New().Snapshot(), text, sparql.QueryOptions{Trusted: trusted})
		if err == nil {
			_, err = collect(r)
		}
		if !errors.Is(err, want) {
			t.Errorf("trusted %v: got %v, want %v", trusted, err, want)
		}
	}
}

func TestALocalQueryAsksNobody(t *testing.T) {
	t.Parallel()
	e := sparql.New(sparql.Options{Service: &sparql.Federation{Allow: []string{"*"}}})
	for _, text := range []string{
		"SELECT * { SERVICE <http://127.0.0.1:1/> { ?x ?y ?z } }",
		"SELECT * { <x:a> ?p ?o FILTER EXISTS { SERVICE <http://127.0.0.1:1/> { ?x ?y ?z } } }",
		"SELECT (EXISTS { SERVICE <http://127.0.0.1:1/> { ?x ?y ?z } } AS ?b) { <x:a> ?p ?o }",
		"SELECT * { VALUES ?s { <http://127.0.0.1:1/> } SERVICE ?s { ?x ?y ?z } }",
	} {
		r, err := e.Query(t.Context(), filled(t, "<x:a> <x:p> 1").Snapshot(), text, sparql.QueryOptions{Trusted: true, Local: true})
		if err == nil {
			_, err = collect(r)
		}
		if !errors.Is(err, sparql.ErrForbidden) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestTheServiceIsAskedInTheWordsOfTheQuery(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.FormValue("query")
		w.Header().Set("Content-Type", "text/tab-separated-values")
		io.WriteString(w, "?y\t?x\n\"2\"\t<x:a>\n\t<x:a>\n")
	}))
	t.Cleanup(srv.Close)
	e := sparql.New(sparql.Options{Service: &sparql.Federation{Allow: []string{"*"}}})
	got := ask(t, e, filled(t, "<x:a> <x:p> 1").Snapshot(),
		"PREFIX e: <http://example.org/> SELECT * { ?x <x:p> ?o SERVICE <"+srv.URL+"> { ?x e:p \"l\"@en OPTIONAL { ?x a ?y } } }",
		sparql.QueryOptions{Dialect: true})
	want := "SELECT * WHERE { VALUES (?x ) {\n (<x:a> ) }\n" +
		`{ ?x <http://example.org/p> "l"@en . OPTIONAL { ?x <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> ?y . } } }`
	if text := <-asked; text != want {
		t.Errorf("asked %s\nwant  %s", text, want)
	}
	if len(got.Rows) != 2 {
		t.Errorf("got %q", got.Rows)
	}
}

func TestConstructFillsItsTemplate(t *testing.T) {
	t.Parallel()
	e := sparql.New(sparql.Options{})
	store := filled(t, "<x:a> <x:p> 1, \"l\" . <x:b> <x:p> 2")
	for text, want := range map[string]string{
		"CONSTRUCT { ?s <x:q> [ <x:v> ?o ] } { ?s <x:p> ?o }": "<x:a> <x:q> [ <x:v> 1 ], [ <x:v> \"l\" " +
			"] . <x:b> <x:q> [ <x:v> 2 ]",
		"CONSTRUCT { ?o <x:q> ?s . ?s <x:q> ?none . _:b <x:in> _:b } { ?s <x:p> ?o } LIMIT 1":  "_:x <x:in> _:x",
		"CONSTRUCT { <x:x> <x:y> <x:z> } { ?s <x:p> ?o }":                                      "<x:x> <x:y> <x:z>",
		"CONSTRUCT WHERE { ?s <x:p> 2 }":                                                       "<x:b> <x:p> 2",
		"CONSTRUCT { ?s <x:q> <<( ?s <x:p> ?o )>> } { ?s <x:p> ?o FILTER (?o = 2) }":           "<x:b> <x:q> <<( <x:b> <x:p> 2 )>>",
		"CONSTRUCT { ?s ?p ?n } { SELECT ?s ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?s ?p }": "<x:a> <x:p> 2 . <x:b> <x:p> 1",
	} {
		got := ask(t, e, store.Snapshot(), text, sparql.QueryOptions{})
		if want := state(t, filled(t, want)); !conformance.Isomorphic(got.Graph, want) {
			t.Errorf("%s:\n got\n%s\nwant\n%s", text, show(got.Graph), show(want))
		}
	}
}

func TestRowsMayBeLeftUnread(t *testing.T) {
	t.Parallel()
	e := sparql.New(sparql.Options{})
	r, err := e.Query(t.Context(), filled(t, "<x:a> <x:p> 1, 2, 3").Snapshot(), "SELECT ?o { ?s ?p ?o } ORDER BY ?o",
		sparql.QueryOptions{Explain: true})
	if err != nil {
		t.Fatal(err)
	}
	row, err := r.Next()
	if err != nil || row[0] != term.Typed("1", xsd+"integer") || !r.Ready() {
		t.Errorf("got %q, %v, ready %v", row, err, r.Ready())
	}
	if _, err := r.Triple(); err == nil {
		t.Error("a SELECT gave a triple")
	}
	if !strings.Contains(r.Explain(), "rows=") {
		t.Errorf("nothing was measured:\n%s", r.Explain())
	}
	r.Close()
	r.Close()
}
