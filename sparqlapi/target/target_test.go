package target_test

import (
	"cmp"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"

	"github.com/go-chi/chi/v5"
)

// read routes a request for path and returns what URL reads from it.
func read(t *testing.T, path string) (address string, own url.Values, err error) {
	t.Helper()
	r := chi.NewRouter()
	r.Use(target.Escaped)
	answer := func(_ http.ResponseWriter, r *http.Request) { address, own, err = target.URL(r) }
	r.Get("/get/file/*", answer)
	r.Get("/api/v1/get/file/*", answer)
	w := httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	if w.Code != 200 {
		t.Fatalf("%s is not routed: %d", path, w.Code)
	}
	return address, own, err
}

func TestTheAddressIsTakenRawOrEncoded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, want, format string }{
		{"/get/file/http://a.example/x.csv", "http://a.example/x.csv", ""},
		{"/api/v1/get/file/http://a.example/x.csv", "http://a.example/x.csv", ""},
		{"/get/file/http://a.example/x.csv?y=1&z=%20", "http://a.example/x.csv?y=1&z=%20", ""},
		{"/get/file/http://a.example/a%20b%2Fc", "http://a.example/a%20b%2Fc", ""},
		{"/get/file/http%3A%2F%2Fa.example%2Fx.csv%3Fy%3D1", "http://a.example/x.csv?y=1", ""},
		{"/get/file/http%3A%2F%2Fa.example%2Fx.csv?format=ttl", "http://a.example/x.csv", "ttl"},
		{"/get/file/http:/a.example/x.csv", "http://a.example/x.csv", ""},
		{"/get/file/ftp://a.example/x", "ftp://a.example/x", ""},
		{"/get/file/HTTPS://A.example//x//y", "HTTPS://A.example//x//y", ""},
		{"/get/file/http%3a//a.example/x%2520y", "http://a.example/x%20y", ""},
	} {
		got, own, err := read(t, c.path)
		if err != nil || got != c.want || own.Get("format") != c.format {
			t.Errorf("URL(%s) = %q, %v, %v; want %q, format %q", c.path, got, own, err, c.want, c.format)
		}
	}
}

func TestWhatIsNoAddressIsRefused(t *testing.T) {
	t.Parallel()
	for path, status := range map[string]int{
		"/get/file/":                     404,
		"/get/file/x.csv":                400,
		"/get/file/javascript:alert(1)":  400,
		"/get/file/%252e%252e/etc":       400,
		"/get/file/data%3Atext%2Fhtml,x": 400,
	} {
		if got, _, err := read(t, path); problem.Table(nil).Find(err).Status != status {
			t.Errorf("URL(%s) = %q, %v; want status %d", path, got, err, status)
		}
	}
}

func TestAParameterIsDecodedWhateverItsSpelling(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/x/a.example":         "a.example",
		"/x/a.example:80":      "a.example:80",
		"/x/a.example%3A80":    "a.example:80",
		"/x/a%2Fb%20c%252F":    "a/b c%2F",
		"/x/a b/rest%2Fof//it": "",
	} {
		r := chi.NewRouter()
		r.Use(target.Escaped)
		got := ""
		r.Get("/x/{name}", func(_ http.ResponseWriter, r *http.Request) { got = target.Value(r, "name") })
		request := httptest.NewRequest("GET", "/", nil)
		request.URL, _ = url.Parse(path)
		r.ServeHTTP(httptest.NewRecorder(), request)
		if got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

func TestANumberHasALimitOnEachSide(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]int{"": 7, "1": 1, "10": 10, "05": 5} {
		if n, err := target.Int(url.Values{"n": {value}}, "n", 7, 1, 10); n != want || err != nil {
			t.Errorf("%q: %d, %v", value, n, err)
		}
	}
	for _, value := range []string{"0", "11", "-1", "x", "1.5", " 1"} {
		if n, err := target.Int(url.Values{"n": {value}}, "n", 7, 1, 10); problem.Table(nil).Find(err).Status != 400 {
			t.Errorf("%q: %d, %v", value, n, err)
		}
	}
}

// As people copy it from the address bar, whatever the base of the archive is.
func TestAVersionAtTheHostThatWasAskedIsNamedByItsID(t *testing.T) {
	t.Parallel()
	const id = "0123456789abcdef01234567_2"
	for address, want := range map[string]string{
		"http://Archive.example:9090/api/v1/get/file/id/" + id:              id,
		"https://archive.example:9090/below/api/v1/get/file/id/" + id + "/": id,
		"http://archive.example:9090/api/v1/get/file/id/" + id + "?f=html":  id,
		"http://archive.example/api/v1/get/file/id/" + id:                   "", // another host
		"http://archive.example:9090/api/v1/get/file/id/nothing":            "",
		"http://archive.example:9090/data.csv":                              "",
	} {
		want = cmp.Or(want, address)
		for _, in := range []string{address, url.PathEscape(address)} {
			r := httptest.NewRequest("GET", "/get/file/x", nil)
			r.Host = "archive.example:9090"
			path, query, _ := strings.Cut(in, "?")
			r.URL.RawQuery = query
			r.SetPathValue("*", path)
			if got, _, err := target.URL(r); got != want || err != nil {
				t.Errorf("%s: %s, %v, want %s", in, got, err, want)
			}
		}
		r := httptest.NewRequest("GET", "/cdx?url="+url.QueryEscape(address), nil)
		r.Host = "archive.example:9090"
		if got := target.Parameter(r, "url"); got != want {
			t.Errorf("%s as a parameter: %s, want %s", address, got, want)
		}
	}
}
