package protocol_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"odarchive/sparqlapi/protocol"
	"odarchive/triplestore/sparql"
)

// TestAnAnswerThatAnotherEndpointMayHaveCutSaysSo asks an endpoint that sends 200 rows and no further page.
func TestAnAnswerThatAnotherEndpointMayHaveCutSaysSo(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.FormValue("query"), "OFFSET") {
			http.Error(w, "no", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "text/tab-separated-values")
		io.WriteString(w, "?x\n"+strings.Repeat("<x:"+strings.Repeat("x", 1000)+">\n", 200))
	}))
	t.Cleanup(other.Close)
	var log bytes.Buffer
	srv := serve(t, numbers(2), protocol.Options{Engine: sparql.New(sparql.Options{
		Service: &sparql.Federation{Allow: []string{"*"}}, Log: slog.New(slog.NewTextHandler(&log, nil))})})
	call := "{ SERVICE <" + other.URL + "> { ?x ?y ?z } }"
	const want = "exactly 200 rows"
	for query, trailer := range map[string]bool{
		"SELECT * " + call: false, // 200 KB
		"SELECT (CONCAT(STR(?x), '" + strings.Repeat("y", 1000) + "') AS ?long) " + call: true, // 400 KB
		"SELECT (COUNT(*) AS ?n) " + call:                                                false,
		"CONSTRUCT { ?x ?x ?x } WHERE " + call:                                           false,
	} {
		resp, body := get(t, srv, url.Values{"query": {query}}, "")
		in := resp.Header
		if trailer {
			in = resp.Trailer
		}
		if resp.StatusCode != 200 || !strings.Contains(in.Get(protocol.WarningHeader), want) {
			t.Errorf("%.30s: got %s, header %v, trailer %v\n%.200s", query, resp.Status, resp.Header, resp.Trailer, body)
		}
		resp, body = get(t, srv, url.Values{"query": {"SELECT (COUNT(*) AS ?n) " + call}, "strict": {"1"}}, "")
		if resp.StatusCode != http.StatusBadGateway || !strings.Contains(body, want) {
			t.Errorf("strict: got %s %s", resp.Status, body)
		}
	}
	if !strings.Contains(log.String(), want) {
		t.Errorf("the log has no line of it: %s", &log)
	}
}

// TestATimeLimitThatEndsInAServiceIs503 asks endpoints that stop at different places of their answers.
func TestATimeLimitThatEndsInAServiceIs503(t *testing.T) {
	t.Parallel()
	const rows = "<x:1>\n<x:2>\n"
	for name, sent := range map[string]string{"nothing": "", "a head": "?x\n", "rows": "?x\n" + rows, "half a row": "?x\n" + rows + "<x:",
		"many rows": "?x\n" + strings.Repeat(rows, 5000)} {
		for _, silent := range []string{"", "SILENT "} {
			t.Run(silent+name, func(t *testing.T) {
				t.Parallel()
				over := make(chan struct{})
				other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if sent != "" {
						w.Header().Set("Content-Type", "text/tab-separated-values")
						io.WriteString(w, sent)
						w.(http.Flusher).Flush()
					}
					<-over
				}))
				t.Cleanup(other.Close)
				t.Cleanup(func() { close(over) })
				srv := serve(t, numbers(2),
					protocol.Options{Engine: sparql.New(sparql.Options{Service: &sparql.Federation{Allow: []string{"*"}}})})
				resp, body := get(t, srv,
					url.Values{"query": {"SELECT (COUNT(*) AS ?n) { SERVICE " + silent + "<" + other.URL + "> { ?x ?y ?z } }"},
						"timeout": {"0.2"}}, "")
				if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" ||
					!strings.Contains(body, "0.2") && !strings.Contains(body, "200ms") {
					t.Errorf("got %s, Retry-After %q, %s", resp.Status, resp.Header.Get("Retry-After"), body)
				}
			})
		}
	}
}
