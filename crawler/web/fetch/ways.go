package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"odarchive/crawler/web/hosts"
)

// way is how a request travels. Requests with the same way share a transport, so a connection that was opened with a
// client certificate, without verification or through a proxy serves no other requests.
type way struct {
	purpose     purpose
	relaxed     bool          // certificates are not verified
	conns       int           // to a host
	certificate *hosts.Secret // nil for none
	proxy       string        // address; "" for none
	resolves    bool          // the proxy resolves names
	global      bool          // the proxy is that of the whole program
	login       *hosts.Secret // of the proxy
	asked       bool          // the proxy is asked for the file itself, not for a tunnel
	older       bool          // HTTP/1.1 only
}

type purpose byte

const (
	forVisits  purpose = iota
	forClients         // for Client
	forPatient         // for Patient
)

// wayTo returns the way of requests by a scheme to a host with settings.
func wayTo(scheme string, set hosts.Settings, relaxed bool, p purpose) way {
	w := way{purpose: p, relaxed: relaxed, conns: 8} // several queries may use one endpoint
	if p == forVisits {
		w.conns = max(1, set.Parallel)
	}
	if scheme == "https" && set.Secret.Certificate() != nil {
		w.certificate = set.Secret
	}
	if via := set.Proxy; via != nil {
		w.proxy, w.resolves, w.global, w.login = via.URL.String(), via.Resolves, via.Global, via.Secret
		w.asked = via.Resolves && scheme == "http" && via.URL.Scheme != "socks5" && set.Resolve.IsZero()
	}
	return w
}

// maxWays is the maximum number of transports that are kept. Only an operator's settings make new ones.
const maxWays = 64

// ways has the transports. The zero value is ready to use.
type ways struct {
	mu  sync.Mutex // guards all
	all map[way]*http.Transport
}

// of returns the transport of a way.
func (ws *ways) of(f *Fetcher, w way) *http.Transport {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if t, ok := ws.all[w]; ok {
		return t
	}
	for old, t := range ws.all {
		if len(ws.all) < maxWays {
			break
		}
		delete(ws.all, old) // requests under way go on
		t.CloseIdleConnections()
	}
	if ws.all == nil {
		ws.all = map[way]*http.Transport{}
	}
	t := f.transport(w)
	ws.all[w] = t
	return t
}

func (ws *ways) closeIdle() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, t := range ws.all {
		t.CloseIdleConnections()
	}
}

func (f *Fetcher) transport(w way) *http.Transport {
	// some open data is on old servers
	config := &tls.Config{RootCAs: f.opts.RootCAs, InsecureSkipVerify: w.relaxed, MinVersion: tls.VersionTLS10,
		NextProtos: []string{"h2", "http/1.1"}}
	if !w.relaxed {
		config.MinVersion = tls.VersionTLS12
	}
	if w.older {
		config.NextProtos = []string{"http/1.1"}
	}
	if c := w.certificate.Certificate(); c != nil {
		config.Certificates = []tls.Certificate{*c}
	}
	dial := f.dial
	var via *hosts.Proxy
	if w.proxy != "" {
		u, _ := url.Parse(w.proxy) // it was parsed before
		via = &hosts.Proxy{URL: u, Resolves: w.resolves, Global: w.global, Secret: w.login}
		dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			return f.dialVia(ctx, network, address, via)
		}
	}
	t := &http.Transport{
		Proxy:                  nil, // dial uses the proxy, after it has checked the address
		DialContext:            dialPlain(dial),
		DialTLSContext:         f.dialTLS(config, dial),
		ResponseHeaderTimeout:  f.opts.Timeouts.Header,
		MaxResponseHeaderBytes: f.opts.MaxHeader,
		DisableCompression:     true, // decoder decodes, within limits
		MaxConnsPerHost:        w.conns,
		MaxIdleConnsPerHost:    w.conns,
		MaxIdleConns:           512,
		IdleConnTimeout:        20 * time.Second,
		ForceAttemptHTTP2:      !w.older,
	}
	if w.purpose == forPatient {
		t.ResponseHeaderTimeout = 0
	}
	if w.asked { // connections are to the proxy, for all hosts
		t.Proxy = http.ProxyURL(via.URL)
		t.MaxConnsPerHost, t.MaxIdleConnsPerHost = 0, 64
		toProxy := dialPlain(func(ctx context.Context, network, _ string) (net.Conn, error) {
			conn, err := f.dialProxy(ctx, network, via)
			if err != nil {
				return nil, err
			}
			return &tunnel{Conn: conn}, nil
		})
		t.DialContext, t.DialTLSContext = toProxy, toProxy
	}
	return t
}

// send sends a request on a way.
func (f *Fetcher) send(w way, req *http.Request) (*http.Response, error) {
	if w.asked { // no address is dialled that could be checked then
		if err := f.checkName(req.Context(), req.URL.Hostname()); err != nil {
			return nil, err
		}
		if user, password, ok := w.login.Login(); ok {
			req = req.Clone(req.Context())
			login := &http.Request{Header: http.Header{}}
			login.SetBasicAuth(user, password)
			req.Header["Proxy-Authorization"] = login.Header["Authorization"]
		}
	}
	resp, err := f.ways.of(f, w).RoundTrip(req)
	if err != nil && requiresHTTP1(err) {
		if again := repeated(req); again != nil {
			w.older = true
			resp, err = f.ways.of(f, w).RoundTrip(again)
		}
	}
	if err == nil && w.asked && resp.StatusCode == http.StatusProxyAuthRequired {
		_ = resp.Body.Close()
		return nil, proxyTrouble(w.proxy, w.global, errors.New(resp.Status))
	}
	return resp, err
}

// requiresHTTP1 reports whether a server has refused a request of HTTP/2 because it answers it over HTTP/1.1 only, as
// some do where a login is by connection (RFC 9113, section 7: HTTP_1_1_REQUIRED). The types of these errors are not
// exported.
func requiresHTTP1(err error) bool { return strings.Contains(err.Error(), "HTTP_1_1_REQUIRED") }

// repeated returns a request to be sent once more, or nil if its body cannot be.
func repeated(req *http.Request) *http.Request {
	if req.Body == nil || req.Body == http.NoBody {
		return req
	}
	if req.GetBody == nil {
		return nil
	}
	body, err := req.GetBody()
	if err != nil {
		return nil
	}
	again := req.Clone(req.Context())
	again.Body = body
	return again
}

// dialPlain connects for http.
func dialPlain(dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &wireConn{Conn: conn}, nil
	}
}

type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// errHandshake is the cause of a context that Timeouts.TLS ended.
var errHandshake = &handshakeError{}

type handshakeError struct{}

func (*handshakeError) Error() string { return "the TLS handshake takes too long" }
func (*handshakeError) Timeout() bool { return true }

// dialTLS connects for https. If the host speaks HTTP/2, the connection is a *tls.Conn, as the transport demands.
func (f *Fetcher) dialTLS(config *tls.Config, dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		plain, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		config := config.Clone()
		config.ServerName, _, _ = net.SplitHostPort(address)
		conn := tls.Client(plain, config)
		ctx, cancel := context.WithTimeoutCause(ctx, f.opts.Timeouts.TLS, errHandshake)
		defer cancel()
		if err := conn.HandshakeContext(ctx); err != nil {
			_ = plain.Close()
			if cause := context.Cause(ctx); errors.Is(cause, errHandshake) {
				err = cause
			}
			return nil, err
		}
		state := conn.ConnectionState()
		if state.NegotiatedProtocol == "h2" {
			return conn, nil
		}
		return &wireConn{Conn: conn, tls: &state}, nil
	}
}
