// Package politeness keeps the crawler welcome: it decides whether a URL may be fetched at all (robots.txt, RFC 9309) and
// when its host may be asked next.
//
// A Gate gives out one passage per host at a time. Who has entered holds the only connection to that host until leaving,
// and with leaving says how the host behaved; from that follow the pause before the next passage and, when the host
// asked for it or keeps failing, a longer back-off. Visit does all of it for one URL and its redirects, robots.txt
// included, which is fetched through the gate like everything else.
//
// Promises: never two passages of one host at a time (nor, where asked for, of one address or one registered domain);
// the pause is kept between any two requests; a host is never given up, only waited for. Back-offs and robots.txt survive a
// restart. Memory holds the hosts of the moment, not all that were ever met.
//
// The times here are real ones, whatever the archive's clock says. It does not choose what to fetch.
package politeness

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/web/fetch"
	"odarchive/triplestore/kv"

	"golang.org/x/net/publicsuffix"
)

// Options of a gate. Fetch is required for robots.txt; everything else has a default.
type Options struct {
	DB    *kv.DB // keeps robots.txt and back-offs; nil: memory only
	Fetch func(ctx context.Context, r fetch.Request) (*fetch.Exchange, error)
	Token string        // our name in robots.txt; "odarchive"
	Delay time.Duration // least pause between two requests to a host; 0: 1 s, negative: none
	// Patience is the longest that Enter waits for a host; a longer wait is reported as *Wait. 0: 30 s, negative: none.
	Patience time.Duration
	MaxWait  time.Duration // the longest back-off; 24 h

	PerAddress bool // one connection per network address too; needs Resolver
	PerDomain  bool // one connection per registered domain too
	Resolver   fetch.Resolver

	IgnoreRobots func(host string) bool // hosts whose owner has given leave; nil: none
	RobotsCache  int                    // robots.txt held in memory; 4096
	Log          *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.Token == "" {
		o.Token = "odarchive"
	}
	switch {
	case o.Delay == 0:
		o.Delay = time.Second
	case o.Delay < 0:
		o.Delay = 0
	}
	switch {
	case o.Patience == 0:
		o.Patience = 30 * time.Second
	case o.Patience < 0:
		o.Patience = 0
	}
	if o.MaxWait <= 0 {
		o.MaxWait = 24 * time.Hour
	}
	if o.RobotsCache <= 0 {
		o.RobotsCache = 4096
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Gate is the one way to any host. Its methods may be called concurrently.
type Gate struct {
	opts   Options
	Robots *Robots

	mu    sync.Mutex // guards doors and what is in them
	doors map[string]*door
	swept time.Time
}

// New makes a gate. It reads nothing before a host is met.
func New(opts Options) *Gate {
	g := &Gate{opts: opts.withDefaults(), doors: map[string]*door{}}
	g.Robots = newRobots(g)
	return g
}

// Wait is the error of a host that must be left alone for longer than the gate's patience.
type Wait struct {
	Host  string
	Until time.Time
	Why   string // "politeness", "retry-after", "back-off", "busy"; "network" of a host that cannot be reached, or we cannot
}

func (w *Wait) Error() string {
	return fmt.Sprintf("politeness: %s waits until %s (%s)", w.Host, w.Until.UTC().Format(time.RFC3339), w.Why)
}

// Result says how a host behaved. The zero value is a request that went well and said nothing of its time.
type Result struct {
	Outcome    catalog.Outcome
	Class      catalog.ErrorClass
	Latency    time.Duration // until the first byte; 0: not known
	RetryAfter time.Duration // as the host asked; 0: it did not
}

// ResultOf an exchange.
func ResultOf(ex *fetch.Exchange) Result {
	r := Result{Outcome: ex.Outcome, Class: ex.ErrorClass, RetryAfter: ex.RetryAfter}
	if !ex.FirstByte.IsZero() {
		r.Latency = ex.FirstByte.Sub(ex.Start)
	}
	return r
}

// Enter waits for the host (address.Host) to be free and its pause to be over, and takes it. The caller leaves as soon as its
// last request is through, exactly once. A *Wait error means that it would take longer than the gate's patience.
func (g *Gate) Enter(ctx context.Context, host string) (leave func(Result), err error) {
	return g.enter(ctx, host, g.opts.Patience)
}

func (g *Gate) enter(ctx context.Context, host string, patience time.Duration) (leave func(Result), err error) {
	keys, err := g.keys(ctx, host)
	if err != nil {
		return nil, err
	}
	for i, key := range keys {
		if err := g.take(ctx, key, patience, key != host); err != nil {
			for _, held := range keys[:i] {
				g.giveBack(held)
			}
			return nil, err
		}
	}
	var once sync.Once
	return func(r Result) {
		once.Do(func() {
			for _, key := range slices.Backward(keys) {
				g.leave(key, host, r)
			}
		})
	}, nil
}

// keys of all doors on the way to a host, in the one order in which everybody takes them.
func (g *Gate) keys(ctx context.Context, host string) ([]string, error) {
	keys := []string{host}
	name := hostName(host)
	if _, err := netip.ParseAddr(name); g.opts.PerDomain && err != nil { // an address has no domain
		if domain, err := publicsuffix.EffectiveTLDPlusOne(name); err == nil {
			keys = append(keys, "domain "+domain)
		}
	}
	if g.opts.PerAddress && g.opts.Resolver != nil {
		addrs, err := g.opts.Resolver.LookupNetIP(ctx, "ip", name)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err == nil && len(addrs) > 0 { // a name that cannot be found is the fetch's business
			keys = append(keys, "address "+slices.MinFunc(addrs, func(a, b netip.Addr) int { return a.Compare(b) }).Unmap().String())
		}
	}
	slices.Sort(keys)
	return keys, nil
}

// hostName is a host without its port, and an IPv6 address without its brackets.
func hostName(host string) string {
	if strings.HasPrefix(host, "[") {
		name, _, _ := strings.Cut(host[1:], "]")
		return name
	}
	name, _, _ := strings.Cut(host, ":")
	return name
}

func (g *Gate) take(ctx context.Context, key string, patience time.Duration, shared bool) error {
	deadline := time.Now().Add(patience)
	g.mu.Lock()
	d, err := g.door(key)
	if err != nil {
		g.mu.Unlock()
		return err
	}
	d.waiting++
	defer func() { g.mu.Lock(); d.waiting--; g.mu.Unlock() }()
	for {
		now := time.Now()
		if !d.busy && !now.Before(d.next) {
			d.busy = true
			g.mu.Unlock()
			return nil
		}
		until, why := d.next, d.why
		if d.busy {
			until, why = deadline, "busy"
		}
		if until.After(deadline) || !now.Before(deadline) {
			if shared {
				until = d.promise(until, now)
			}
			g.mu.Unlock()
			return &Wait{Host: key, Until: until, Why: why}
		}
		if d.free == nil {
			d.free = make(chan struct{})
		}
		free := d.free
		g.mu.Unlock()
		timer := time.NewTimer(until.Sub(now))
		select {
		case <-free:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
		timer.Stop()
		g.mu.Lock()
	}
}

// giveBack frees a door that was taken but not gone through.
func (g *Gate) giveBack(key string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	d := g.doors[key]
	d.busy = false
	d.open()
}

func (g *Gate) leave(key, host string, r Result) {
	now := time.Now()
	g.mu.Lock()
	d := g.doors[key]
	d.busy = false
	d.requests++
	d.last = now
	if r.Latency > 0 {
		d.latency = (3*d.latency + r.Latency) / 4
		if d.requests == 1 {
			d.latency = r.Latency
		}
	}
	d.delay = g.pause(d)
	d.next, d.why = now.Add(d.delay), "politeness"
	changed := false
	if key == host {
		if troubled(r) {
			d.failures++
		}
		changed = d.back.note(r, now, g.opts.MaxWait)
		if d.back.until.After(d.next) {
			d.next, d.why = d.back.until, d.back.why
		}
	}
	state := d.back
	d.open()
	g.mu.Unlock()
	if changed {
		g.remember(key, state)
	}
}

// crawlDelay notes what robots.txt asks for. A very long one slows the host and never drops it.
func (g *Gate) crawlDelay(host string, delay time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	d, err := g.door(host)
	if err != nil {
		return // the delay comes again with the rules
	}
	d.crawl = min(delay, g.opts.MaxWait)
	if rest := d.last.Add(d.crawl); !d.last.IsZero() && rest.After(d.next) {
		d.next, d.why = rest, "robots"
		d.open()
	}
}

// Next says when a host may be asked next, and why not before; now or earlier if it may be asked.
func (g *Gate) Next(host string) (at time.Time, why string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	d, err := g.door(host)
	if err != nil {
		return time.Time{}, ""
	}
	return d.next, d.why
}

var errNoFetch = errors.New("politeness: no way to fetch robots.txt was given")
