package fetch

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"odarchive/crawler/web/names"
)

func TestOnlyARealLookupSaysSomethingOfTheNameServer(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "a") }))
	defer server.Close()
	real := server.Listener.Addr().String()
	_, port, _ := net.SplitHostPort(real)
	f := newFetcher(t, Options{AllowNets: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		Settings: resolves(t, "placed.example="+real),
		Resolver: names.NewCache(&net.Resolver{PreferGo: true}, names.Options{})})
	for _, c := range []struct {
		url  string
		want bool
	}{
		{"http://" + real + "/", false},
		{"http://placed.example/", false},
		{"http://localhost:" + port + "/", true}, // package net finds it in a file, and tells of it as of others
		{"http://localhost:" + port + "/again", false},
	} {
		ex, err := f.Fetch(t.Context(), Request{URL: c.url})
		if err != nil || ex.Status != 200 || ex.Named != c.want {
			t.Errorf("%s: %v, status %d, named %v, %s", c.url, err, ex.Status, ex.Named, ex.Why)
		}
		if err := ex.Body.Remove(); err != nil {
			t.Error(err)
		}
	}
}
