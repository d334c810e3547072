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
		serve(httptest.NewServer, 200, "application/sparql-results+json", `{"head":{"vars":["s"]},"results":{"bindings":[{"s":{"type":"uri","va`): "ends in the middle",
		serve(httptest.NewServer, 200, "application/sparql-results+json", `[1]`):                                                                  "read json: found [, expected {",
		serve(httptest.NewServer, 200, "application/sparql-results+xml", `<html>`):                                                                "the root is <html>, expected <sparql>",
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
