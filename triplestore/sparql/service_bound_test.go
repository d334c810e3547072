package sparql_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"odarchive/triplestore/naive"
	"odarchive/triplestore/sparql"
	"odarchive/triplestore/sparql/results"
	"odarchive/triplestore/term"
)

// remoteStore is an endpoint over a store. It counts requests and the rows it sends, and refuses long lists of values.
type remoteStore struct {
	*httptest.Server
	maxValues int
	refuseAll bool

	mu       sync.Mutex // guards what follows
	requests []int      // rows of each answer
	refused  int
}

func newRemote(t *testing.T, store *naive.Store) *remoteStore {
	r := &remoteStore{maxValues: 1 << 30}
	engine := sparql.New(sparql.Options{})
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		text := req.FormValue("query")
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.refuseAll || strings.Count(text, "\n (") > r.maxValues {
			r.refused++
			http.Error(w, "too many values", http.StatusBadRequest)
			return
		}
		res, err := engine.Query(req.Context(), store.Snapshot(), text, sparql.QueryOptions{})
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		defer res.Close()
		w.Header().Set("Content-Type", results.JSON.ContentType())
		out := results.NewWriter(w, results.JSON, results.Options{})
		out.Begin(res.Vars)
		for {
			row, err := res.Next()
			if err != nil {
				break
			}
			out.Row(row)
		}
		out.End()
		r.requests = append(r.requests, int(out.Rows()))
	}))
	t.Cleanup(r.Close)
	return r
}

// moved returns the number of requests and of the rows they sent since the last call.
func (r *remoteStore) moved() (requests, rows int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range r.requests {
		rows += n
	}
	requests = len(r.requests)
	r.requests = nil
	return requests, rows
}

// objects returns a store of n subjects with k objects each.
func objects(n, k int) *naive.Store {
	var quads []term.Quad
	for i := range n {
		for j := range k {
			quads = append(quads, term.Quad{S: term.IRI(fmt.Sprintf("s:%d", i)), P: term.IRI("p:p"), O: term.String(fmt.Sprint(i, " ", j))})
		}
	}
	return naive.New(quads...)
}

func rowsOf(t *testing.T, engine *sparql.Engine, store *naive.Store, query string) []string {
	t.Helper()
	r, err := engine.Query(t.Context(), store.Snapshot(), query, sparql.QueryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var out []string
	for {
		row, err := r.Next()
		if err != nil {
			if err.Error() != "EOF" {
				t.Fatal(err)
			}
			slices.Sort(out)
			return out
		}
		out = append(out, fmt.Sprint(row))
	}
}

func TestAServiceIsAskedForWhatIsNeeded(t *testing.T) {
	t.Parallel()
	remote := newRemote(t, objects(1001, 3)) // 3003 rows, not a number that could be a limit
	engine := sparql.New(sparql.Options{Service: &sparql.Federation{Allow: []string{"*"}}})
	call := func(pattern string) string { return "SERVICE <" + remote.URL + "> { " + pattern + " }" }
	many := strings.Builder{}
	for i := range 250 {
		fmt.Fprintf(&many, "<s:%d> ", i)
	}
	for _, c := range []struct {
		query                string
		want, requests, rows int
	}{
		{"SELECT * { VALUES ?s { <s:1> <s:2> } " + call("?s ?p ?o") + " }", 6, 1, 6},
		{"SELECT * { " + call("?s ?p ?o") + " VALUES ?s { <s:1> <s:2> <s:none> } }", 6, 1, 6},
		{"SELECT * { VALUES ?s { <s:1> <s:1> } " + call("?s ?p ?o") + " }", 6, 1, 3}, // each twice
		{"SELECT * { VALUES (?s ?o) { (<s:1> '1 0') (<s:2> '1 0') } " + call("?s ?p ?o") + " }", 1, 1, 1},
		{"SELECT * { VALUES ?s { " + many.String() + "} " + call("?s ?p ?o") + " }", 750, 3, 750},
		{"SELECT * { VALUES ?s { <s:1> UNDEF } " + call("?s ?p ?o") + " }", 3006, 1, 3003},     // unbound: all are wanted
		{"SELECT * { VALUES ?x { <s:1> } " + call("?s ?p ?o") + " }", 3003, 1, 3003},           // nothing in common
		{"SELECT * { VALUES ?s { <s:1> } " + call("OPTIONAL { ?s ?p ?o }") + " }", 3, 1, 3003}, // may be unbound there
		{"SELECT * { VALUES ?s { <s:1> } " + call("SELECT ?s (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?s") + " }", 1, 1, 1},
		// the limit comes first
		{"SELECT * { VALUES ?s { <s:1> } " + call("SELECT ?s { ?s ?p ?o } ORDER BY ?s ?o LIMIT 2") + " }", 0, 1, 0},
		{"SELECT * { VALUES ?s { <s:1> } " + call("?s ?p ?o") + call("?s ?p2 ?o") + " }", 3, 2, 6},
		{"SELECT * { ?s <p:none> ?x " + call("?s ?p ?o") + " }", 0, 0, 0},
		{"SELECT * { VALUES ?s { <s:1> } OPTIONAL { " + call("?s ?p ?o") + " } }", 3, 1, 3},
		{"SELECT * { VALUES ?s { <s:1> <s:none> } OPTIONAL { " + call("?s ?p ?o") + " } }", 4, 1, 3},
		{"SELECT * { VALUES ?s { <s:1> <s:2> } OPTIONAL { " + call("?s ?p ?o") + " FILTER (?o = '1 0' && ?s != ?p) } }", 2, 1, 6},
		{"SELECT * { VALUES ?s { <s:1> <s:2> } " + call("?s ?p ?o") + call("?s ?q ?z") + " }", 18, 2, 12},
		{"SELECT * { VALUES ?s { <s:1> <s:2> } { " + call("?s ?p ?o") + " } UNION { " + call("?s ?q ?z") + " } }", 12, 2, 12},
	} {
		got := rowsOf(t, engine, objects(1, 1), c.query)
		if requests, rows := remote.moved(); len(got) != c.want || requests != c.requests || rows != c.rows {
			t.Errorf("%s:\n%d solutions by %d requests with %d rows, want %d by %d with %d", c.query[:min(len(c.query), 200)], len(got),
				requests, rows, c.want, c.requests, c.rows)
		}
	}
}

func TestAServiceIsAskedForEverythingOnceWhenMostIsNeeded(t *testing.T) {
	t.Parallel()
	local, remote := objects(9000, 1), newRemote(t, objects(9000, 1))
	engine := sparql.New(sparql.Options{Service: &sparql.Federation{Allow: []string{"*"}}})
	got := rowsOf(t, engine, local, "SELECT ?s ?o2 { ?s ?p ?o SERVICE <"+remote.URL+"> { ?s <p:p> ?o2 } }")
	if requests, rows := remote.moved(); len(got) != 9000 || requests > 30 || rows > 9000+2400 {
		t.Errorf("%d solutions by %d requests with %d rows", len(got), requests, rows)
	}
}

func TestBlankNodesAreNotAskedFor(t *testing.T) {
	t.Parallel()
	local := naive.New(term.Quad{S: term.IRI("x:x"), P: term.IRI("p:q"), O: term.Blank("b")},
		term.Quad{S: term.IRI("x:x"), P: term.IRI("p:q"), O: term.IRI("s:1")})
	remote := newRemote(t, objects(10, 1))
	engine := sparql.New(sparql.Options{Service: &sparql.Federation{Allow: []string{"*"}}})
	for query, want := range map[string]int{"?x <p:q> ?s": 1, "?x <p:q> ?s FILTER isBlank(?s)": 0} {
		if got := rowsOf(t, engine, local, "SELECT * { { "+query+" } SERVICE <"+remote.URL+"> { ?s ?p ?o } }"); len(got) != want {
			t.Errorf("%s: %v", query, got)
		}
	}
}

func TestAnEndpointThatRefusesManyValuesGetsFewer(t *testing.T) {
	t.Parallel()
	remote := newRemote(t, objects(500, 1))
	remote.maxValues = 30
	var values strings.Builder
	for i := range 400 {
		fmt.Fprintf(&values, "<s:%d> ", i)
	}
	engine := sparql.New(sparql.Options{Service: &sparql.Federation{Allow: []string{"*"}}})
	got := rowsOf(t, engine, naive.New(), "SELECT * { VALUES ?s { "+values.String()+"} SERVICE <"+remote.URL+"> { ?s ?p ?o } }")
	if len(got) != 400 || len(slices.Compact(got)) != 400 || remote.refused == 0 || remote.refused > 12 {
		t.Errorf("%d solutions, %d refusals", len(got), remote.refused)
	}
	remote.maxValues = 0 // only FILTER is left
	if got := rowsOf(t, engine, naive.New(),
		"SELECT * { VALUES (?s ?o) { (<s:1> '1 0') (<s:2> '3 0') } SERVICE <"+remote.URL+"> { ?s ?p ?o } }"); len(got) != 1 {
		t.Errorf("an endpoint that refuses VALUES: %v", got)
	}
	remote.refuseAll = true
	r, err := engine.Query(t.Context(), naive.New().Snapshot(), "SELECT * { VALUES ?s { <s:1> } SERVICE <"+remote.URL+"> { ?s ?p ?o } }",
		sparql.QueryOptions{})
	if err == nil {
		_, err = r.Next()
		r.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "too many values") {
		t.Errorf("an endpoint that refuses everything: %v", err)
	}
	if got := rowsOf(t, engine, naive.New(),
		"SELECT * { VALUES ?s { <s:1> } SERVICE SILENT <"+remote.URL+"> { ?s ?p ?o } }"); len(got) != 1 {
		t.Errorf("SILENT: %v", got)
	}
}

func TestAServiceOnThisMachineIsAskedIfTheOperatorNamedIt(t *testing.T) {
	t.Parallel()
	remote := newRemote(t, objects(1, 1))
	refusing := &http.Client{Transport: refuse{}}
	for allow, want := range map[string]bool{remote.URL + "/": true, strings.TrimPrefix(remote.URL, "http://"): true, "127.0.0.1": true,
		"*": false, "other.example": false} {
		engine := sparql.New(sparql.Options{
			Service: &sparql.Federation{Allow: []string{allow}, Client: refusing, Named: http.DefaultClient}})
		r, err := engine.Query(t.Context(), naive.New().Snapshot(), "SELECT * { SERVICE <"+remote.URL+"/> { ?s ?p ?o } }",
			sparql.QueryOptions{})
		if err == nil {
			_, err = r.Next()
			r.Close()
		}
		if (err == nil) != want {
			t.Errorf("allowed %s: %v", allow, err)
		}
	}
}

// refuse is a client's transport that reaches nothing on this machine.
type refuse struct{}

func (refuse) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, fmt.Errorf("private address")
}
