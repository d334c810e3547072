package names

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// Server resolves names with one DNS server. It reports the lifetimes of its answers. Files of this machine, such as
// /etc/hosts, come first, as for the system's resolver.
type Server struct{ address string }

var _ Timed = (*Server)(nil)

// NewServer returns the resolver of a DNS server at an address, host:port.
func NewServer(address string) *Server { return &Server{address} }

// LookupNetIP implements Resolver. Its errors name the server.
func (s *Server) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	addrs, _, err := s.LookupTimed(ctx, network, host)
	return addrs, err
}

// LookupTimed implements Timed. The lifetime is the shortest of all records of the answers.
func (s *Server) LookupTimed(ctx context.Context, network, host string) ([]netip.Addr, time.Duration, error) {
	var life lifetime
	r := net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, s.address)
		if udp, ok := conn.(*net.UDPConn); ok && err == nil {
			return &observed{udp, &life}, nil
		}
		return conn, err
	}}
	found, err := r.LookupNetIP(ctx, network, host)
	var failed *net.DNSError
	if errors.As(err, &failed) {
		failed.Server = s.address
	}
	return found, life.get(), err
}

// observed is the connection of a lookup, whose answers it reads along. (net.Resolver does not tell the lifetimes. It
// recognises a connection for datagrams by its methods, which is why observed embeds one.)
type observed struct {
	*net.UDPConn
	life *lifetime
}

// Read reads one message.
func (o *observed) Read(b []byte) (int, error) {
	n, err := o.UDPConn.Read(b)
	if err == nil {
		o.life.observe(b[:n])
	}
	return n, err
}

// lifetime is the shortest lifetime of some DNS records. Questions for both kinds of addresses are asked concurrently.
type lifetime struct {
	mu    sync.Mutex
	known bool
	least time.Duration
}

// observe notes the lifetimes of the records of a message. It ignores malformed messages, as the resolver does.
func (l *lifetime) observe(message []byte) {
	var p dnsmessage.Parser
	if h, err := p.Start(message); err != nil || !h.Response || p.SkipAllQuestions() != nil {
		return
	}
	for {
		h, err := p.AnswerHeader()
		if err != nil {
			return
		}
		l.note(time.Duration(h.TTL) * time.Second)
		if p.SkipAnswer() != nil {
			return
		}
	}
}

func (l *lifetime) note(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.known || d < l.least {
		l.known, l.least = true, d
	}
}

// get returns the shortest lifetime: at least a nanosecond if any was noted, else 0.
func (l *lifetime) get() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.known {
		return 0
	}
	return max(l.least, 1)
}
