package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"syscall"

	"odarchive/crawler/address"
	"odarchive/crawler/catalog"
	"odarchive/crawler/web/hosts"
)

// guard decides to which addresses connections are allowed.
type guard struct {
	all  bool
	nets []netip.Prefix
}

// forbiddenError is the error for a name with forbidden addresses only.
type forbiddenError struct {
	host string
	addr netip.Addr
}

func (e *forbiddenError) Error() string {
	return fmt.Sprintf("%s is at %s, %s", e.host, e.addr.Unmap(), catalog.WhyPrivate)
}

func (g guard) allows(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if g.all {
		return true
	}
	for _, n := range g.nets {
		if n.Contains(a) {
			return true
		}
	}
	return public(a)
}

// notPublic are the special-purpose networks (IANA registries, RFC 6890) that netip has no method for, and the metadata
// services in public address space.
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"), // shared address space; Alibaba's metadata service
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("192.88.99.0/24"), // relays of 6to4, deprecated (RFC 7526)
	netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("168.63.129.16/32"), // Azure's wire server
	netip.MustParsePrefix("::/96"),            // IPv4-compatible
	netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("100::/64"),
	netip.MustParsePrefix("2001::/23"), // including Teredo
	netip.MustParsePrefix("2001:db8::/32"),
	netip.MustParsePrefix("3fff::/20"),
	netip.MustParsePrefix("5f00::/16"),
	netip.MustParsePrefix("fec0::/10"),
}

var (
	nat64  = netip.MustParsePrefix("64:ff9b::/96")
	siit   = netip.MustParsePrefix("::ffff:0:0:0/96") // IPv4-translated (RFC 7915)
	sixTo4 = netip.MustParsePrefix("2002::/16")
)

func public(a netip.Addr) bool {
	if !a.IsGlobalUnicast() || a.IsPrivate() {
		return false
	}
	for _, n := range notPublic {
		if n.Contains(a) {
			return false
		}
	}
	b := a.As16()
	switch { // packets go to the IPv4 address inside
	case nat64.Contains(a), siit.Contains(a):
		return public(netip.AddrFrom4([4]byte(b[12:16])))
	case sixTo4.Contains(a):
		return public(netip.AddrFrom4([4]byte(b[2:6])))
	}
	return true
}

// forbiddenPorts are those of other protocols, whose commands a crafted request could contain (WHATWG fetch, "bad
// port").
var forbiddenPorts = map[int]bool{
	1: true, 7: true, 9: true, 11: true, 13: true, 15: true, 17: true, 19: true, 20: true, 22: true, 23: true, 25: true, 37: true,
	42: true, 43: true, 53: true, 69: true, 77: true, 79: true, 87: true, 95: true, 101: true, 102: true, 103: true, 104: true,
	109: true, 110: true, 111: true, 113: true, 115: true, 117: true, 119: true, 123: true, 135: true, 137: true, 139: true,
	143: true, 161: true, 179: true, 389: true, 427: true, 465: true, 512: true, 513: true, 514: true, 515: true, 526: true,
	530: true, 531: true, 532: true, 540: true, 548: true, 554: true, 556: true, 563: true, 587: true, 601: true, 636: true,
	993: true, 995: true,
}

func forbiddenPort(u address.URL) string {
	_, port := u.Address()
	n, _ := strconv.Atoi(port) // Parse has checked the port
	if forbiddenPorts[n] || n == 21 && u.Scheme != "ftp" {
		return "port " + port + " belongs to another protocol"
	}
	return ""
}

// dial resolves a name and connects to the first of its addresses that is allowed and can be reached.
func (f *Fetcher) dial(ctx context.Context, network, hostPort string) (net.Conn, error) {
	to, err := f.locate(ctx, hostPort)
	if err != nil {
		return nil, err
	}
	conn, err := f.firstAllowed(ctx, to, func(a netip.Addr) (conn net.Conn, more bool, err error) {
		conn, err = f.dialOne(ctx, network, net.JoinHostPort(a.String(), to.port))
		if errors.Is(err, syscall.EADDRNOTAVAIL) && a.Is4() { // for IPv6 it means that this machine has no IPv6
			err = &OwnTrouble{TroublePorts, err}
		}
		return conn, ownTrouble(err) == nil, err
	})
	if err == nil {
		return conn, nil
	}
	if cache, ok := f.opts.Resolver.(interface{ Forget(host string) }); ok { // the addresses may be old
		cache.Forget(to.host)
	}
	return nil, err
}

// firstAllowed connects to the first of a host's addresses that may be fetched and answers. After an error, connect
// says whether more addresses are worth a try. The error is that of the last try, or that all addresses are forbidden.
func (f *Fetcher) firstAllowed(ctx context.Context, to target, connect func(netip.Addr) (conn net.Conn, more bool, err error)) (net.Conn,
	error) {
	var last error
	for _, a := range to.addrs {
		if !to.set && !f.guard.allows(a) {
			if last == nil {
				last = &forbiddenError{to.host, a}
			}
			continue
		}
		if f.opts.Nameless != nil && f.opts.Contact == "" && public(a.Unmap()) {
			f.nameless.Do(f.opts.Nameless)
		}
		conn, more, err := connect(a.Unmap())
		if err == nil {
			return conn, nil
		}
		if last = err; ctx.Err() != nil || !more {
			break
		}
	}
	return nil, last
}

func (f *Fetcher) dialOne(ctx context.Context, network, address string) (net.Conn, error) {
	if err := f.slots.acquire(ctx, f.closeIdle); err != nil {
		return nil, err
	}
	if f.crowd.enter() {
		f.closeIdle()
		f.crowd.settle()
	}
	ctx, cancel := context.WithTimeout(ctx, f.opts.Timeouts.Connect)
	defer cancel()
	leave := func() {
		f.slots.release()
		f.crowd.leave()
	}
	conn, err := f.opts.Dial(ctx, network, address)
	if err != nil {
		leave()
		return nil, err
	}
	return hold(conn, leave), nil
}

// target is what a connection is made to.
type target struct {
	host  string // as in the URL
	port  string
	addrs []netip.Addr
	set   bool // the operator has named the address for this host, so it may be private
}

// locate returns the target for HOST:PORT: where the operator says that the host is, or what its name resolves to.
func (f *Fetcher) locate(ctx context.Context, hostPort string) (to target, err error) {
	if to.host, to.port, err = net.SplitHostPort(hostPort); err != nil {
		return to, err
	}
	if place := f.place(hostPort); !place.IsZero() {
		to.addrs, to.set = []netip.Addr{place.Addr}, true
		if place.Port != 0 {
			to.port = strconv.Itoa(int(place.Port))
		}
		return to, nil
	}
	to.addrs, err = f.resolve(ctx, to.host)
	return to, err
}

// place returns where the operator says that a host is, the zero value for nowhere. An address in a URL is where it is.
func (f *Fetcher) place(hostPort string) hosts.Place {
	group := address.HostGroup(hostPort)
	if _, err := netip.ParseAddr(strings.Trim(hosts.Name(group), "[]")); err == nil {
		return hosts.Place{}
	}
	return f.opts.Settings(group).Resolve
}

func (f *Fetcher) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, f.opts.Timeouts.Connect)
	defer cancel()
	addrs, err := f.opts.Resolver.LookupNetIP(ctx, "ip", host)
	if err == nil && len(addrs) == 0 {
		err = &net.DNSError{Err: "no addresses", Name: host, IsNotFound: true}
	}
	if err != nil {
		return nil, &dnsError{err}
	}
	return addrs[:min(len(addrs), 8)], nil
}

// dnsError marks an error of name resolution.
type dnsError struct{ error }

func (e *dnsError) Unwrap() error { return e.error }
