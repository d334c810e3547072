package sparqlapi_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"odarchive/sparqlapi"
	"odarchive/sparqlapi/operate/access"
)

func TestAClientIsTheAddressThatTrustedProxiesSaw(t *testing.T) {
	t.Parallel()
	h, _ := server(t, func(o *sparqlapi.Options) {
		trusted := sparqlapi.Proxies{Networks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")},
			Unix: true}
		o.Proxies = func() sparqlapi.Proxies { return trusted }
		o.CDX = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, access.ClientOf(r.Context())) })
	})
	for _, c := range []struct{ from, header, value, want string }{
		{"203.0.113.9:1", "", "", "203.0.113.9/32"},
		{"203.0.113.9:1", "X-Forwarded-For", "198.51.100.1", "203.0.113.9/32"}, // not a proxy: not believed
		{"10.0.0.1:1", "X-Forwarded-For", "198.51.100.1", "198.51.100.1/32"},
		{"10.0.0.1:1", "X-Forwarded-For", "1.2.3.4, 198.51.100.1, 10.0.0.7", "198.51.100.1/32"}, // the first was sent by the client
		{"10.0.0.1:1", "X-Forwarded-For", "198.51.100.1:4711", "198.51.100.1/32"},
		{"10.0.0.1:1", "X-Forwarded-For", "2001:db8:1:2:3::4", "2001:db8:1:2::/64"},
		{"10.0.0.1:1", "X-Forwarded-For", "nonsense", "10.0.0.1/32"},
		{"10.0.0.1:1", "X-Forwarded-For", "198.51.100.1, nonsense", "10.0.0.1/32"},
		{"[fd00::1]:1", "Forwarded", `for=192.0.2.60;proto=http;by=203.0.113.43, for="[2001:db8:cafe::17]:4711"`, "2001:db8:cafe::/64"},
		{"[fd00::1]:1", "Forwarded", `for="[2001:db8:cafe::17]:4711";ext="a,for=1.2.3.4;for=5.6.7.8\\", for=10.0.0.3`,
			"2001:db8:cafe::/64"},
		{"10.0.0.1:1", "Forwarded", `for=198.51.100.1, for=unknown`, "10.0.0.1/32"},
		{"10.0.0.1:1", "Forwarded", `for=198.51.100.1, for=_hidden, proto=https`, "10.0.0.1/32"},
		{"10.0.0.1:1", "Forwarded", `For="198.51.100.1" ; proto=http , FOR = 10.0.0.3:99`, "198.51.100.1/32"},
		{"10.0.0.1:1", "Forwarded", `for="198.51.100.1`, "10.0.0.1/32"},
		{"10.0.0.1:1", "X-Forwarded-For", "::ffff:198.51.100.1", "198.51.100.1/32"},
		{"10.0.0.1:1", "X-Forwarded-For", "[2001:db8::1", "10.0.0.1/32"},
		{"@", "X-Forwarded-For", "198.51.100.1", "198.51.100.1/32"},
		{"@", "", "", "@"},
		{"10.0.0.1:1", "", "", "10.0.0.1/32"},
		{"127.0.0.1:1", "X-Forwarded-For", "198.51.100.1", "127.0.0.1"},
	} {
		r := httptest.NewRequest("GET", "/cdx?url=x", nil)
		r.RemoteAddr = c.from
		if c.header != "" {
			r.Header.Set(c.header, c.value)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if got := w.Body.String(); got != c.want {
			t.Errorf("from %s with %s: %s: got %s, want %s", c.from, c.header, c.value, got, c.want)
		}
	}
}
