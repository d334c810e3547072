package graphstore_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/klauspost/compress/gzip"

	"odarchive/sparqlapi/graphstore"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"
	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
)

const base = "http://archive.example/rdf-graph-store"

func newStore(t testing.TB) *triplestore.Store {
	t.Helper()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	store, err := triplestore.Open(db, triplestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

// withToken authorizes the token of the tests.
func withToken(r *http.Request) error {
	if r.Header.Get("Authorization") != "Bearer t" {
		return problem.New(http.StatusUnauthorized, "A token is needed", "")
	}
	return nil
}

func newHandler(t testing.TB, change func(*graphstore.Options)) (http.Handler, *triplestore.Store) {
	t.Helper()
	store := newStore(t)
	o := graphstore.Options{Base: base, Authorize: withToken, Prefixes: map[string]string{"ex": "http://example.org/"}}
	if change != nil {
		change(&o)
	}
	h, err := graphstore.New(store, o)
	if err != nil {
		t.Fatal(err)
	}
	r := chi.NewRouter()
	r.Use(target.Escaped)
	r.Handle("/rdf-graph-store", h)
	r.Handle("/rdf-graph-store/*", h)
	return r, store
}

// ask sends a request with headers as alternating names and values; writing methods carry the token.
func ask(t testing.TB, h http.Handler, method, target, body string, headers ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	if method != "GET" && method != "HEAD" {
		r.Header.Set("Authorization", "Bearer t")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	return rec.Result()
}

func want(t testing.TB, res *http.Response, status int, what string) string {
	t.Helper()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != status {
		t.Errorf("%s: %d, want %d: %s", what, res.StatusCode, status, b)
	}
	if status >= 400 && (res.Header.Get("Content-Type") != problem.ContentType || !json.Valid(b) && len(b) > 0) {
		t.Errorf("%s: a failure without a problem document: %s %s", what, res.Header.Get("Content-Type"), b)
	}
	return string(b)
}

const (
	ttl   = "text/turtle"
	nt    = "application/n-triples"
	one   = "@prefix ex: <http://example.org/> . ex:a ex:b 1 ."
	two   = "@prefix ex: <http://example.org/> . ex:a ex:b 2 ."
	oneNT = "<http://example.org/a> <http://example.org/b> \"1\"^^<http://www.w3.org/2001/XMLSchema#integer> .\n"
	twoNT = "<http://example.org/a> <http://example.org/b> \"2\"^^<http://www.w3.org/2001/XMLSchema#integer> .\n"
)

func TestTheLifeOfAGraph(t *testing.T) {
	t.Parallel()
	for name, target := range map[string]string{
		"indirect": "/rdf-graph-store?graph=http%3A%2F%2Fexample.org%2Fg",
		"direct":   "/rdf-graph-store/person/1",
		"default":  "/rdf-graph-store?default",
	} {
		h, _ := newHandler(t, nil)
		if name == "default" {
			want(t, ask(t, h, "GET", target, ""), 200, name+": the default graph always exists")
		} else {
			want(t, ask(t, h, "GET", target, ""), 404, name+": no graph yet")
			want(t, ask(t, h, "HEAD", target, ""), 404, name+": no graph yet")
			want(t, ask(t, h, "DELETE", target, ""), 404, name+": nothing to delete")
		}
		want(t, ask(t, h, "PUT", target, one, "Content-Type", ttl), 201, name+": a new graph")
		res := ask(t, h, "GET", target, "", "Accept", nt)
		if got := want(t, res, 200, name+": get"); got != oneNT || res.Header.Get("Content-Type") != nt ||
			res.Header.Get("Vary") != "Accept" {
			t.Errorf("%s: got %q, %v", name, got, res.Header)
		}
		want(t, ask(t, h, "PUT", target, two, "Content-Type", ttl), 204, name+": replaced")
		if got := want(t, ask(t, h, "GET", target, "", "Accept", nt), 200, name+": get"); got != twoNT {
			t.Errorf("%s: after PUT: %q", name, got)
		}
		want(t, ask(t, h, "POST", target, one, "Content-Type", ttl), 204, name+": added")
		if got := want(t, ask(t, h, "GET", target, ""), 200,
			name+": get"); got != "@prefix ex: <http://example.org/> .\n\nex:a ex:b 1, 2 .\n" &&
			got != "@prefix ex: <http://example.org/> .\n\nex:a ex:b 2, 1 .\n" {
			t.Errorf("%s: after POST: %q", name, got)
		}
		res = ask(t, h, "HEAD", target, "")
		if got := want(t, res, 200, name+": head"); got != "" || res.Header.Get("Content-Type") != "text/turtle; charset=utf-8" {
			t.Errorf("%s: HEAD: %q, %v", name, got, res.Header)
		}
		want(t, ask(t, h, "DELETE", target, ""), 204, name+": deleted")
		if name != "default" {
			want(t, ask(t, h, "GET", target, ""), 404, name+": gone")
		} else if got := want(t, ask(t, h, "GET", target, ""), 200, name+": empty"); got != "" {
			t.Errorf("the deleted default graph holds %q", got)
		}
	}
}

func TestOneGraphsWritesLeaveTheOthersAlone(t *testing.T) {
	t.Parallel()
	h, _ := newHandler(t, nil)
	for _, target := range []string{"/rdf-graph-store?default", "/rdf-graph-store/a", "/rdf-graph-store/b"} {
		want(t, ask(t, h, "PUT", target, one, "Content-Type", ttl), 201, target)
	}
	want(t, ask(t, h, "PUT", "/rdf-graph-store/a", two, "Content-Type", ttl), 204, "put a")
	want(t, ask(t, h, "DELETE", "/rdf-graph-store?default", ""), 204, "delete default")
	if got := want(t, ask(t, h, "GET", "/rdf-graph-store?graph="+base+"/b", "", "Accept", nt), 200, "get b"); got != oneNT {
		t.Errorf("b is %q", got)
	}
}

func TestPostToTheEndpointMakesAGraph(t *testing.T) {
	t.Parallel()
	h, _ := newHandler(t, nil)
	res := ask(t, h, "POST", "/rdf-graph-store", one, "Content-Type", ttl)
	want(t, res, 201, "create")
	place := res.Header.Get("Location")
	if !strings.HasPrefix(place, base+"/") {
		t.Fatalf("Location: %q", place)
	}
	if got := want(t, ask(t, h, "GET", strings.TrimPrefix(place, "http://archive.example"), "", "Accept", nt), 200, "get"); got != oneNT {
		t.Errorf("got %q", got)
	}
	res = ask(t, h, "POST", "/rdf-graph-store", "nonsense", "Content-Type", ttl)
	if want(t, res, 400, "create nonsense"); res.Header.Get("Location") != "" {
		t.Error("a failed request has a Location")
	}
}

func TestEveryRequestThatIsWrongIsTold(t *testing.T) {
	t.Parallel()
	h, store := newHandler(t, func(o *graphstore.Options) { o.MaxBody = 2000 })
	want(t, ask(t, h, "PUT", "/rdf-graph-store/g", one, "Content-Type", ttl), 201, "put")
	for _, c := range []struct {
		name, method, target, body string
		headers                    []string
		status                     int
		says                       string
	}{
		{"no graph", "DELETE", "/rdf-graph-store", "", nil, 400, "?graph="},
		{"both", "GET", "/rdf-graph-store?default&graph=a:b", "", nil, 400, "only one"},
		{"twice", "GET", "/rdf-graph-store?graph=a:b&graph=a:c", "", nil, 400, "only one"},
		{"relative", "GET", "/rdf-graph-store?graph=b", "", nil, 400, "absolute"},
		{"no IRI", "GET", "/rdf-graph-store?graph=a:%20b", "", nil, 400, "not allowed in an IRI"},
		{"malformed query", "GET", "/rdf-graph-store?graph=%zz", "", nil, 400, "query"},
		{"not acceptable", "GET", "/rdf-graph-store/g", "", []string{"Accept", "image/png"}, 406, "text/turtle"},
		{"unknown method", "PATCH", "/rdf-graph-store/g", "", nil, 405, "DELETE"},
		{"no token", "PUT", "/rdf-graph-store/g", two, []string{"Authorization", "", "Content-Type", ttl}, 401, "token"},
		{"no token to delete", "DELETE", "/rdf-graph-store/g", "", []string{"Authorization", ""}, 401, "token"},
		{"no type", "PUT", "/rdf-graph-store/g", two, nil, 415, "text/turtle"},
		{"wrong type", "PUT", "/rdf-graph-store/g", two, []string{"Content-Type", "text/csv"}, 415, "text/csv"},
		{"unknown coding", "PUT", "/rdf-graph-store/g", two, []string{"Content-Type", ttl, "Content-Encoding", "br"}, 415, "gzip"},
		{"syntax", "PUT", "/rdf-graph-store/g", "<a> <b>\n <c> , ;", []string{"Content-Type", ttl}, 400, `"line":2`},
		{"named graphs", "PUT", "/rdf-graph-store/g", "<a:a> <a:b> <a:c> <a:g> .", []string{"Content-Type", "application/n-quads"}, 400,
			"a:g"},
		{"too large", "PUT", "/rdf-graph-store/g", strings.Repeat(one+"\n", 100), []string{"Content-Type", ttl}, 413, "2000"},
		{"a bomb", "PUT", "/rdf-graph-store/g", gz(t, strings.Repeat(one+"\n", 1000)),
			[]string{"Content-Type", ttl, "Content-Encoding", "gzip"}, 413, "limit"},
		{"changed since", "PUT", "/rdf-graph-store/g", two, []string{"Content-Type", ttl, "If-Match", `W/"0"`}, 412, "changed"},
		{"exists", "PUT", "/rdf-graph-store/g", two, []string{"Content-Type", ttl, "If-None-Match", `*`}, 412, "exists"},
		{"not there to change", "PUT", "/rdf-graph-store/new", two, []string{"Content-Type", ttl, "If-Match", `*`}, 412, "changed"},
	} {
		res := ask(t, h, c.method, c.target, c.body, c.headers...)
		if got := want(t, res, c.status, c.name); !strings.Contains(got, c.says) {
			t.Errorf("%s: %s does not say %q", c.name, got, c.says)
		}
		if c.status == 405 && res.Header.Get("Allow") == "" || c.status == 415 &&
			res.Header.Get("Accept")+res.Header.Get("Accept-Encoding") == "" {
			t.Errorf("%s: headers %v", c.name, res.Header)
		}
	}
	if got := want(t, ask(t, h, "GET", "/rdf-graph-store/g", "", "Accept", nt), 200, "after all"); got != oneNT {
		t.Errorf("the graph is now %q", got)
	}
	var n int
	if err := store.Dump(t.Context(), term.Pattern{}, func(term.Quad) error { n++; return nil }); err != nil || n != 1 {
		t.Errorf("the store holds %d statements, %v", n, err)
	}
}

func TestWithoutAuthorizeNobodyWrites(t *testing.T) {
	t.Parallel()
	h, _ := newHandler(t, func(o *graphstore.Options) { o.Authorize = nil })
	want(t, ask(t, h, "PUT", "/rdf-graph-store/g", one, "Content-Type", ttl), 403, "put")
	want(t, ask(t, h, "GET", "/rdf-graph-store?default", ""), 200, "get")
	res := ask(t, h, "OPTIONS", "/rdf-graph-store", "")
	if want(t, res, 204, "options"); !strings.Contains(res.Header.Get("Allow"), "DELETE") {
		t.Errorf("Allow: %q", res.Header.Get("Allow"))
	}
}

func TestAnUnchangedGraphIsNotSentAgain(t *testing.T) {
	t.Parallel()
	h, _ := newHandler(t, nil)
	want(t, ask(t, h, "PUT", "/rdf-graph-store/g", one, "Content-Type", ttl), 201, "put")
	tag := ask(t, h, "GET", "/rdf-graph-store/g", "").Header.Get("ETag")
	if got := want(t, ask(t, h, "GET", "/rdf-graph-store/g", "", "If-None-Match", `"x", `+tag), 304, "unchanged"); tag == "" || got != "" {
		t.Errorf("tag %q, body %q", tag, got)
	}
	want(t, ask(t, h, "PUT", "/rdf-graph-store/g", two, "Content-Type", ttl, "If-Match", tag), 204, "put what was read")
	want(t, ask(t, h, "GET", "/rdf-graph-store/g", "", "If-None-Match", tag), 200, "changed")
}

func TestBodiesComeInEverySyntax(t *testing.T) {
	t.Parallel()
	quad := term.Quad{S: term.IRI("http://example.org/a"), P: term.IRI("http://example.org/b"),
		O: term.Typed("1", "http://www.w3.org/2001/XMLSchema#integer")}
	h, _ := newHandler(t, nil)
	for _, s := range rdfio.Syntaxes() {
		var b strings.Builder
		w := rdfio.NewWriter(&b, s, nil)
		if err := w.Write(quad); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		want(t, ask(t, h, "PUT", "/rdf-graph-store/g", b.String(), "Content-Type", s.MediaType+"; charset=utf-8"),
			map[bool]int{true: 201, false: 204}[s.Name == "Turtle"], s.Name)
		want(t, ask(t, h, "PUT", "/rdf-graph-store/g", gz(t, b.String()), "Content-Type", s.MediaType, "Content-Encoding", "gzip"), 204,
			s.Name+" in gzip")
		if got := want(t, ask(t, h, "GET", "/rdf-graph-store/g", "", "Accept", nt), 200, s.Name); got != oneNT {
			t.Errorf("%s: %q", s, got)
		}
		if s.Quads && s.Text {
			continue // a syntax for datasets, not for graphs
		}
		res := ask(t, h, "GET", "/rdf-graph-store/g", "", "Accept", s.MediaType)
		back, err := rdfio.NewReader(strings.NewReader(want(t, res, 200, s.Name)), s, rdfio.Options{}).Read()
		if err != nil || back != quad {
			t.Errorf("GET as %s: %v, %v", s, back, err)
		}
	}
}

func TestBlankNodesOfTwoBodiesStayApart(t *testing.T) {
	t.Parallel()
	h, _ := newHandler(t, nil)
	for range 2 {
		ask(t, h, "POST", "/rdf-graph-store/g", "_:x <http://example.org/b> 1 .", "Content-Type", ttl)
	}
	if got := want(t, ask(t, h, "GET", "/rdf-graph-store/g", "", "Accept", nt), 200, "get"); strings.Count(got, "\n") != 2 {
		t.Errorf("got\n%s", got)
	}
}

func TestTripleTermsGoInAndOut(t *testing.T) {
	t.Parallel()
	h, _ := newHandler(t, nil)
	const doc = "<http://example.org/r> <http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies> <<( <http://example.org/a> " +
		"<http://example.org/b> \"x\"@en--ltr )>> .\n"
	want(t, ask(t, h, "PUT", "/rdf-graph-store/g", doc, "Content-Type", ttl), 201, "put")
	if got := want(t, ask(t, h, "GET", "/rdf-graph-store/g", "", "Accept", nt), 200, "get"); got != doc {
		t.Errorf("got %s", got)
	}
	want(t, ask(t, h, "GET", "/rdf-graph-store/g", "", "Accept", "application/rdf+xml"), 406, "as RDF/XML, which has no way to say it here")
}

func TestRelativeIRIsOfABodyAreTheGraphs(t *testing.T) {
	t.Parallel()
	h, _ := newHandler(t, nil)
	want(t, ask(t, h, "PUT", "/rdf-graph-store/dir/g", "<> <#p> <x> .", "Content-Type", ttl), 201, "put")
	const expected = "<" + base + "/dir/g> <" + base + "/dir/g#p> <" + base + "/dir/x> .\n"
	if got := want(t, ask(t, h, "GET", "/rdf-graph-store/dir/g", "", "Accept", nt), 200, "get"); got != expected {
		t.Errorf("got %s", got)
	}
}

func TestAGraphThatASyntaxCannotHoldIsNotAcceptable(t *testing.T) {
	t.Parallel()
	h, _ := newHandler(t, nil)
	want(t, ask(t, h, "PUT", "/rdf-graph-store/g", "<a:a> <http://example.org/1> 2 .", "Content-Type", ttl), 201, "put")
	if got := want(t, ask(t, h, "GET", "/rdf-graph-store/g", "", "Accept", "application/rdf+xml"), 406, "as XML"); !strings.Contains(got,
		"RDF/XML") {
		t.Errorf("got %s", got)
	}
}

func gz(t testing.TB, s string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, s); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
