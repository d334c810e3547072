package fetch

import (
	"cmp"
	"context"
	"crypto/x509"
	"net"
	"net/netip"
	"strings"
	"time"

	"odarchive/crawler/web/hosts"
	"odarchive/crawler/web/spool"
)

// Options of a Fetcher. Spool is required; the other fields have the defaults named after the semicolon.
type Options struct {
	Spool     *spool.Spool
	UserAgent string // product token and version, "odarchive/1.0"
	Contact   string // URL or mail address for the owners of hosts; part of the User-Agent header

	// Nameless, if not nil, is called once, before the first connection to a public address, if there is no Contact.
	Nameless func()

	MaxBody      int64 // bytes, before and after decoding; 100 MiB
	MaxHeader    int64 // bytes of a response's header; 256 KiB
	MaxRedirects int   // 10
	MaxRatio     int64 // decoded bytes per received byte, for bodies from 16 MiB on; 500
	Timeouts     Timeouts

	AllowPrivateHosts bool           // any address may be fetched
	AllowNets         []netip.Prefix // these networks may be fetched although they are not public
	RootCAs           *x509.CertPool // root certificates for TLS; the system's
	UnverifiedHosts   []string       // hosts, with a port or without, whose TLS certificates are not verified; none
	// Settings returns what an operator has set for a host, as address.Host returns it. It may return other values each
	// time. nil sets nothing.
	Settings func(host string) hosts.Settings

	Resolver  Resolver                                                             // net.DefaultResolver
	Dial      func(ctx context.Context, network, address string) (net.Conn, error) // called with an allowed IP address; net.Dialer
	Bandwidth float64                                                              // bytes per second of all fetches together; no limit
	// open connections, negative for no limit; depends on the limit of file descriptors
	MaxConns int
	Now      func() time.Time
	Tape     Tape // keeps what is on the wire; none

	// Permit is called with the host of a request immediately before any of its bytes are written. A request that it
	// does not permit is not made, and Fetch returns its error, a *NotPermitted. nil permits everything.
	Permit func(host string) *NotPermitted
}

// NotPermitted is the error of a request that Options.Permit does not permit.
type NotPermitted struct{ Why error }

func (n *NotPermitted) Error() string { return n.Why.Error() }
func (n *NotPermitted) Unwrap() error { return n.Why }

// wireSpool returns where responses are recorded, nil if they are not.
func (o Options) wireSpool() *spool.Spool {
	if o.Tape == nil {
		return nil
	}
	return o.Spool
}

// unwanted returns how many bytes of an unwanted body are read: enough to reuse the connection, or with a tape, enough
// to have the page whole.
func (o Options) unwanted() int64 {
	if o.Tape == nil {
		return 16 << 10
	}
	return 1 << 20
}

// unwantedTime returns how long an unwanted body is read.
func (o Options) unwantedTime() time.Duration {
	if o.Tape == nil {
		return time.Second
	}
	return 10 * time.Second
}

// Resolver resolves host names. *net.Resolver implements it.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Timeouts of a fetch. Zero fields have defaults.
type Timeouts struct {
	Connect time.Duration // DNS, and TCP to each address; 15 s
	TLS     time.Duration // handshake; 15 s
	Header  time.Duration // from the request to the end of the response's header; 45 s
	Idle    time.Duration // without a byte of the body; 20 s
	Total   time.Duration // of everything, redirects included; 30 min
	MinRate int64         // bytes per second that a body must bring on average ...
	Grace   time.Duration // ... once it has taken this long; 256 B/s after 30 s
}

func (o Options) withDefaults() Options {
	def(&o.UserAgent, "odarchive/1.0")
	def(&o.MaxBody, 100<<20)
	def(&o.MaxHeader, 256<<10)
	def(&o.MaxRedirects, 10)
	def(&o.MaxRatio, 500)
	def(&o.Timeouts.Connect, 15*time.Second)
	def(&o.Timeouts.TLS, 15*time.Second)
	def(&o.Timeouts.Header, 45*time.Second)
	def(&o.Timeouts.Idle, 20*time.Second)
	def(&o.Timeouts.Total, 30*time.Minute)
	def(&o.Timeouts.MinRate, 256)
	def(&o.Timeouts.Grace, 30*time.Second)
	if o.MaxConns == 0 {
		o.MaxConns = connsFor(descriptors())
	}
	if o.Resolver == nil {
		o.Resolver = net.DefaultResolver
	}
	if o.Dial == nil {
		o.Dial = (&net.Dialer{KeepAlive: 30 * time.Second}).DialContext
	}
	if o.Settings == nil {
		o.Settings = func(string) hosts.Settings { return hosts.Settings{} }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Permit == nil {
		o.Permit = func(string) *NotPermitted { return nil }
	}
	return o
}

// def sets *v to the default if it is the zero value.
func def[T comparable](v *T, to T) {
	var zero T
	if *v == zero {
		*v = to
	}
}

// userAgent returns the User-Agent header: the product, or what an operator has set for the host, and where to
// complain.
func (o Options) userAgent(ofHost string) string {
	agent := cmp.Or(ofHost, o.UserAgent)
	if o.Contact == "" || strings.Contains(agent, o.Contact) {
		return agent
	}
	return agent + " (+" + o.Contact + ")"
}
