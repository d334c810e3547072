package fetch

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"odarchive/crawler/catalog"
	"odarchive/crawler/web/hosts"
)

// secretsOf reads a secrets file with the text.
func secretsOf(t *testing.T, text string) map[string]*hosts.Secret {
	t.Helper()
	name := filepath.Join(t.TempDir(), "secrets.toml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	secrets, err := hosts.ReadSecrets(name)
	if err != nil {
		t.Fatal(err)
	}
	return secrets
}

// settingsFor returns a Settings function with settings for one host, the zero value for others.
func settingsFor(address string, s hosts.Settings) func(string) hosts.Settings {
	u, _ := url.Parse(address)
	return func(host string) hosts.Settings {
		if host == u.Host {
			return s
		}
		return hosts.Settings{}
	}
}

// wireTape keeps everything that a tape sees as text.
type wireTape struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *wireTape) Record(_ context.Context, ex *Exchange, _ *Original, _ bool) Taped {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, h := range ex.Hops {
		fmt.Fprintf(&w.text, "%s %s %s\n", h.URL, h.Request, h.Head)
	}
	return Taped{}
}

func TestALoginGoesToItsHostOnlyAndIsNotRecorded(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	got := map[string]http.Header{}
	note := func(name string, then http.HandlerFunc) *httptest.Server {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			got[name+r.URL.Path] = r.Header.Clone()
			mu.Unlock()
			then(w, r)
		}))
		t.Cleanup(s.Close)
		return s
	}
	other := note("other", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "file") })
	portal := note("portal", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "visit", Value: "1"})
		http.SetCookie(w, &http.Cookie{Name: "hunter-session", Value: "2"}) // as good as the login
		w.Header().Set("X-Who", "you:"+r.Header.Get("X-Api-Key"))
		w.Header()["X-Sent"] = r.Header["Authorization"]
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, other.URL+"/file", http.StatusFound)
		case "/again":
			http.Redirect(w, r, "/file", http.StatusFound)
		default:
			fmt.Fprint(w, "file")
		}
	})
	secrets := secretsOf(t, `
[portal]
user = "hunteruser"
password = "hunterpass"
cookie = "session=huntercookie"
headers = { X-Api-Key = "hunterkey" }
plain = true
[safe]
bearer = "huntersafe"
`)
	for _, c := range []struct {
		secret string
		sent   bool
	}{{"portal", true}, {"safe", false}} {
		tape := &wireTape{}
		f := newFetcher(t, Options{Tape: tape, Settings: settingsFor(portal.URL, hosts.Settings{
			UserAgent: "special/2.0", Headers: map[string]string{"X-Reason": "research"}, Secret: secrets[c.secret]})})
		for _, path := range []string{"/away", "/again"} {
			ex := get(t, f, Request{URL: portal.URL + path})
			if text(t, ex) != "file" {
				t.Fatalf("%+v", ex)
			}
			shown := fmt.Sprintf("%v %v %s %+v", ex.RequestHeader, ex.ResponseHeader, tape.text.String(), ex)
			for _, h := range ex.Hops {
				shown += string(h.Request)
			}
			if strings.Contains(shown, "hunter") || strings.Contains(shown, "aHVudGVydXNlc") {
				t.Errorf("%s: a secret is recorded: %s", path, shown)
			}
			if !strings.Contains(tape.text.String(), "X-Reason: research") {
				t.Errorf("%s: what is not secret is not recorded", path)
			}
		}
		for _, path := range []string{"portal/away", "portal/again", "portal/file"} {
			h := got[path]
			user, _, _ := (&http.Request{Header: h}).BasicAuth()
			if h.Get("User-Agent") != "special/2.0" || h.Get("X-Reason") != "research" {
				t.Errorf("%s got %v", path, h)
			}
			if is := user == "hunteruser" && h.Get("X-Api-Key") == "hunterkey" &&
				strings.Contains(h.Get("Cookie"), "session=huntercookie"); is != c.sent {
				t.Errorf("%s with [%s] got %v", path, c.secret, h)
			}
			if h.Get("Authorization") != "" && !c.sent {
				t.Errorf("%s got a login without TLS: %v", path, h)
			}
		}
		if h := got["portal/file"]; !strings.Contains(h.Get("Cookie"), "visit=1") {
			t.Errorf("the server's own cookie is lost: %v", h)
		}
		h := got["other/file"]
		if raw := fmt.Sprint(h); strings.Contains(raw, "hunter") || h.Get("Authorization") != "" || h.Get("X-Reason") != "" ||
			strings.Contains(raw, "special") {
			t.Errorf("the other host got %v", h)
		}
	}
}

func TestAnybodysRequestsDoNotHaveTheOperatorsLogin(t *testing.T) {
	t.Parallel()
	var got http.Header
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Clone() }))
	defer s.Close()
	secrets := secretsOf(t, "[a]\nbearer = \"hunter\"\nplain = true\n")
	f := newFetcher(t, Options{Settings: settingsFor(s.URL, hosts.Settings{Secret: secrets["a"], UserAgent: "special/1"})})
	for name, c := range map[string]struct {
		client *http.Client
		want   string
	}{"Client": {f.Client(), ""}, "Patient": {f.Patient(), ""}, "Portals": {&http.Client{Transport: f.Portals()}, "Bearer hunter"},
		"Taping": {&http.Client{Transport: f.Taping(&wireTape{})}, "Bearer hunter"}} {
		resp, err := c.client.Get(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if got.Get("Authorization") != c.want || got.Get("User-Agent") != "special/1" {
			t.Errorf("%s sent %v", name, got)
		}
	}
}

func TestTheSizeThatAnOperatorSetsForAHostReplacesTheUsualOne(t *testing.T) {
	t.Parallel()
	storage := httptest.NewServer(
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat("x", 3000)) }))
	defer storage.Close()
	portal := httptest.NewServer(http.RedirectHandler(storage.URL, http.StatusFound))
	defer portal.Close()
	for _, c := range []struct {
		host string
		size int64
		want catalog.ErrorClass
	}{{portal.URL, 4000, ""}, {storage.URL, 4000, ""}, {portal.URL, 1000, catalog.ErrTooLarge},
		{"http://nobody.example", 4000, catalog.ErrTooLarge}} {
		f := newFetcher(t, Options{MaxBody: 2000, Settings: settingsFor(c.host, hosts.Settings{MaxBody: c.size})})
		if ex := get(t, f, Request{URL: portal.URL}); ex.ErrorClass != c.want {
			t.Errorf("%+v: %q %s", c, ex.ErrorClass, ex.Why)
		}
	}
}

func TestAClientCertificateIsShownToItsHostOnly(t *testing.T) {
	t.Parallel()
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%d certificates", len(r.TLS.PeerCertificates))
	})
	server := func() *httptest.Server {
		s := httptest.NewUnstartedServer(handler)
		s.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
		s.StartTLS()
		t.Cleanup(s.Close)
		return s
	}
	mine, other := server(), server()
	dir := t.TempDir()
	own := mine.TLS.Certificates[0]
	key, err := x509Key(own)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"cert.pem": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: own.Certificate[0]}), "key.pem": key,
		"secrets.toml": []byte("[me]\ncertificate = \"cert.pem\"\nkey = \"key.pem\"\n")}
	for name, raw := range files {
		if err := os.WriteFile(filepath.Join(dir, name), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	secrets, err := hosts.ReadSecrets(filepath.Join(dir, "secrets.toml"))
	if err != nil {
		t.Fatal(err)
	}
	roots := mine.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	f := newFetcher(t, Options{RootCAs: roots, Settings: settingsFor(mine.URL, hosts.Settings{Secret: secrets["me"]})})
	for address, want := range map[string]string{mine.URL: "1 certificates", other.URL: "0 certificates"} {
		if got := text(t, get(t, f, Request{URL: address})); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "key.pem"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := hosts.ReadSecrets(filepath.Join(dir, "secrets.toml")); err == nil {
		t.Error("a key that others may read is accepted")
	}
}

// x509Key returns the private key of a certificate in PEM.
func x509Key(c tls.Certificate) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), err
}

// proxyServer is a proxy for tests: HTTP with CONNECT and plain requests, or SOCKS5. It connects to what the table
// names instead of a target, or to the target.
type proxyServer struct {
	l       net.Listener
	socks   bool
	login   string // "user:password"; "" for none
	routes  map[string]string
	refuses string // status of refusals to connect

	mu      sync.Mutex
	targets []string
}

func startProxy(t *testing.T, p *proxyServer) *proxyServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.l = l
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				if p.socks {
					p.serveSOCKS(conn)
				} else {
					p.serveHTTP(conn)
				}
			}()
		}
	}()
	return p
}

func (p *proxyServer) url(scheme string) *hosts.Proxy {
	return &hosts.Proxy{URL: &url.URL{Scheme: scheme, Host: p.l.Addr().String()}}
}

func (p *proxyServer) connect(target string) (net.Conn, error) {
	p.mu.Lock()
	p.targets = append(p.targets, target)
	to := target
	if route, ok := p.routes[target]; ok {
		to = route
	}
	p.mu.Unlock()
	return net.Dial("tcp", to)
}

func (p *proxyServer) asked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string{}, p.targets...)
}

func join(a, b io.ReadWriter) {
	done := make(chan struct{}, 2)
	go func() { _, _ = io.Copy(a, b); done <- struct{}{} }()
	go func() { _, _ = io.Copy(b, a); done <- struct{}{} }()
	<-done
}

func (p *proxyServer) serveHTTP(conn net.Conn) {
	from := bufio.NewReader(conn)
	for {
		req, err := http.ReadRequest(from)
		if err != nil {
			return
		}
		login := &http.Request{Header: http.Header{"Authorization": req.Header["Proxy-Authorization"]}}
		if user, password, _ := login.BasicAuth(); p.login != "" && user+":"+password != p.login {
			fmt.Fprint(conn, "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
			return
		}
		if p.refuses != "" {
			fmt.Fprintf(conn, "HTTP/1.1 %s\r\nContent-Length: 0\r\n\r\n", p.refuses)
			return
		}
		target := req.Host
		if req.Method != http.MethodConnect && !strings.Contains(target, ":") {
			target += ":80"
		}
		to, err := p.connect(target)
		if err != nil {
			fmt.Fprint(conn, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
			return
		}
		if req.Method == http.MethodConnect {
			fmt.Fprint(conn, "HTTP/1.1 200 OK\r\n\r\n")
			join(struct {
				io.Reader
				io.Writer
			}{from, conn}, to)
			_ = to.Close()
			return
		}
		if req.URL.Host == "" {
			fmt.Fprint(conn, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
			return
		}
		req.Header.Del("Proxy-Authorization")
		_ = req.Write(to)
		resp, err := http.ReadResponse(bufio.NewReader(to), req)
		if err == nil {
			_ = resp.Write(conn)
		}
		_ = to.Close()
	}
}

func (p *proxyServer) serveSOCKS(conn net.Conn) {
	b := make([]byte, 512)
	read := func(n int) []byte { _, _ = io.ReadFull(conn, b[:n]); return b[:n] }
	read(int(read(2)[1]))
	if p.login == "" {
		_, _ = conn.Write([]byte{5, 0})
	} else {
		_, _ = conn.Write([]byte{5, 2})
		user := string(read(int(read(2)[1])))
		password := string(read(int(read(1)[0])))
		if user+":"+password != p.login {
			_, _ = conn.Write([]byte{1, 1})
			return
		}
		_, _ = conn.Write([]byte{1, 0})
	}
	var host string
	switch read(4)[3] {
	case 1:
		host = netip.AddrFrom4([4]byte(read(4))).String()
	case 4:
		host = netip.AddrFrom16([16]byte(read(16))).String()
	case 3:
		host = string(read(int(read(1)[0])))
	}
	port := read(2)
	to, err := p.connect(net.JoinHostPort(host, fmt.Sprint(int(port[0])<<8|int(port[1]))))
	if err != nil || p.refuses != "" {
		_, _ = conn.Write([]byte{5, 5, 0, 1, 0, 0, 0, 0, 0, 0})
		return
	}
	_, _ = conn.Write([]byte{5, 0, 0, 3, 3, 'a', 'b', 'c', 0, 0})
	join(conn, to)
	_ = to.Close()
}

func TestRequestsGoThroughAProxyToAnAddressThatWasChecked(t *testing.T) {
	t.Parallel()
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "plain ", r.Host, r.RequestURI, r.Header["Proxy-Authorization"])
	}))
	defer plain.Close()
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "secure ", r.Host) }))
	defer secure.Close()
	names := resolverFunc(func(host string) ([]netip.Addr, error) {
		switch host {
		case "example.com":
			return []netip.Addr{netip.MustParseAddr("203.0.114.7")}, nil
		case "inside.example.com":
			return []netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil
		}
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	})
	login := secretsOf(t, "[p]\nuser = \"me\"\npassword = \"hunter\"\n")["p"]
	routes := map[string]string{}
	for from, to := range map[string]*httptest.Server{"203.0.114.7:80": plain, "203.0.114.7:443": secure, "example.com:80": plain,
		"example.com:443": secure, "only.example.com:80": plain} {
		routes[from] = to.Listener.Addr().String()
	}
	roots := secure.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	for _, scheme := range []string{"http", "socks5"} {
		for _, resolves := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s resolves %v", scheme, resolves), func(t *testing.T) {
				p := startProxy(t, &proxyServer{socks: scheme == "socks5", login: "me:hunter", routes: routes})
				via := p.url(scheme)
				via.Resolves, via.Secret, via.Global = resolves, login, true
				tape := &wireTape{}
				f := newFetcher(t, Options{AllowNets: []netip.Prefix{}, RootCAs: roots, Resolver: names, Tape: tape,
					Settings: func(string) hosts.Settings { return hosts.Settings{Proxy: via} }})
				for address, want := range map[string]string{"http://example.com/a?b=c": "plain example.com/a?b=c[]",
					"https://example.com/": "secure example.com"} {
					ex := get(t, f, Request{URL: address})
					if got := text(t, ex); got != want {
						t.Errorf("%s: %q %s, want %q", address, got, ex.Why, want)
					}
					if addr := map[bool]string{false: "203.0.114.7", true: ""}[resolves]; !strings.HasPrefix(ex.RemoteAddr, addr) ||
						resolves && ex.RemoteAddr != "" {
						t.Errorf("%s: the address is %q", address, ex.RemoteAddr)
					}
				}
				for _, target := range p.asked() {
					if strings.HasPrefix(target, "example.com") != resolves {
						t.Errorf("the proxy was asked for %s", target)
					}
				}
				before := len(p.asked())
				for _, address := range []string{"http://inside.example.com/", "https://inside.example.com/", "http://127.0.0.1/",
					"https://[::1]/", "http://169.254.169.254/latest/meta-data/"} {
					if ex := get(t, f, Request{URL: address}); ex.Outcome != catalog.Blocked ||
						ex.ErrorClass != catalog.ErrForbiddenTarget {
						t.Errorf("%s: %s %s", address, ex.Outcome, ex.Why)
					}
				}
				if after := p.asked(); len(after) != before {
					t.Errorf("the proxy was asked for forbidden addresses: %v", after[before:])
				}
				ex := get(t, f, Request{URL: "http://only.example.com/"})
				if got := text(t, ex); resolves && got != "plain only.example.com/[]" || !resolves && ex.ErrorClass != catalog.ErrDNS {
					t.Errorf("a name that only the proxy knows: %q %s", got, ex.Why)
				}
				if resp, err := f.Client().Get("https://example.com/"); err != nil || resp.Body.Close() != nil {
					t.Errorf("Client: %v", err)
				}
				if shown := tape.text.String(); strings.Contains(shown, "hunter") || strings.Contains(shown, "Proxy-Auth") || shown == "" {
					t.Errorf("recorded: %s", shown)
				}
			})
		}
	}
}

func TestTheTroubleOfAProxyIsNoHosts(t *testing.T) {
	t.Parallel()
	down, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = down.Close()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	garbage := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer garbage.Close()
	loginWanted := startProxy(t, &proxyServer{login: "a:b"})
	socksLogin := startProxy(t, &proxyServer{login: "a:b", socks: true})
	forbids := startProxy(t, &proxyServer{refuses: "403 Forbidden"})
	socksForbids := startProxy(t, &proxyServer{refuses: "x", socks: true})
	at := func(scheme, host string) *hosts.Proxy { return &hosts.Proxy{URL: &url.URL{Scheme: scheme, Host: host}} }
	for name, c := range map[string]struct {
		via  *hosts.Proxy
		ours bool
	}{
		"down":                {at("http", down.Addr().String()), true},
		"SOCKS down":          {at("socks5", down.Addr().String()), true},
		"silent":              {at("http", silent.Addr().String()), true},
		"SOCKS silent":        {at("socks5", silent.Addr().String()), true},
		"not a SOCKS proxy":   {at("socks5", garbage.Listener.Addr().String()), true},
		"unknown name":        {at("http", "proxy.example:8080"), true},
		"a login is missing":  {loginWanted.url("http"), true},
		"SOCKS login missing": {socksLogin.url("socks5"), true},
		"forbids the host":    {forbids.url("http"), false},
		"SOCKS forbids":       {socksForbids.url("socks5"), false},
	} {
		for _, global := range []bool{false, true} {
			via := *c.via
			via.Global = global
			f := newFetcher(t,
				Options{Timeouts: Timeouts{Connect: 300 * 1e6},
					Settings: func(string) hosts.Settings { return hosts.Settings{Proxy: &via} },
					Resolver: resolverFunc(func(string) ([]netip.Addr, error) {
						return nil, &net.DNSError{Err: "no such host", Name: "proxy.example", IsNotFound: true}
					})})
			ex, err := f.Fetch(t.Context(), Request{URL: "http://127.0.0.1:9999/"})
			var trouble *ProxyTrouble
			var own *OwnTrouble
			switch {
			case !c.ours && (err != nil || ex.ErrorClass != catalog.ErrNetwork || ex.Unreachable || !ex.Reached.IsZero()):
				t.Errorf("%s: %v, %+v", name, err, ex)
			case c.ours && !errors.As(err, &trouble):
				t.Errorf("%s: %v, %+v", name, err, ex)
			case c.ours && errors.As(err, &own) != global:
				t.Errorf("%s, global %v: %v", name, global, err)
			}
		}
	}
}

func TestTheOutcomeSaysHowLargeAHeaderMayBe(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X", strings.Repeat("x", 300<<10))
	}))
	defer s.Close()
	ex := get(t, newFetcher(t, Options{}), Request{URL: s.URL})
	if ex.ErrorClass != catalog.ErrHeaderTooLarge ||
		ex.Why != "the header of the response is larger than 256 KiB, which is the most that is read of one" {
		t.Errorf("%s: %s", ex.ErrorClass, ex.Why)
	}
}
