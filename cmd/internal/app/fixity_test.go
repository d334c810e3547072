package app

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"odarchive/cmd/internal/store"
	"odarchive/ui"
)

func ask(h http.Handler, method, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer secret")
	r.Header.Set("Content-Type", "application/sparql-update")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestAnArchiveThatStoppedWritingSaysSoEverywhereAndGoesOnReading(t *testing.T) {
	t.Parallel()
	n, err := openIn(t, t.TempDir(), "http://a.example/", store.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	n.Config.Serve.Token = "secret"
	h, err := n.Handler()
	if err != nil {
		t.Fatal(err)
	}
	const insert = "INSERT DATA { <http://x.example/s> <http://x.example/p> 1 }"
	if w := ask(h, "POST", "/sparql", insert); w.Code != 200 {
		t.Fatalf("before: %d %s", w.Code, w.Body)
	}
	if w := ask(h, "GET", "/readyz", ""); w.Code != 200 || w.Body.String() != "ok\n" {
		t.Errorf("before: %d %s", w.Code, w.Body)
	}
	n.DB.StopWrites(errors.New("fsync log/1: input/output error"))

	for path, body := range map[string]string{"/sparql": insert, "/post/resource": `{"href":"http://x.example/a.csv"}`,
		"/crawl/pause": ""} {
		w := ask(h, "POST", path, body)
		if path == "/post/resource" { // of another type
			r := httptest.NewRequest("POST", path, strings.NewReader(body))
			r.Header.Set("Authorization", "Bearer secret")
			w = httptest.NewRecorder()
			h.ServeHTTP(w, r)
		}
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" ||
			w.Header().Get("Content-Type") != "application/problem+json" ||
			!strings.Contains(w.Body.String(), "input/output error") || !strings.Contains(w.Body.String(), "start the archive again") {
			t.Errorf("%s: %d %v %s", path, w.Code, w.Header(), w.Body)
		}
	}
	if w := ask(h, "GET", "/readyz", ""); w.Code != 503 || !strings.Contains(w.Body.String(), "input/output error") ||
		!json.Valid(w.Body.Bytes()) {
		t.Errorf("/readyz: %d %s", w.Code, w.Body)
	}
	if w := ask(h, "GET", "/healthz", ""); w.Code != 200 {
		t.Errorf("/healthz: %d", w.Code)
	}
	if w := ask(h, "GET", "/metrics", ""); !strings.Contains(w.Body.String(), `odarchive_state{state="writes-stopped"} 1`) ||
		!strings.Contains(w.Body.String(), `odarchive_scrub_rounds{part="database"}`) {
		t.Errorf("/metrics does not say so")
	}
	if w := ask(h, "GET", "/", ""); w.Code != 200 || !strings.Contains(w.Body.String(), "input/output error") {
		t.Errorf("the home page says nothing: %d", w.Code)
	}
	if w := ask(h, "GET", "/sparql?query=ASK%20%7B%3Fs%20%3Fp%201%7D", ""); w.Code != 200 || !strings.Contains(w.Body.String(), "true") {
		t.Errorf("a question: %d %s", w.Code, w.Body)
	}
	if f := n.Fixity(); f.State != ui.WritesStopped {
		t.Errorf("%+v", f)
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
}
