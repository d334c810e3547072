package sparql_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"odarchive/triplestore/naive"
	"odarchive/triplestore/sparql"
)

// panickyBody is the body of an answer that starts well and then makes its reader panic.
type panickyBody struct{ io.Reader }

func (b panickyBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err == io.EOF {
		panic("a fault of the reader")
	}
	return n, err
}

func (panickyBody) Close() error { return nil }

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestAPanicWhileAnAnswerIsReadEndsTheQueryOnly(t *testing.T) {
	t.Parallel()
	client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		body := panickyBody{strings.NewReader("?s\n<http://example.org/s>\n")}
		return &http.Response{StatusCode: 200, Status: "200 OK", Header: http.Header{"Content-Type": {"text/tab-separated-values"}},
			Body: body, Request: r}, nil
	})}
	e := sparql.New(sparql.Options{Service: &sparql.Federation{Client: client, Allow: []string{"*"}}})
	for _, query := range []string{
		"SELECT * { SERVICE <http://example.org/sparql> { ?s ?p ?o } }",
		"SELECT * { VALUES ?s { 1 2 3 } SERVICE <http://example.org/sparql> { ?s ?p ?o } }",
	} {
		panicked := func() (v any) {
			defer func() { v = recover() }()
			res, err := e.Query(t.Context(), naive.New().Snapshot(), query, sparql.QueryOptions{})
			if err == nil {
				_, err = collect(res)
			}
			t.Errorf("%s: no panic in the goroutine of the query, but %v", query, err)
			return nil
		}()
		if err, ok := panicked.(error); !ok || !strings.Contains(err.Error(), "a fault of the reader") {
			t.Errorf("%s: panicked with %v", query, panicked)
		}
	}
}

// TestWhatIsNoEndpointIsNamed asks addresses where no endpoint answers, each for another reason.
func TestWhatIsNoEndpointIsNamed(t *testing.T) {
	t.Parallel()
	speak := func(text string) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		go func() { // ends with the listener
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				c.Read(make([]byte, 1))
				io.WriteString(c, text)
				c.(*net.TCPConn).CloseWrite()
				io.Copy(io.Discard, c)
				c.Close()
			}
		}()
		return l.Addr().String()
	}
	serve := func(start func(http.Handler) *httptest.Server, status int, kind, body string) string {
		s := start(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			io.WriteString(w, body)
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	plain := serve(httptest.NewServer, 200, "text/html", "<p>Hello</p>")
	for endpoint, want := range map[string]string{
		"http://127.0.0.1:1/sparql":                                "nothing answers at this address",
		"https" + strings.TrimPrefix(plain, "http"):                "it may be an http address, not https",
		serve(httptest.NewTLSServer, 200, "text/plain", ""):        "unknown authority",
		"http://" + speak("220 mail.example.org ESMTP\r\n"):        "not an HTTP server",
		"http://" + speak(""):                                      "ends in the middle", // not an empty answer
		plain:                                                      `answered with "text/html", which is not a SPARQL result`,
		serve(httptest.NewServer, 502, "text/html", "<p>Away</p>"): "502 Bad Gateway: Away",
		serve(httptest.NewServer, 200, "application/sparql-results+json",
			`{"head":{"vars":["s"]},"results":{"bindings":[{"s":{"type":"uri","va`): "ends in the middle",
		serve(httptest.NewServer, 200, "application/sparql-results+json",
			`[1]`): "read json: found [, expected {",
		serve(httptest.NewServer, 200, "application/sparql-results+xml",
			`<html>`): "the root is <html>, expected <sparql>",
		"urn:x": "an http or https address",
	} {
		e := sparql.New(sparql.Options{Service: &sparql.Federation{Allow: []string{"*"}}})
		r, err := e.Query(t.Context(), naive.New().Snapshot(), "SELECT * { SERVICE <"+endpoint+"> { ?s ?p ?o } }", sparql.QueryOptions{})
		if err == nil {
			_, err = collect(r)
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "<"+endpoint+">") {
			t.Errorf("%s: got %v, want %q", endpoint, err, want)
		}
	}
}
