// Package names remembers the addresses of host names.
//
// A Cache asks a resolver at most once per name and lifetime, however many fetches of a host begin at the same time.
// The lifetime is that of the DNS records, within limits, where the resolver reports it (Server does), else a minute.
// That a name does not exist is remembered for a shorter time; other failures are not remembered.
//
// A remembered address grants nothing: package fetch checks every address before each connection to it.
package names

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// Resolver resolves host names. *net.Resolver implements it.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Timed is a Resolver that knows how long an answer is valid.
type Timed interface {
	Resolver
	// LookupTimed is LookupNetIP with the lifetime of the answer, 0 if it is not known.
	LookupTimed(ctx context.Context, network, host string) ([]netip.Addr, time.Duration, error)
}

// Options of a Cache. Zero fields have the defaults named after the semicolon.
type Options struct {
	Max     int           // number of names; 20,000
	Unknown time.Duration // lifetime of an answer whose own is not known; a minute
	Least   time.Duration // the shortest lifetime of an answer; 5 s
	Most    time.Duration // the longest; an hour
	Missing time.Duration // lifetime of the answer that a name does not exist; 30 s
	Now     func() time.Time
}

// lookupTime bounds a lookup, which goes on for others if the caller that began it gives up.
const lookupTime = 15 * time.Second

func (o Options) withDefaults() Options {
	if o.Max <= 0 {
		o.Max = 20_000
	}
	if o.Unknown <= 0 {
		o.Unknown = time.Minute
	}
	if o.Least <= 0 {
		o.Least = 5 * time.Second
	}
	if o.Most <= 0 {
		o.Most = time.Hour
	}
	if o.Missing <= 0 {
		o.Missing = 30 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// Cache is a Resolver that remembers the answers of another one. Its methods may be called concurrently.
type Cache struct {
	of      Resolver
	opts    Options
	flights singleflight.Group

	mu    sync.Mutex // guards known
	known map[string]answer
}

type answer struct {
	addrs []netip.Addr
	err   error // that the name does not exist
	until time.Time
}

// NewCache returns a Cache of a resolver's answers.
func NewCache(of Resolver, opts Options) *Cache {
	return &Cache{of: of, opts: opts.withDefaults(), known: map[string]answer{}}
}

// LookupNetIP returns the addresses of a host in the order of the resolver. The caller may change the slice.
func (c *Cache) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	key := network + " " + strings.ToLower(host)
	c.mu.Lock()
	a, ok := c.known[key]
	c.mu.Unlock()
	if ok && c.opts.Now().Before(a.until) {
		return slices.Clone(a.addrs), a.err
	}
	flight := c.flights.DoChan(key, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookupTime)
		defer cancel()
		return c.lookup(ctx, key, network, host)
	})
	select {
	case r := <-flight:
		if r.Err != nil {
			return nil, r.Err
		}
		return slices.Clone(r.Val.([]netip.Addr)), nil
	case <-ctx.Done():
		return nil, &net.DNSError{Err: context.Cause(ctx).Error(), UnwrapErr: ctx.Err(), Name: host,
			IsTimeout: errors.Is(ctx.Err(), context.DeadlineExceeded)}
	}
}

// lookup asks the resolver, and remembers its answer.
func (c *Cache) lookup(ctx context.Context, key, network, host string) ([]netip.Addr, error) {
	var addrs []netip.Addr
	var life time.Duration
	var err error
	if timed, ok := c.of.(Timed); ok {
		addrs, life, err = timed.LookupTimed(ctx, network, host)
	} else {
		addrs, err = c.of.LookupNetIP(ctx, network, host)
	}
	if life == 0 {
		life = c.opts.Unknown
	}
	life = max(c.opts.Least, min(life, c.opts.Most))
	var failed *net.DNSError
	switch {
	case errors.As(err, &failed) && failed.IsNotFound && !failed.IsTemporary:
		life = c.opts.Missing
	case err != nil:
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) >= c.opts.Max {
		c.makeRoom()
	}
	c.known[key] = answer{addrs, err, c.opts.Now().Add(life)}
	return addrs, err
}

// makeRoom removes the answers that are too old, and an eighth of all if there are too few of them. The caller holds
// mu.
func (c *Cache) makeRoom() {
	now := c.opts.Now()
	for key, a := range c.known {
		if !now.Before(a.until) {
			delete(c.known, key)
		}
	}
	spare := len(c.known) - c.opts.Max*7/8
	for key := range c.known {
		if spare--; spare < 0 {
			return
		}
		delete(c.known, key)
	}
}

// Forget makes the next lookup of a host ask the resolver, as after its addresses could not be reached.
func (c *Cache) Forget(host string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, network := range []string{"ip", "ip4", "ip6"} {
		delete(c.known, network+" "+strings.ToLower(host))
	}
}
