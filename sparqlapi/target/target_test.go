package target_test

import (
	"net/http/httptest"
	"testing"

	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"
)

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
		got, own, err := target.Of(httptest.NewRequest("GET", c.path, nil), "/get/file/")
		if err != nil || got != c.want || own.Get("format") != c.format {
			t.Errorf("Of(%s) = %q, %v, %v; want %q, format %q", c.path, got, own, err, c.want, c.format)
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
		if got, _, err := target.Of(httptest.NewRequest("GET", path, nil), "/get/file/"); !problem.Is(err, status) {
			t.Errorf("Of(%s) = %q, %v; want status %d", path, got, err, status)
		}
	}
}
