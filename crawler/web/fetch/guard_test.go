package fetch

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
)

// rebinding is a name server whose answers for any name change with each question: public, then private.
type rebinding struct{ asked atomic.Int64 }

func (r *rebinding) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if strings.HasPrefix(host, "private") {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}
	if strings.HasPrefix(host, "nat64") {
		return []netip.Addr{netip.MustParseAddr("64:ff9b::7f00:1"), netip.MustParseAddr("2002:7f00:1::1"),
			netip.MustParseAddr("::ffff:127.0.0.1")}, nil
	}
	if r.asked.Add(1)%2 == 1 {
		return []netip.Addr{netip.MustParseAddr("93.184.215.14")}, nil
	}
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}

// Each way to name a private address is tried on the crawler, on its client for LOAD and on that for SERVICE; hooks and
// hubs use them, too. A server on this machine must see none of it.
func TestNoSpellingReachesAPrivateAddress(t *testing.T) {
	t.Parallel()
	var reached atomic.Int64
	private := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer private.Close()
	_, port, err := net.SplitHostPort(private.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	dialled := func(_ context.Context, network, address string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		if a, err := netip.ParseAddr(host); err != nil || !public(a) {
			t.Errorf("a connection to %s", address)
		}
		return nil, fmt.Errorf("no route to %s", address)
	}
	f := newFetcher(t, Options{AllowNets: []netip.Prefix{netip.MustParsePrefix("10.77.0.0/16")}, Resolver: new(rebinding), Dial: dialled,
		Timeouts: quick})
	for _, host := range []string{
		"127.0.0.1", "127.1", "127.0.1", "0177.0.0.1", "0x7f.0.0.1", "0x7f000001", "2130706433", "017700000001", "127.0.0.1.", "①②⑦.0.0.1",
		"127。0。0。1", "%31%32%37.0.0.1", "0", "0.0.0.0",
		"localhost", "LOCALHOST.", "x.localhost", "private.example", "PRIVATE.example.", "nat64.example", "rebinding.example",
		"rebinding.example", "rebinding.example",
		"[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::ffff:0:127.0.0.1]", "[::127.0.0.1]", "[64:ff9b::127.0.0.1]",
		"[64:ff9b:1::127.0.0.1]", "[2002:7f00:1::]", "[2001:0:7f00:1::]", "[2001::80ff:fffe]", "[::1%25lo]", "[fe80::1%25eth0]",
		"[fd00::1]", "[fec0::1]",
		"10.0.0.1", "10.76.255.255", "172.16.0.1", "192.168.0.1", "169.254.169.254", "[fd00:ec2::254]", "100.100.100.200", "168.63.129.16",
		"192.0.0.192", "198.18.0.1", "224.0.0.1", "255.255.255.255",
		"user:pw@127.0.0.1", "public.example@127.0.0.1", "127.0.0.1#@public.example", "127.0.0.1?@public.example",
		"127.0.0.1\\@public.example",
	} {
		address := "http://" + host
		if !strings.ContainsAny(host, "#?\\") {
			address += ":" + port
		}
		address += "/"
		if ex, err := f.Fetch(t.Context(), Request{URL: address}); err == nil {
			if ex.Body != nil {
				t.Errorf("%s was fetched", address)
				ex.Body.Remove()
			}
		}
		for name, client := range map[string]*http.Client{"client": f.Client(), "patient client": f.Patient()} {
			u, err := url.Parse(address)
			if err != nil {
				continue
			}
			req := (&http.Request{Method: http.MethodGet, URL: u, Header: http.Header{}}).WithContext(t.Context())
			if resp, err := client.Do(req); err == nil {
				t.Errorf("%s answered %s", name, address)
				resp.Body.Close()
			}
		}
	}
	if n := reached.Load(); n > 0 {
		t.Errorf("a private server was reached %d times", n)
	}
}

func TestNoRedirectLeadsToAPrivateAddress(t *testing.T) {
	t.Parallel()
	var reached atomic.Int64
	private := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	l, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Skip("this system has one loopback address only: ", err)
	}
	private.Listener.Close()
	private.Listener = l
	private.Start()
	defer private.Close()
	to := private.URL
	public := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", strings.Replace(to, "127.0.0.2", r.URL.Query().Get("to"), 1))
		w.WriteHeader(http.StatusFound)
	}))
	defer public.Close()
	f := newFetcher(t, Options{AllowNets: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Timeouts: quick})
	for _, host := range []string{"127.0.0.2", "0x7f.0.0.2", "2130706434", "127.2", "[::ffff:127.0.0.2]", "[::ffff:7f00:2]"} {
		address := public.URL + "/?" + url.Values{"to": {host}}.Encode()
		if ex, err := f.Fetch(t.Context(), Request{URL: address}); err == nil && ex.Body != nil {
			t.Errorf("a redirect to %s was followed", host)
			ex.Body.Remove()
		}
		if resp, err := f.Client().Get(address); err == nil {
			t.Errorf("the client followed a redirect to %s", host)
			resp.Body.Close()
		}
	}
	if n := reached.Load(); n > 0 {
		t.Errorf("a private server was reached %d times", n)
	}
}
