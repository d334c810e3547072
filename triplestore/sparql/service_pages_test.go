package sparql_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"odarchive/triplestore/naive"
	"odarchive/triplestore/sparql"
	"odarchive/triplestore/sparql/results"
	"odarchive/triplestore/term"
)

// cappedEndpoint answers every query with its rows, one value of ?o each, and cuts its answers off.
type cappedEndpoint struct {
	rows, limit  int
	shuffles     bool // without ORDER BY, the order is another one each time
	noOffset     bool // OFFSET is refused
	ignores      bool // OFFSET is ignored
	blanks       bool // the values are blank nodes
	header       http.Header
	asked, moved atomic.Int64
}

var offset = regexp.MustCompile(`OFFSET (\d+)`)

func (c *cappedEndpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text := r.FormValue("query")
	c.asked.Add(1)
	from := 0
	if m := offset.FindStringSubmatch(text); m != nil {
		if c.noOffset {
			http.Error(w, "no OFFSET here", http.StatusBadRequest)
			return
		}
		if !c.ignores {
			from, _ = strconv.Atoi(m[1])
		}
	}
	order := make([]int, c.rows)
	for i := range order {
		order[i] = i
	}
	if c.shuffles && !strings.Contains(text, "ORDER BY") {
		turn := int(c.asked.Load()) * 137 % c.rows // by chance, a shuffled page may look like the next one
		order = append(order[turn:], order[:turn]...)
	}
	for name, v := range c.header {
		w.Header()[name] = v
	}
	w.Header().Set("Content-Type", results.TSV.ContentType())
	out := results.NewWriter(w, results.TSV, results.Options{})
	out.Begin([]string{"s", "p", "o"})
	order = order[min(from, c.rows):]
	for _, i := range order[:min(len(order), c.limit)] {
		o := term.String(fmt.Sprint(i))
		if c.blanks {
			o = term.Blank(fmt.Sprint("b", i))
		}
		out.Row([]term.Key{term.IRI("s:s"), term.IRI("p:p"), o})
		c.moved.Add(1)
	}
	out.End()
}

// answer runs a query to its end and returns its rows, sorted.
func answer(t *testing.T, engine *sparql.Engine, query string, o sparql.QueryOptions) (rows, warnings []string, err error) {
	t.Helper()
	r, err := engine.Query(t.Context(), naive.New().Snapshot(), query, o)
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			slices.Sort(rows)
			return rows, r.LateWarnings(), nil
		}
		if err != nil {
			return nil, r.LateWarnings(), err
		}
		rows = append(rows, fmt.Sprint(row))
	}
}

func TestAnEndpointThatCutsItsAnswersOffIsAskedForTheRest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		about    string
		remote   *cappedEndpoint
		want     int
		requests int64
		warning  string // "" for none
	}{
		{"250 of 500", &cappedEndpoint{rows: 500, limit: 250}, 500, 3, ""},
		{"1000 of 3456", &cappedEndpoint{rows: 3456, limit: 1000}, 3456, 4, ""},
		{"a round number of rows", &cappedEndpoint{rows: 1000, limit: 1 << 30}, 1000, 2, ""},
		{"another number of rows", &cappedEndpoint{rows: 1001, limit: 1 << 30}, 1001, 1, ""},
		{"a limit that the endpoint names", &cappedEndpoint{rows: 500, limit: 77, header: http.Header{"X-Sparql-Maxrows": {"77"}}}, 500, 7,
			""},
		{"a limit that is not reached", &cappedEndpoint{rows: 100, limit: 1000, header: http.Header{"X-Sparql-Maxrows": {"1000"}}}, 100, 1,
			""},
		{"no order", &cappedEndpoint{rows: 500, limit: 200, shuffles: true}, 500, 5, ""},
		{"OFFSET is refused", &cappedEndpoint{rows: 500, limit: 200, noOffset: true}, 200, 2, "may be its limit"},
		{"OFFSET is ignored", &cappedEndpoint{rows: 500, limit: 200, ignores: true}, 200, 4, "do not fit together"},
		{"a partial answer", &cappedEndpoint{rows: 5, limit: 200, header: http.Header{"X-Sql-State": {"S1TAT"}}}, 5, 1, "not complete"},
		{"blank nodes", &cappedEndpoint{rows: 300, limit: 200, blanks: true}, 300, 2, "blank node"},
	} {
		t.Run(c.about, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(c.remote)
			t.Cleanup(srv.Close)
			engine := sparql.New(sparql.Options{Service: &sparql.Federation{Allow: []string{"*"}}})
			query := "SELECT ?o { SERVICE <" + srv.URL + "> { ?s ?p ?o } }"
			rows, warnings, err := answer(t, engine, query, sparql.QueryOptions{})
			if err != nil || len(rows) != c.want || len(slices.Compact(rows)) != c.want {
				t.Errorf("got %d rows, %v, want %d different ones", len(rows), err, c.want)
			}
			if n := c.remote.asked.Load(); n > c.requests {
				t.Errorf("%d requests, want %d", n, c.requests)
			}
			if all := strings.Join(warnings, "\n"); c.warning == "" && all != "" || !strings.Contains(all, c.warning) {
				t.Errorf("warnings %q, want %q", warnings, c.warning)
			}
			_, _, err = answer(t, engine, query, sparql.QueryOptions{Strict: true})
			if incomplete := c.want < c.remote.rows || c.about == "a partial answer"; errors.Is(err, sparql.ErrIncomplete) != incomplete {
				t.Errorf("strict: %v", err)
			}
		})
	}
}

func TestALimitInThePatternIsNoReasonToAskAgain(t *testing.T) {
	t.Parallel()
	remote := &cappedEndpoint{rows: 100, limit: 1000}
	srv := httptest.NewServer(remote)
	t.Cleanup(srv.Close)
	engine := sparql.New(sparql.Options{Service: &sparql.Federation{Allow: []string{"*"}}})
	rows, _, err := answer(t, engine, "SELECT * { SERVICE <"+srv.URL+"> { SELECT ?o { ?s ?p ?o } LIMIT 100 } }", sparql.QueryOptions{})
	if err != nil || len(rows) != 100 || remote.asked.Load() != 1 {
		t.Errorf("%d rows by %d requests, %v", len(rows), remote.asked.Load(), err)
	}
}

func TestPagesCountAgainstTheLimitOfRows(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(&cappedEndpoint{rows: 5000, limit: 1000})
	t.Cleanup(srv.Close)
	engine := sparql.New(sparql.Options{Service: &sparql.Federation{Allow: []string{"*"}, MaxRows: 2500}})
	if _, _, err := answer(t, engine, "SELECT * { SERVICE <"+srv.URL+"> { ?s ?p ?o } }", sparql.QueryOptions{}); !errors.Is(err,
		sparql.ErrTooLarge) {
		t.Error(err)
	}
}

// together is an endpoint that answers when as many requests as it waits for have come.
type together struct {
	missing atomic.Int64
	all     chan struct{}
}

func (m *together) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if m.missing.Add(-1) == 0 {
		close(m.all)
	}
	select {
	case <-m.all:
	case <-time.After(20 * time.Second):
		http.Error(w, "the other request did not come", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", results.TSV.ContentType())
	io.WriteString(w, "?s\t?o\t?x\n<s:1>\t1\t2\n")
}

func TestServicesThatDoNotNeedEachOtherAreAskedAtTheSameTime(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]int{
		"SELECT * { SERVICE <A> { ?s <p:p> ?o } SERVICE <B> { ?t <p:p> ?x } }":                                      1,
		"SELECT * { { SERVICE <A> { ?s <p:p> ?o } } UNION { SERVICE <B> { ?s <p:p> ?x } } }":                        2,
		"SELECT * { VALUES ?s { <s:1> <s:2> } SERVICE <A> { ?s <p:p> ?o } SERVICE <B> { ?s <p:q> ?x } }":            1,
		"SELECT * { VALUES ?e { <A> <B> } SERVICE ?e { ?s <p:p> ?o } }":                                             2,
		"SELECT * { VALUES ?s { <s:1> } OPTIONAL { SERVICE <A> { ?s <p:p> ?o } SERVICE <B> { ?s <p:q> ?x } } }":     1,
		"SELECT * { SERVICE SILENT <A> { ?s <p:p> ?o } SERVICE SILENT <B> { ?t <p:p> ?x } }":                        1,
		"SELECT * { VALUES ?s { <s:1> } { SERVICE <A> { ?s <p:p> ?o } } UNION { SERVICE <B> { ?s <p:q> ?x } } }":    2,
		"SELECT * { { SELECT (COUNT(*) AS ?n) { SERVICE <A> { ?s ?p ?o } } } SERVICE <B> { ?t <p:p> ?x } }":         1,
		"SELECT * { VALUES ?s { <s:1> } SERVICE <A> { ?s <p:p> ?o } FILTER (?o < 5) SERVICE <B> { ?s <p:q> ?x } } ": 1,
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			both := &together{all: make(chan struct{})}
			both.missing.Store(2)
			srv := httptest.NewServer(both)
			t.Cleanup(srv.Close)
			engine := sparql.New(sparql.Options{Service: &sparql.Federation{Allow: []string{"*"}}})
			rows, _, err := answer(t, engine, strings.NewReplacer("<A>", "<"+srv.URL+"/a>", "<B>", "<"+srv.URL+"/b>").Replace(query),
				sparql.QueryOptions{})
			if err != nil || len(rows) != want {
				t.Errorf("got %q, %v, want %d rows", rows, err, want)
			}
		})
	}
}

func TestASilentServiceThatBreaksOffAnswersOneEmptySolution(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", results.JSON.ContentType())
		row := `{"s":{"type":"uri","value":"s:1"}}`
		io.WriteString(w, `{"head":{"vars":["s"]},"results":{"bindings":[`+strings.Repeat(row+",", 5000)+row)
	}))
	t.Cleanup(srv.Close)
	engine := sparql.New(sparql.Options{Memory: 1 << 20, Service: &sparql.Federation{Allow: []string{"*"}}})
	for query, want := range map[string]string{
		"SELECT * { SERVICE SILENT <" + srv.URL + "> { ?s ?p ?o } }":                               "[[  ]]",
		"SELECT * { VALUES ?s { <s:1> <s:2> } SERVICE SILENT <" + srv.URL + "> { ?s ?p ?o } }":     "[[<s:1  ] [<s:2  ]]",
		"SELECT ?s ?o { VALUES ?s { <s:1> UNDEF } SERVICE SILENT <" + srv.URL + "> { ?s ?p ?o } }": "[[ ] [<s:1 ]]",
	} {
		rows, _, err := answer(t, engine, query, sparql.QueryOptions{})
		if got := fmt.Sprint(rows); err != nil || got != want {
			t.Errorf("%s: got %s, %v, want %s", query, got, err, want)
		}
	}
	full := httptest.NewServer(&cappedEndpoint{rows: 400_001, limit: 1 << 30})
	t.Cleanup(full.Close)
	engine = sparql.New(sparql.Options{Memory: 1 << 20, MaxTemp: -1, Service: &sparql.Federation{Allow: []string{"*"}}})
	if _, _, err := answer(t, engine, "SELECT * { SERVICE SILENT <"+full.URL+"> { ?s ?p ?o } }", sparql.QueryOptions{}); !errors.Is(err,
		sparql.ErrMemory) {
		t.Errorf("SILENT hides that the query has too little memory: %v", err)
	}
}

func TestErrorsOfEndpointsAreSentences(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(nil)
	gone.Close()
	answers := func(status int, contentType, body string, header ...string) string {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", contentType)
			for i := 0; i+1 < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(status)
			io.WriteString(w, body)
		}))
		t.Cleanup(srv.Close)
		return srv.URL
	}
	for url, want := range map[string]string{
		gone.URL: "another server failed: nothing answers at this address (connection refused)",
		answers(503, "text/html",
			"<!DOCTYPE html><html><head><title>x</title><style>b{}</style></head><body><h1>Sorry</h1>\n<p>too  busy</p></body></html>",
			"Retry-After", "7"): "the endpoint answered 503 Service Unavailable: Sorry too busy (it may be asked again after 7 s)",
		answers(422, "application/problem+json",
			`{"title":"Too large","detail":"The query is too large."}`): "the endpoint answered 422 Unprocessable Entity: The query is " +
			"too large.",
		answers(403, "text/plain", ""): "the endpoint answered 403 Forbidden",
		answers(200, "application/sparql-results+json", `{"head":{"vars":["x"]},"results":{"bindings":[`): "the answer ends in the middle",
	} {
		engine := sparql.New(sparql.Options{Service: &sparql.Federation{Allow: []string{"*"}}})
		_, _, err := answer(t, engine, "SELECT * { SERVICE <"+url+"> { ?x ?y ?z } }", sparql.QueryOptions{})
		if err == nil || !strings.HasSuffix(err.Error(), want) || !strings.Contains(err.Error(), "SERVICE <"+url+">") {
			t.Errorf("got %v\nwant ...%s", err, want)
		}
	}
}
