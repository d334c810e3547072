// Package webtest is a small web in a text file, for tests: hosts with robots.txt, redirects and entity tags, files that
// change, servers that misbehave.
//
// The file is a txtar archive. A section "data.example/a.csv" is what http://data.example/a.csv answers; lines at its
// beginning that start with '>' are directives (see page.go), the rest is the body. A section "data.example" holds directives
// of the host. Later states of a page are sections "data.example/a.csv @2", served from state 2 on (SetState), or
// "... @2026-11-22T10:00:00Z", served from that time on.
//
// Every host is a real HTTP server on a loopback port of its own. Names get made-up public addresses; LookupNetIP and Dial
// lead there, so that a client under test resolves, checks and connects as it would outside, and nothing leaves the
// process. All requests are recorded; Broken says which promises of a polite crawler they break.
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
	Now func() time.Time // chooses states by time; time.Now
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
	name   string // with port, where it is not the scheme's own
	addrs  []netip.Addr
	port   uint16
	secure string // "" plain; "good", "expired", "self-signed", "wrong-name"
	pages  map[string]*page
	real   string // loopback address
	server *http.Server

	inFlight, most int // guarded by web.mu
}

// Request is one that was received.
type Request struct {
	Host   string // as asked for, with port where it is not the scheme's own
	Method string
	Path   string // with query, as it was sent
	Header http.Header
	Proto  string
	Remote string
	Start  time.Time
	End    time.Time // zero while it is being answered
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

// section takes in one section of the archive.
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
		case "address": // may be repeated; else a public one is made up
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

// LookupNetIP finds the made-up addresses of a host: the web's own DNS.
func (w *Web) LookupNetIP(ctx context.Context, network, name string) ([]netip.Addr, error) {
	for _, h := range w.hosts {
		if n, _, _ := strings.Cut(h.name, ":"); n == strings.TrimSuffix(name, ".") {
			return h.addrs, nil
		}
	}
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

// Dial connects to the server behind a made-up address.
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

// RootCAs are those that vouch for the hosts with good certificates.
func (w *Web) RootCAs() *x509.CertPool {
	if w.ca == nil {
		return x509.NewCertPool()
	}
	return w.ca.pool()
}

// Wants maps the URLs of pages with a "want" directive to its text.
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

// SetState moves the web to a state: pages are served as their last section up to it says.
func (w *Web) SetState(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.state = n
}

// Requests that were received so far, in order; those under way have no end yet.
func (w *Web) Requests() []Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make([]Request, len(w.requests))
	for i, r := range w.requests {
		all[i] = *r
	}
	return all
}

// Forget the requests received so far.
func (w *Web) Forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests = nil
	for _, h := range w.hosts {
		h.most = h.inFlight
	}
}

// Promises of a polite crawler, checked by Broken.
type Promises struct {
	Delay  func(host string) time.Duration // least time between the starts of two requests; nil: none
	Denied func(host, path string) bool    // must not be asked for; nil: nothing
}

// Broken lists, in words, what was done against the promises: more than one request of a host at a time, too little time
// between two, a forbidden path, a method other than GET.
func (w *Web) Broken(p Promises) []string {
	var broken []string
	last := map[string]Request{}
	for _, r := range w.Requests() {
		if before, ok := last[r.Host]; ok && p.Delay != nil {
			if d, least := r.Start.Sub(before.Start), p.Delay(r.Host); d < least {
				broken = append(broken, fmt.Sprintf("%s was asked for %s only %v after %s, less than %v", r.Host, r.Path, d, before.Path, least))
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
		if most := w.hosts[name].most; most > 1 {
			broken = append(broken, fmt.Sprintf("%s had to answer %d requests at a time", name, most))
		}
	}
	return broken
}
