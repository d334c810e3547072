package fetch

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"odarchive/crawler/catalog"
	"odarchive/crawler/web/hosts"
)

// noNet is a network that cannot be the loopback network, so that nothing private is allowed.
var noNet = []netip.Prefix{netip.MustParsePrefix("93.184.215.0/24")}

// resolves returns settings for which the operator has said where hosts are, in the form HOST=ADDR:PORT.
func resolves(t *testing.T, texts ...string) func(string) hosts.Settings {
	t.Helper()
	var flags []hosts.Rule
	for _, text := range texts {
		r, err := hosts.ParseResolve(text)
		if err != nil {
			t.Fatal(err)
		}
		flags = append(flags, r)
	}
	book, err := hosts.NewBook(hosts.Options{Flags: flags})
	if err != nil {
		t.Fatal(err)
	}
	return book.Of
}

// noNames is a name server that knows no name.
type noNames struct{ rebinding }

func TestAHostIsWhereTheOperatorSaysAndOnlyThatHost(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		fmt.Fprintf(w, "host %s", r.Host)
	}))
	defer server.Close()
	real := server.Listener.Addr().String()
	addr, port, _ := net.SplitHostPort(real)
	settings := resolves(t, "inside.example="+real, "kept.example="+addr, "*.below.example="+real)
	f := newFetcher(t, Options{AllowNets: noNet, Settings: settings, Resolver: &noNames{}, Timeouts: quick})
	private := "http://" + real + "/"
	for address, want := range map[string]string{
		"http://inside.example/":                                         "host inside.example",
		"http://Inside.Example:9999/":                                    "host inside.example:9999", // ADDR:PORT replaces every port
		"http://kept.example:" + port + "/":                              "host kept.example:" + port,
		"http://a.below.example/":                                        "host a.below.example",
		"http://inside.example/?to=" + url.QueryEscape(private):          "",
		"http://inside.example/?to=http://private.example:" + port + "/": "",
		"http://private.example:" + port + "/":                           "",
		private:                                                          "",
	} {
		ex := get(t, f, Request{URL: address})
		if want == "" {
			if ex.Outcome != catalog.Blocked || ex.ErrorClass != catalog.ErrForbiddenTarget {
				t.Errorf("%s: %s %s %s", address, ex.Outcome, ex.ErrorClass, ex.Why)
			}
			continue
		}
		if ex.Body == nil {
			t.Errorf("%s: %s %s", address, ex.Outcome, ex.Why)
			continue
		}
		if got := string(text(t, ex)); got != want || ex.RemoteAddr != real {
			t.Errorf("%s: %q from %s, want %q from %s", address, got, ex.RemoteAddr, want, real)
		}
	}
	resp, err := f.Client().Get("http://inside.example/")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	var forbidden *forbiddenError
	if _, err := f.Client().Get(private); !errors.As(err, &forbidden) {
		t.Errorf("the client reaches the address itself: %v", err)
	}
}

// Only a proxy that opens tunnels can be told an address.
func TestAProxyIsAskedForTheAddressThatTheOperatorNames(t *testing.T) {
	t.Parallel()
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.Host)
		http.Error(w, "no", http.StatusForbidden)
	}))
	defer proxy.Close()
	for _, resolvesNames := range []bool{false, true} {
		via, err := hosts.ParseProxy(proxy.URL)
		if err != nil {
			t.Fatal(err)
		}
		via.Resolves, asked = resolvesNames, nil
		of := resolves(t, "inside.example=127.0.0.1:8081")
		f := newFetcher(t, Options{AllowNets: noNet, Resolver: &noNames{}, Timeouts: quick, Settings: func(host string) hosts.Settings {
			s := of(host)
			s.Proxy = via
			return s
		}})
		if _, err := f.Fetch(t.Context(), Request{URL: "http://inside.example/"}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(asked, ", "); got != "CONNECT 127.0.0.1:8081" {
			t.Errorf("the proxy resolves names: %v; it was asked %q", resolvesNames, got)
		}
	}
}
