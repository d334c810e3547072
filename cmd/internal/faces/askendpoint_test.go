package faces_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"odarchive/cmd/internal/faces"
	"odarchive/triplestore/sparql/results"
)

func TestAnEndpointsRefusalIsOneSentence(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ contentType, body, want string }{
		{"application/problem+json", `{"title":"Syntax error","detail":"line 1:\n  expected \"{\"","status":400}`,
			`answered 400 Bad Request: Syntax error: line 1: expected "{"`},
		{"application/json", `{"message":"no"}`, "answered 400 Bad Request: no"},
		{"text/html; charset=utf-8", "<html><style>p{}</style><script>x()</script><h1>Bad</h1>\n<p>query &amp; all</p></html>",
			"answered 400 Bad Request: Bad query & all"},
		{"text/plain", "Virtuoso 37000 Error\n\nSP030:\tsyntax", "answered 400 Bad Request: Virtuoso 37000 Error SP030: syntax"},
		{"text/plain", strings.Repeat("ä", 600), "answered 400 Bad Request: " + strings.Repeat("ä", 500) + "…"},
		{"application/problem+json", "", "answered 400 Bad Request without a reason"},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer T" {
				t.Errorf("Authorization %q", r.Header.Get("Authorization"))
			}
			w.Header().Set("Content-Type", c.contentType)
			w.WriteHeader(400)
			io.WriteString(w, c.body)
		}))
		e := faces.RemoteEndpoint{Address: srv.URL, Token: "T"}
		err := e.Query(t.Context(), "ASK {}", faces.QueryFormat{}, io.Discard)
		if want := "endpoint " + srv.URL + " " + c.want; err == nil || err.Error() != want {
			t.Errorf("got %v\nwant %s", err, want)
		}
		srv.Close()
	}
}

func TestAnEndpointThatDoesNotExplainIsAnError(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("explain") == "1" && r.FormValue("query") == "ASK {}" && r.Header.Get("Accept") == "text/plain" {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			io.WriteString(w, "scan\n")
			return
		}
		w.Header().Set("Content-Type", "application/sparql-results+json")
		io.WriteString(w, `{"boolean":true}`)
	}))
	defer srv.Close()
	var out strings.Builder
	e := faces.RemoteEndpoint{Address: srv.URL}
	if err := e.Explain(t.Context(), "ASK {}", &out); err != nil || out.String() != "scan\n" {
		t.Error(err, out.String())
	}
	if err := e.Explain(t.Context(), "ASK { }", io.Discard); err == nil || !strings.Contains(err.Error(), "does not explain queries") {
		t.Error(err)
	}
}

func TestEveryAddressOfAnArchiveIsTakenForItsEndpoint(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /archive/sparql", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/sparql-results+json")
		io.WriteString(w, `{"boolean":true}`)
	})
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {}) // a POST is answered with 405
	srv := httptest.NewServer(mux)
	defer srv.Close()
	for _, form := range []string{"/archive", "/archive/", "/archive/sparql", "/archive/sparql/", "/archive/api/v1", "/archive/api/v1/",
		"/archive/api/v1/sparql"} {
		e := faces.RemoteEndpoint{Address: srv.URL + form}
		if err := e.Query(t.Context(), "ASK {}", faces.QueryFormat{Rows: results.JSON}, io.Discard); err != nil {
			t.Errorf("%s: %v", form, err)
		}
	}
	if err := (faces.RemoteEndpoint{Address: srv.URL + "/other"}).Query(t.Context(), "ASK {}", faces.QueryFormat{Rows: results.JSON},
		io.Discard); err == nil || !strings.Contains(err.Error(), "405") {
		t.Errorf("no endpoint: %v", err)
	}
}
