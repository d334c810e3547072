package sparqlapi

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"

	"github.com/go-chi/chi/v5"
)

func TestThePathOfTheBaseMayBeRemovedByAProxyOrNot(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ root, path, want string }{
		{"/archive", "/archive/search?q=a%2Fb", "/search?q=a%2Fb"},
		{"/archive", "/search", "/search"},
		{"/archive", "/archive/get/file/http%3A%2F%2Fa.example%2Fb%252F", "/get/file/http%3A%2F%2Fa.example%2Fb%252F"},
		{"/archive", "/archive/get/file/http://a.example//b", "/get/file/http://a.example//b"},
		{"/archive", "/archives/x", "404 /archives/x"},
		{"/archive", "/archive//evil.example/", "404 //evil.example/"},
		{"/archive", "/archive/archive/search", "404 /archive/search"},
		{"/get", "/get/get/file/x", "/get/file/x"},
		{"/get", "/get/file/x", "/get/file/x"}, // a proxy has removed the first /get
		{"/get", "/get/search", "/search"},
		{"/a%20b", "/a%20b/search", "/search"},
		{"", "/search", "/search"},
	} {
		r := chi.NewRouter()
		r.Use(below(c.root, r), target.Escaped)
		saw := func(prefix string) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) { w.Write([]byte(prefix + r.RequestURI)) }
		}
		r.Get("/search", saw(""))
		r.Get("/get/file/*", saw(""))
		r.NotFound(saw("404 "))
		w := httptest.NewRecorder()
		r.ServeHTTP(w, httptest.NewRequest("GET", c.path, nil))
		if got := w.Body.String(); got != c.want {
			t.Errorf("below %q, %s is served as %s, want %s", c.root, c.path, got, c.want)
		}
	}
}

func TestPathsInHeadersGetThePathOfTheBaseOnce(t *testing.T) {
	t.Parallel()
	h := New(Options{Root: "/archive", Former: []string{"http://a.example/old/"}})
	for path, want := range map[string]string{"/old/get/x?y=1": "/archive/get/x?y=1", "/archive/old/x": "/archive/x",
		"/old//evil.example/": "/archive/evil.example/"} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if got := w.Header().Get("Location"); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	header := http.Header{"Link": {`</catalog.ttl>; rel="alternate"`, `<http://a.example/x>; rel="next"`, `<//evil.example/>; rel="next"`}}
	place(header, "/archive")
	if l := header["Link"]; l[0] != `</archive/catalog.ttl>; rel="alternate"` || l[1] != `<http://a.example/x>; rel="next"` ||
		l[2] != `<//evil.example/>; rel="next"` {
		t.Errorf("%q", l)
	}
	w := httptest.NewRecorder()
	rec := &recorder{ResponseWriter: w, root: "/archive"}
	rec.Header().Set("Location", "/x")
	rec.WriteHeader(http.StatusEarlyHints)
	rec.WriteHeader(http.StatusSeeOther)
	problem.Send(rec, httptest.NewRequest("GET", "/", nil), &problem.Error{Status: 500})
	if got := w.Header().Get("Location"); got != "/archive/x" {
		t.Error(got)
	}
}
