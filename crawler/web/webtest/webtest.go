// Package webtest serves a small web from a text file, for tests: hosts with robots.txt, redirects and entity tags,
// files that change, servers that misbehave.
//
// The file is a txtar archive. The section "data.example/a.csv" is the response to http://data.example/a.csv. Its first
// lines that begin with '>' are directives (see page.go), the rest is the body. The section "data.example" has
// directives for the host. Later states of a page are sections "data.example/a.csv @2", served from state 2 on
// (SetState), or "... @2026-11-22T10:00:00Z", served from that time on.
//
// Every host is a real HTTP server on a loopback port. Names get invented public addresses, which LookupNetIP and Dial
// map to these ports, so a client under test resolves, checks and connects as usual, and nothing leaves the process.
// All requests are recorded. Broken lists the promises of a polite crawler that they break.
package webtest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"golang.org/x/sync/errgroup"
)

// Options of a web. The zero value serves the first states.
type Options struct {
	Now func() time.Time // the clock for states by time; default time.Now
}

// Web is a running web. Its methods may be called concurrently.
type Web struct {
	opts    Options
	hosts   map[string]*host
	byAddr  map[netip.AddrPort]*host
	servers errgroup.Group
	ca      *authority
	closing chan struct{}

	mu       sync.Mutex // guards what follows
	state    int
	requests []*Request
}

// host is one server.
type host struct {
	web    *Web
	name   string // with the port if it is not the scheme's default
	addrs  []netip.Addr
	port   uint16
	secure string // "" for no TLS; "good", "expired", "self-signed", "wrong-name"
	pages  map[string]*page
	real   string // loopback address
	server *http.Server

	inFlight, maxInFlight int // requests being served; guarded by web.mu
}

// Request is a received request.
type Request struct {
	Host   string // with the port if it is not the scheme's default
	Method string
	Path   string // with the query, as it was sent
	Header http.Header
	Proto  string
	Remote string
	Start  time.Time
	End    time.Time // zero while it is being served
}

// Start serves the web of a txtar archive until Close.
func Start(archive []byte, opts Options) (*Web, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	w := &Web{opts: opts, hosts: map[string]*host{}, byAddr: map[netip.AddrPort]*host{}, closing: make(chan struct{})}
	for _, f := range txtar.Parse(archive).Files {
		if err := w.section(f.Name, f.Data); err != nil {
			return nil, fmt.Errorf("webtest: section %q: %w", f.Name, err)
		}
	}
	for i, name := range slices.Sorted(maps.Keys(w.hosts)) {
		if err := w.listen(w.hosts[name], i); err != nil {
			w.Close()
			return nil, fmt.Errorf("webtest: host %s: %w", name, err)
		}
	}
	return w, nil
}

// section adds one section of the archive.
func (w *Web) section(name string, data []byte) error {
	name, state, err := cutState(name)
	if err != nil {
		return err
	}
	hostName, path, isPage := strings.Cut(name, "/")
	h := w.hosts[hostName]
	if h == nil {
		h = &host{web: w, name: hostName, pages: map[string]*page{}, port: 80}
		w.hosts[hostName] = h
		if _, port, err := net.SplitHostPort(hostName); err == nil {
			if _, err := fmt.Sscan(port, &h.port); err != nil {
				return err
			}
		}
	}
	directives, body := cutDirectives(data)
	if !isPage {
		return h.configure(directives)
	}
	p := h.pages["/"+path]
	if p == nil {
		p = &page{}
		h.pages["/"+path] = p
	}
	a, err := newAnswer(directives, body)
	if err != nil {
		return err
	}
	a.from = state
	p.answers = append(p.answers, a)
	return nil
}

func (h *host) configure(directives []string) error {
	for _, d := range directives {
		word, arg, _ := strings.Cut(d, " ")
		switch word {
		case "address": // may be repeated; the default is an invented public address
			a, err := netip.ParseAddr(arg)
			if err != nil {
				return err
			}
			h.addrs = append(h.addrs, a)
		case "tls": // good, expired, self-signed or wrong-name; on port 443 unless the name has one
			h.secure = arg
			if !strings.Contains(h.name, ":") {
				h.port = 443
			}
		default:
			return fmt.Errorf("unknown directive %q", d)
		}
	}
	return nil
}

func (w *Web) listen(h *host, i int) error {
	if len(h.addrs) == 0 {
		h.addrs = []netip.Addr{netip.AddrFrom4([4]byte{45, byte(i >> 16), byte(i >> 8), byte(i) | 1<<7})}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	h.real = l.Addr().String()
	for _, a := range h.addrs {
		w.byAddr[netip.AddrPortFrom(a, h.port)] = h
	}
	h.server = &http.Server{Handler: h, ErrorLog: quiet}
	if h.secure != "" {
		if w.ca == nil {
			if w.ca, err = newAuthority(); err != nil {
				return err
			}
		}
		name, _, _ := strings.Cut(h.name, ":")
		cert, err := w.ca.certificate(name, h.secure)
		if err != nil {
			return err
		}
		h.server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"h2", "http/1.1"}}
		w.servers.Go(func() error { return h.server.ServeTLS(l, "", "") })
		return nil
	}
	w.servers.Go(func() error { return h.server.Serve(l) })
	return nil
}

// Close stops all servers and cuts all connections.
func (w *Web) Close() {
	close(w.closing)
	for _, h := range w.hosts {
		if h.server != nil {
			_ = h.server.Close() // always closes
		}
	}
	_ = w.servers.Wait() // always http.ErrServerClosed
}

// LookupNetIP returns the invented addresses of a host. It replaces DNS.
func (w *Web) LookupNetIP(ctx context.Context, network, name string) ([]netip.Addr, error) {
	for _, h := range w.hosts {
		if n, _, _ := strings.Cut(h.name, ":"); n == strings.TrimSuffix(name, ".") {
			return h.addrs, nil
		}
	}
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

// Dial connects to the server with an invented address.
func (w *Web) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, err
	}
	h, ok := w.byAddr[at]
	if !ok {
		return nil, &net.OpError{Op: "dial", Net: network, Err: errors.New("connection refused: nobody is at " + address)}
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", h.real)
}

// RootCAs returns the root certificates for the hosts with good certificates.
func (w *Web) RootCAs() *x509.CertPool {
	if w.ca == nil {
		return x509.NewCertPool()
	}
	return w.ca.pool()
}

// Wants returns the text of the "want" directive by URL.
func (w *Web) Wants() map[string]string {
	wants := map[string]string{}
	for _, h := range w.hosts {
		scheme := "http://"
		if h.secure != "" {
			scheme = "https://"
		}
		for path, p := range h.pages {
			for _, a := range p.answers {
				if a.want != "" {
					wants[scheme+h.name+path] = a.want
				}
			}
		}
	}
	return wants
}

// SetState sets the state of the web. Each page is served as its last section up to that state.
func (w *Web) SetState(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.state = n
}

// Requests returns the requests received so far, in order. Those being served have no End yet.
func (w *Web) Requests() []Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make([]Request, len(w.requests))
	for i, r := range w.requests {
		all[i] = *r
	}
	return all
}

// Forget drops the requests received so far.
func (w *Web) Forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests = nil
	for _, h := range w.hosts {
		h.maxInFlight = h.inFlight
	}
}

// Promises are the promises of a polite crawler that Broken checks.
type Promises struct {
	Delay  func(host string) time.Duration // minimum time between the starts of two requests; nil for none
	Denied func(host, path string) bool    // reports pages that must not be requested; nil for none
}

// Broken returns a sentence for each broken promise: several requests to a host at a time, too little time between two
// requests, a forbidden path, a method other than GET.
func (w *Web) Broken(p Promises) []string {
	var broken []string
	last := map[string]Request{}
	for _, r := range w.Requests() {
		if before, ok := last[r.Host]; ok && p.Delay != nil {
			if d, delay := r.Start.Sub(before.Start), p.Delay(r.Host); d < delay {
				broken = append(broken,
					fmt.Sprintf("%s was asked for %s only %v after %s, less than %v", r.Host, r.Path, d, before.Path, delay))
			}
		}
		if p.Denied != nil && p.Denied(r.Host, r.Path) {
			broken = append(broken, fmt.Sprintf("%s was asked for %s, which is forbidden", r.Host, r.Path))
		}
		if r.Method != http.MethodGet {
			broken = append(broken, fmt.Sprintf("%s was asked with %s", r.Host, r.Method))
		}
		last[r.Host] = r
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(w.hosts)) {
		if n := w.hosts[name].maxInFlight; n > 1 {
			broken = append(broken, fmt.Sprintf("%s had to answer %d requests at a time", name, n))
		}
	}
	return broken
}
