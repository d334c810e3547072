package crawl

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"

	"odarchive/crawler/web/fetch"
)

// newFetcher returns the fetcher of the settings, and the resolver that --resolver names; nil means the system's.
func (c *Crawl) newFetcher() (*fetch.Fetcher, fetch.Resolver, error) {
	settings := c.store.Config.Fetch
	nets, err := settings.Networks()
	if err != nil {
		return nil, nil, err
	}
	options := fetch.Options{
		Spool: c.Spool, UserAgent: userAgent(settings.UserAgent), Contact: settings.Contact, MaxBody: int64(settings.MaxBody),
		AllowPrivateHosts: settings.AllowPrivateHosts, AllowNets: nets, UnverifiedHosts: settings.UnverifiedHosts,
		Bandwidth: float64(settings.Bandwidth),
	}
	server, err := settings.NameServer()
	if err != nil {
		return nil, nil, err
	}
	if server != "" {
		options.Resolver = newNameServer(server)
	}
	return fetch.New(options), options.Resolver, nil
}

// userAgent returns the product token with a version.
func userAgent(name string) string {
	if strings.Contains(name, "/") {
		return name
	}
	return name + "/1.0"
}

// nameServer resolves names with one DNS server.
type nameServer struct {
	address string // host:port
	net.Resolver
}

func newNameServer(address string) *nameServer {
	return &nameServer{address, net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}}}
}

// LookupNetIP is net.Resolver's, with errors that name the server that was asked.
func (s *nameServer) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	found, err := s.Resolver.LookupNetIP(ctx, network, host)
	var failed *net.DNSError
	if errors.As(err, &failed) {
		failed.Server = s.address
	}
	return found, err
}
