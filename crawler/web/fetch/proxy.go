package fetch

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"odarchive/crawler/web/hosts"
)

// Requests through a proxy keep the guard's promise as far as the proxy permits it. This program resolves the name,
// checks the address, and asks the proxy for a tunnel to that address (CONNECT, or SOCKS5): then the proxy never sees a
// name, and none can lead elsewhere. If the operator says that the proxy resolves names, addresses in URLs are checked,
// and so are the names that this program can resolve; but the proxy may find another address for a name, and only its
// own rules keep it from private ones. http:// is then requested of an HTTP proxy without a tunnel, which most of them
// permit for port 443 only.

// ProxyTrouble is the error of a request whose proxy could not be used. It says nothing about the host. If all requests
// go through the proxy, the error is an *OwnTrouble that wraps it.
type ProxyTrouble struct {
	Proxy string
	Err   error
}

func (p *ProxyTrouble) Error() string { return fmt.Sprintf("the proxy %s: %v", p.Proxy, p.Err) }
func (p *ProxyTrouble) Unwrap() error { return p.Err }

// TroubleProxy is trouble with the proxy of all requests.
const TroubleProxy Trouble = "the proxy cannot be used"

func proxyTrouble(proxy string, global bool, err error) error {
	trouble := &ProxyTrouble{proxy, err}
	if global {
		return &OwnTrouble{TroubleProxy, trouble}
	}
	return trouble
}

// proxyRefusal is the error of a proxy that works and does not connect to a host.
type proxyRefusal struct{ proxy, target, why string }

func (p *proxyRefusal) Error() string {
	return fmt.Sprintf("the proxy %s does not connect to %s: %s", p.proxy, p.target, p.why)
}

// tunnel is a connection through a proxy.
type tunnel struct {
	net.Conn
	from   *bufio.Reader // nil if nothing was read ahead
	remote net.Addr      // of the host; nil if only the proxy knows it
}

func (t *tunnel) Read(p []byte) (int, error) {
	if t.from != nil {
		return t.from.Read(p)
	}
	return t.Conn.Read(p)
}

// RemoteAddr returns the address of the host, which is "" if only the proxy knows it.
func (t *tunnel) RemoteAddr() net.Addr {
	if t.remote == nil {
		return unknownAddr{}
	}
	return t.remote
}

type unknownAddr struct{}

func (unknownAddr) Network() string { return "tcp" }
func (unknownAddr) String() string  { return "" }

// checkName returns an error if a name, or address, is known to have forbidden addresses only. It is for proxies that
// resolve names.
func (f *Fetcher) checkName(ctx context.Context, name string) error {
	addrs, err := f.resolve(ctx, name)
	if err != nil { // perhaps only the proxy can resolve it
		return nil
	}
	for _, a := range addrs {
		if f.guard.allows(a) {
			return nil
		}
	}
	return &forbiddenError{name, addrs[0]}
}

// dialVia connects to a host and port through a proxy, nil for none.
func (f *Fetcher) dialVia(ctx context.Context, network, address string, via *hosts.Proxy) (net.Conn, error) {
	if via == nil {
		return f.dial(ctx, network, address)
	}
	if via.Resolves && f.place(address).IsZero() {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		if err := f.checkName(ctx, host); err != nil {
			return nil, err
		}
		return f.tunnelTo(ctx, network, via, host, port)
	}
	to, err := f.locate(ctx, address)
	if err != nil {
		return nil, err
	}
	return f.firstAllowed(ctx, to, func(a netip.Addr) (net.Conn, bool, error) {
		conn, err := f.tunnelTo(ctx, network, via, a.String(), to.port)
		var refused *proxyRefusal // another address may be permitted; a proxy that does not work is the same for all
		return conn, errors.As(err, &refused), err
	})
}

// dialProxy connects to a proxy, whose address is the operator's choice and not checked.
func (f *Fetcher) dialProxy(ctx context.Context, network string, via *hosts.Proxy) (net.Conn, error) {
	conn, err := f.connectProxy(ctx, network, via)
	if err != nil && ctx.Err() == nil && ownTrouble(err) == nil {
		err = proxyTrouble(via.String(), via.Global, err)
	}
	return conn, err
}

func (f *Fetcher) connectProxy(ctx context.Context, network string, via *hosts.Proxy) (net.Conn, error) {
	addrs, err := f.resolve(ctx, via.URL.Hostname())
	if err != nil {
		return nil, err
	}
	var conn net.Conn
	for _, a := range addrs {
		if conn, err = f.dialOne(ctx, network, net.JoinHostPort(a.Unmap().String(), via.URL.Port())); err == nil || ctx.Err() != nil {
			break
		}
	}
	if err != nil || via.URL.Scheme != "https" {
		return conn, err
	}
	secure := tls.Client(conn, &tls.Config{RootCAs: f.opts.RootCAs, ServerName: via.URL.Hostname()})
	ctx, cancel := context.WithTimeoutCause(ctx, f.opts.Timeouts.TLS, errHandshake)
	defer cancel()
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return secure, nil
}

// tunnelTo connects to a host, a name or address, through a proxy.
func (f *Fetcher) tunnelTo(ctx context.Context, network string, via *hosts.Proxy, host, port string) (net.Conn, error) {
	conn, err := f.dialProxy(ctx, network, via)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	t := &tunnel{Conn: conn}
	if a, err := netip.ParseAddr(host); err == nil {
		n, _ := strconv.ParseUint(port, 10, 16)
		t.remote = net.TCPAddrFromAddrPort(netip.AddrPortFrom(a, uint16(n)))
	}
	err = conn.SetDeadline(time.Now().Add(f.opts.Timeouts.Connect))
	if err == nil && via.URL.Scheme == "socks5" {
		err = socks5(conn, via, host, port)
	} else if err == nil {
		t.from, err = httpConnect(conn, via, net.JoinHostPort(host, port))
	}
	if err == nil {
		err = conn.SetDeadline(time.Time{})
	}
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		return t, nil
	}
	_ = conn.Close()
	var refused *proxyRefusal
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.As(err, &refused):
		return nil, err
	}
	return nil, proxyTrouble(via.String(), via.Global, err)
}

// maxProxyHead is the maximum size of a proxy's answer to CONNECT.
const maxProxyHead = 64 << 10

// httpConnect asks an HTTP proxy for a tunnel (RFC 9110 §9.3.6). It returns what was read ahead, nil for nothing.
func httpConnect(conn net.Conn, via *hosts.Proxy, target string) (*bufio.Reader, error) {
	request := "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n"
	if user, password, ok := via.Secret.Login(); ok {
		request += "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password)) + "\r\n"
	}
	if _, err := io.WriteString(conn, request+"\r\n"); err != nil {
		return nil, err
	}
	head := &io.LimitedReader{R: conn, N: maxProxyHead}
	from := bufio.NewReader(head)
	resp, err := http.ReadResponse(from, &http.Request{Method: http.MethodConnect})
	if err != nil {
		return nil, fmt.Errorf("the answer to CONNECT: %w", err)
	}
	switch {
	case resp.StatusCode == http.StatusProxyAuthRequired:
		return nil, errors.New("it demands a login (407), or does not accept that of proxy-secret")
	case resp.StatusCode/100 != 2:
		return nil, &proxyRefusal{via.String(), target, fmt.Sprintf("%.100q", resp.Status)}
	}
	if head.N = 1 << 62; from.Buffered() == 0 {
		return nil, nil
	}
	return from, nil
}

// socks5 asks a SOCKS proxy for a tunnel (RFC 1928, RFC 1929).
func socks5(conn net.Conn, via *hosts.Proxy, host, port string) error {
	const version, none, login, unacceptable = 5, 0, 2, 0xff
	user, password, hasLogin := via.Secret.Login()
	if len(user) > 255 || len(password) > 255 {
		return errors.New("its user or password has more than 255 bytes")
	}
	methods := []byte{version, 1, none}
	if hasLogin {
		methods = []byte{version, 2, none, login}
	}
	if _, err := conn.Write(methods); err != nil {
		return err
	}
	var answer [4]byte
	if _, err := io.ReadFull(conn, answer[:2]); err != nil {
		return err
	}
	switch {
	case answer[0] != version:
		return errors.New("it does not speak SOCKS5")
	case answer[1] == login && hasLogin:
		sent := append([]byte{1, byte(len(user))}, user...)
		sent = append(append(sent, byte(len(password))), password...)
		if _, err := conn.Write(sent); err != nil {
			return err
		}
		if _, err := io.ReadFull(conn, answer[:2]); err != nil {
			return err
		}
		if answer[1] != 0 {
			return errors.New("it does not accept the login of proxy-secret")
		}
	case answer[1] == unacceptable, answer[1] != none:
		return errors.New("it demands a login")
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return err
	}
	request := []byte{version, 1, 0}
	if a, err := netip.ParseAddr(host); err != nil && len(host) <= 255 {
		request = append(append(request, 3, byte(len(host))), host...)
	} else if err != nil {
		return &proxyRefusal{via.String(), host, "the name is too long"}
	} else if a.Is4() {
		request = append(append(request, 1), a.AsSlice()...)
	} else {
		request = append(append(request, 4), a.AsSlice()...)
	}
	if _, err := conn.Write(append(request, byte(number>>8), byte(number))); err != nil {
		return err
	}
	if _, err := io.ReadFull(conn, answer[:]); err != nil {
		return err
	}
	if code := answer[1]; answer[0] != version || code != 0 {
		why := fmt.Sprintf("SOCKS answer %d", code)
		if words := [...]string{1: "a failure of the proxy", 2: "its rules forbid it", 3: "no route to the network",
			4: "the host cannot be reached", 5: "the connection is refused",
			6: "the time is over"}; int(code) < len(words) {
			why = words[code]
		}
		return &proxyRefusal{via.String(), net.JoinHostPort(host, port), why}
	}
	bound := map[byte]int{1: 4, 4: 16}[answer[3]]
	if answer[3] == 3 {
		var length [1]byte
		if _, err := io.ReadFull(conn, length[:]); err != nil {
			return err
		}
		bound = int(length[0])
	}
	_, err = io.ReadFull(conn, make([]byte, bound+2))
	return err
}
