package sparql_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"odarchive/testdata/shared"
	"odarchive/triplestore/naive"
	"odarchive/triplestore/sparql"
	"odarchive/triplestore/sparql/conformance"
	"odarchive/triplestore/sparql/internal/syntax"
	"odarchive/triplestore/sparql/results"
	"odarchive/triplestore/term"
)

// exceptions are the evaluation tests that do not pass, with the reason. A test that passes must not be listed.
var exceptions = map[string]string{}

// elsewhere are tests of other packages: the grammar (package syntax), the protocols (package sparqlapi/protocol and
// sparqlapi/graphstore).
var elsewhere = []string{"PositiveSyntax", "NegativeSyntax", "PositiveUpdateSyntax", "NegativeUpdateSyntax", "Protocol",
	"ServiceDescription", "GraphStoreProtocol"}

func TestTheW3CEvaluationTests(t *testing.T) {
	t.Parallel()
	root := shared.Data(t, "w3c", "sparql")
	seen := map[string]bool{}
	for _, manifest := range []string{"sparql10/manifest.ttl", "sparql11/manifest-all.ttl", "sparql12/manifest.ttl"} {
		tests, err := conformance.Load(filepath.Join(root, manifest))
		if err != nil {
			t.Fatal(err)
		}
		passed, failed := 0, 0
		for _, x := range tests {
			if x.Regimes || slices.ContainsFunc(elsewhere, func(kind string) bool { return strings.HasPrefix(x.Kind, kind) }) {
				continue
			}
			name := x.String()
			seen[name] = true
			diff := run(&x)
			reason, excepted := exceptions[name]
			switch {
			case diff == "" && excepted:
				t.Errorf("%s passes: take it off the list of exceptions", name)
			case diff == "":
				passed++
			case excepted:
				failed++
				t.Logf("%s is excepted: %s", name, reason)
			default:
				failed++
				text, _ := x.Text()
				t.Errorf("%s: %s\n%s", name, diff, text)
			}
		}
		t.Logf("%s: %d passed, %d did not", filepath.Dir(manifest), passed, failed)
	}
	for _, name := range slices.Sorted(maps.Keys(exceptions)) {
		if !seen[name] {
			t.Errorf("the list of exceptions names %q, which is no test", name)
		}
	}
}

// run returns what is wrong with the answer to a test, "" if nothing is.
func run(x *conformance.Test) (diff string) {
	defer func() {
		if p := recover(); p != nil {
			diff = fmt.Sprint("panic: ", p)
		}
	}()
	var err error
	if x.Kind == "UpdateEvaluationTest" {
		diff, err = runUpdate(x)
	} else {
		diff, err = runQuery(x)
	}
	if err != nil {
		return err.Error()
	}
	return diff
}

func runQuery(x *conformance.Test) (string, error) {
	text, err := x.Text()
	if err != nil {
		return "", err
	}
	tree, err := syntax.ParseQuery(text, x.Request, syntax.Options{})
	if err != nil {
		return "", err
	}
	quads, err := x.Dataset(append(tree.From, tree.FromNamed...))
	if err != nil {
		return "", err
	}
	want, err := x.Wanted()
	if err != nil {
		return "", err
	}
	engine, stop, err := federated(x)
	if err != nil {
		return "", err
	}
	defer stop()
	res, err := engine.Query(context.Background(), naive.New(quads...).Snapshot(), text, sparql.QueryOptions{Base: x.Request})
	if err != nil {
		return "", err
	}
	got, err := collect(res)
	if err != nil {
		return "", err
	}
	if f, ok := results.ByName(strings.TrimPrefix(filepath.Ext(x.Result), ".")); ok && !got.IsGraph {
		if got, err = through(got, f); err != nil { // this tests the result formats, too
			return "", err
		}
	}
	want.Ordered = want.Ordered || strings.Contains(strings.ToUpper(text), "ORDER BY")
	diff := conformance.Same(got, want, x.CardLax)
	if diff != "" && want.Ordered {
		// Rows that are equal for ORDER BY may come in any order.
		want.Ordered = false
		if conformance.Same(got, want, x.CardLax) == "" && sorted(got, want) {
			return "", nil
		}
	}
	return diff, nil
}

// sorted reports whether two results with the same rows differ only in the order of equal neighbours. The suites sort
// by one or two variables that the rows contain.
func sorted(got, want *conformance.Result) bool {
	for c := range want.Vars {
		g := slices.Index(got.Vars, want.Vars[c])
		same := g >= 0
		for i := range want.Rows {
			same = same && got.Rows[i][g] == want.Rows[i][c]
		}
		if same {
			return true
		}
	}
	return false
}

// through writes a result in a format and reads it back.
func through(r *conformance.Result, f results.Format) (*conformance.Result, error) {
	var b bytes.Buffer
	w := results.NewWriter(&b, f, results.Options{})
	if r.Boolean != nil {
		if err := w.Boolean(*r.Boolean); err != nil {
			return nil, err
		}
		return conformance.DecodeResult(&b, f)
	}
	if err := w.Begin(r.Vars); err != nil {
		return nil, err
	}
	for _, row := range r.Rows {
		if err := w.Row(row); err != nil {
			return nil, err
		}
	}
	if err := w.End(); err != nil {
		return nil, err
	}
	return conformance.DecodeResult(&b, f)
}

// federated returns an engine that reaches the endpoints of a test: servers on loopback, found by their Host header.
func federated(x *conformance.Test) (*sparql.Engine, func(), error) {
	stores := map[string]*naive.Store{}
	for _, s := range x.Services {
		quads, err := conformance.Graphs{Data: s.Data}.Quads()
		if err != nil {
			return nil, nil, err
		}
		stores[s.Endpoint] = naive.New(quads...)
	}
	var engine *sparql.Engine
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		store, ok := stores["http://"+r.Host+r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		res, err := engine.Query(r.Context(), store.Snapshot(), r.FormValue("query"), sparql.QueryOptions{})
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
	}))
	client := &http.Client{Transport: loopback{srv.Listener.Addr().String()}}
	engine = sparql.New(sparql.Options{Service: &sparql.Federation{Client: client, Allow: []string{"*"}}})
	return engine, srv.Close, nil
}

// loopback sends every request to one server.
type loopback struct{ addr string }

func (l loopback) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Host = r.URL.Host
	r.URL.Host = l.addr
	return http.DefaultTransport.RoundTrip(r)
}

func runUpdate(x *conformance.Test) (string, error) {
	text, err := x.Text()
	if err != nil {
		return "", err
	}
	quads, err := conformance.Graphs{Data: x.Data, Named: x.Named}.Quads()
	if err != nil {
		return "", err
	}
	want, err := x.After.Quads()
	if err != nil {
		return "", err
	}
	store := naive.New(quads...)
	if _, err := sparql.New(sparql.Options{}).Update(context.Background(), storeOf(store), text,
		sparql.UpdateOptions{Base: x.Request}); err != nil {
		return "", err
	}
	got, err := quadsOf(store.Snapshot())
	if err != nil {
		return "", err
	}
	return conformance.Same(&conformance.Result{IsGraph: true, Graph: got}, &conformance.Result{IsGraph: true, Graph: want}, false), nil
}

func quadsOf(ds term.Dataset) ([]term.Quad, error) {
	var out []term.Quad
	c := ds.Scan(term.Pattern{}, term.SPO)
	defer c.Close()
	for {
		rows, err := c.Next()
		if err != nil || len(rows) == 0 {
			return out, err
		}
		for _, q := range rows {
			ids := []term.ID{q.S, q.P, q.O}
			if q.G != term.DefaultGraph {
				ids = append(ids, q.G)
			}
			keys := make([]term.Key, 4)
			if err := ds.Keys(ids, keys[:len(ids)]); err != nil {
				return nil, err
			}
			out = append(out, term.Quad{S: keys[0], P: keys[1], O: keys[2], G: keys[3]})
		}
	}
}
