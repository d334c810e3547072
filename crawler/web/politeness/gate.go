// Package politeness decides whether a URL may be fetched (robots.txt, RFC 9309) and when its host may be asked next.
//
// A Gate admits one passage per host at a time. A caller that has entered holds the only connection to the host until
// it leaves, and reports how the host behaved. That determines the pause before the next passage, and a longer back-off
// if the host asked for one or keeps failing. Visit does this for one URL and its redirects. It includes robots.txt,
// which is fetched through the gate too.
//
// Promises: there are never two passages of one host at a time, nor, if the options say so, of one address or one
// registered domain. An operator may permit a host more at a time (Options.Settings). The pause is kept between any two
// requests. A host is never given up. A door (scheme, host and port) whose URLs fail in a row is closed for a while,
// and its host's other doors are not. Back-offs, robots.txt and the counts of the day survive a restart. Memory is
// bounded by the number of hosts that were visited recently.
//
// All times are of the machine's clock, not the archive's. The package does not choose what to fetch.
package politeness

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/hosts"

	"golang.org/x/net/publicsuffix"
)

// Gate admits requests to hosts. Its methods may be called concurrently.
type Gate struct {
	opts   Options
	Robots *Robots

	started time.Time

	mu         sync.Mutex // guards what follows, and the fields of turnstiles
	rest       time.Time  // until then, no host is asked; see Rest
	turnstiles map[string]*turnstile
	swept      time.Time
	settled    time.Time
}

// New returns a Gate. It loads the state of a host when that is first used.
func New(opts Options) *Gate {
	g := &Gate{opts: opts.withDefaults(), started: time.Now(), turnstiles: map[string]*turnstile{}}
	g.Robots = newRobots(g)
	return g
}

// Wait is the error for a host that must not be asked for longer than the caller's patience.
type Wait struct {
	Host  string
	Door  string // scheme, host and port if only its URLs must not be asked for; "" for all of the host
	Until time.Time
	// Why is "politeness", "robots", "retry-after", "back-off", "rate-limit", "busy", "daily", "paused", WhyUnread;
	// "network" if the host, or any, cannot be reached.
	Why string

	Failures int    // of a door: different URLs that failed in a row
	Failure  string // the last of them; or why robots.txt cannot be read
}

// WhyUnread is the reason for a door whose robots.txt cannot be read, because the server answers with an error.
const WhyUnread = "robots-unread"

func (w *Wait) Error() string {
	if w.Failures > 0 {
		return fmt.Sprintf("politeness: %s may be asked again at %s (%s)", w.Door, w.Until.UTC().Format(time.RFC3339),
			failures(w.Failures, w.Failure))
	}
	return fmt.Sprintf("politeness: %s may be asked again at %s (%s)", w.Host, w.Until.UTC().Format(time.RFC3339), w.Why)
}

// WaitsUntil returns Until, for callers that know only an interface.
func (w *Wait) WaitsUntil() time.Time { return w.Until }

// Result is how a host behaved. The zero value is that of a passage in which nothing was asked.
type Result struct {
	URL        string `json:",omitempty"` // that was asked for
	Error      string `json:",omitempty"` // what failed, for people
	Outcome    catalog.Outcome
	Class      catalog.ErrorClass
	Latency    time.Duration // until the first byte; 0 if not known
	RetryAfter time.Duration // as the host asks; 0 if it does not
	Rest       time.Duration // until the host's limit of requests permits another; 0 if it does not say
	Robots     bool          `json:",omitempty"` // the request was for robots.txt
	Connected  bool          `json:",omitempty"` // a connection to the host was made
}

// ResultOf returns the Result of an exchange, which concerns the host of its last request.
func ResultOf(ex *fetch.Exchange) Result {
	r := Result{URL: ex.FinalURL, Outcome: ex.Outcome, Class: ex.ErrorClass, RetryAfter: ex.RetryAfter, Rest: ex.Rest,
		Latency: ex.Latency(), Connected: ex.RemoteAddr != ""}
	if r.says() == failed {
		r.Error = strings.ToValidUTF8(ex.Why[:min(len(ex.Why), maxFailure)], "")
	}
	return r
}

// Enter waits until the host of a door (as address.URL.Authority returns it) is free, its pause is over, and the door
// is open, and occupies the host. For a host without a scheme, it minds no door. The caller must call leave exactly
// once, as soon as its last request is done. The error is a *Wait if the wait would exceed Options.Patience.
func (g *Gate) Enter(ctx context.Context, door string) (leave func(Result), err error) {
	return g.enter(ctx, door, g.opts.Patience)
}

func (g *Gate) enter(ctx context.Context, door string, patience time.Duration) (leave func(Result), err error) {
	if g.opts.Borrow == nil {
		return g.enterOwn(ctx, door, patience)
	}
	_, host := splitDoor(door)
	giveBack, err := g.opts.Borrow(ctx, host, patience)
	if err != nil {
		return nil, err
	}
	own, err := g.enterOwn(ctx, door, patience)
	if err != nil {
		giveBack(Result{})
		return nil, err
	}
	var once sync.Once
	return func(r Result) { once.Do(func() { own(r); giveBack(r) }) }, nil
}

// enterOwn is enter for a host about which this process decides.
func (g *Gate) enterOwn(ctx context.Context, door string, patience time.Duration) (leave func(Result), err error) {
	scheme, host := splitDoor(door)
	set := g.opts.Settings(host)
	if set.Paused != "" {
		return nil, &Wait{Host: host, Until: time.Now().Add(pausedLook), Why: "paused"}
	}
	keys, err := g.keys(ctx, host, set)
	if err != nil {
		return nil, err
	}
	release := func(keys []string) {
		for _, held := range keys {
			g.release(held)
		}
	}
	for i, key := range keys {
		if err := g.acquire(ctx, key, host, scheme, patience, set); err != nil {
			release(keys[:i])
			return nil, err
		}
	}
	if set = g.opts.Settings(host); set.Paused != "" { // in the meantime
		release(keys)
		return nil, &Wait{Host: host, Until: time.Now().Add(pausedLook), Why: "paused"}
	}
	if err := g.count(ctx, host, set.Daily); err != nil {
		release(keys)
		return nil, err
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

// pausedLook is how often a paused host is looked at. Whoever ends a pause also wakes the host's URLs.
const pausedLook = time.Hour

// keys returns the keys of all turnstiles of a host. Everybody acquires them in this order, which avoids deadlocks.
func (g *Gate) keys(ctx context.Context, host string, set hosts.Settings) ([]string, error) {
	keys := []string{host}
	if set.Group != "" {
		keys = append(keys, groupKey(set.Group))
	}
	name := hostName(host)
	if _, err := netip.ParseAddr(name); g.opts.PerDomain && err != nil { // an IP address has no domain
		if domain, err := publicsuffix.EffectiveTLDPlusOne(name); err == nil {
			keys = append(keys, "domain "+domain)
		}
	}
	switch {
	case g.opts.PerAddress && !set.Resolve.IsZero():
		keys = append(keys, "address "+set.Resolve.Addr.String())
	case g.opts.PerAddress && g.opts.Resolver != nil:
		addrs, err := g.opts.Resolver.LookupNetIP(ctx, "ip", name)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err == nil && len(addrs) > 0 { // if not, the fetch reports the error
			keys = append(keys, "address "+slices.MinFunc(addrs, func(a, b netip.Addr) int { return a.Compare(b) }).Unmap().String())
		}
	}
	slices.Sort(keys)
	return keys, nil
}

// groupKey returns the key of the turnstile that the hosts of a group share.
func groupKey(group string) string { return "group " + group }

// hostName returns a host without its port, and an IPv6 address without its brackets.
func hostName(host string) string {
	if strings.HasPrefix(host, "[") {
		name, _, _ := strings.Cut(host[1:], "]")
		return name
	}
	name, _, _ := strings.Cut(host, ":")
	return name
}

// acquire waits for a turnstile of a host and occupies it. The error is a *Wait if that would take longer than
// patience.
func (g *Gate) acquire(ctx context.Context, key, host, scheme string, patience time.Duration, set hosts.Settings) error {
	deadline := time.Now().Add(patience)
	shared, capacity := key != host, 1
	if key == host || key == groupKey(set.Group) {
		capacity = max(1, set.Parallel)
	}
	g.settle()
	g.mu.Lock()
	d, err := g.turnstile(key)
	if err != nil {
		g.mu.Unlock()
		return err
	}
	d.waiting++
	defer func() { g.mu.Lock(); d.waiting--; g.mu.Unlock() }()
	for {
		now := time.Now()
		closed, isClosed := d.closed(scheme, host, now)
		if isClosed = isClosed && !shared && asked(ctx).IsZero(); isClosed && closed.Until.After(deadline) {
			g.mu.Unlock()
			return closed.wait()
		}
		if d.inside < capacity && !now.Before(d.next) && !isClosed {
			if d.inside++; capacity > 1 { // the others need not wait until this one leaves
				d.delay = g.pause(d, set.Delay)
				d.next, d.why = now.Add(d.delay), "politeness"
			}
			g.mu.Unlock()
			return nil
		}
		until, why := d.next, d.why
		if isClosed && closed.Until.After(until) {
			until, why = closed.Until, "back-off"
		}
		if d.inside >= capacity {
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

// release frees a turnstile through which no request went.
func (g *Gate) release(key string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	d := g.turnstiles[key]
	d.inside--
	d.open()
}

// leave frees a turnstile after a request with result r, and sets its pause and back-off.
func (g *Gate) leave(key, host string, r Result) { g.note(key, host, r, true) }

// note sets the pause and the back-off of a turnstile after a request with result r, and frees it if out is set.
func (g *Gate) note(key, host string, r Result, out bool) {
	now := time.Now()
	delay, capacity := g.opts.Delay, 1
	if set := g.opts.Settings(host); key == host || key == groupKey(set.Group) {
		delay, capacity = set.Delay, set.Parallel
	}
	g.mu.Lock()
	d := g.turnstiles[key]
	if out {
		d.inside--
	}
	d.requests++
	d.last, d.robots = now, r.Robots
	if r.Latency > 0 {
		d.latency = (3*d.latency + r.Latency) / 4
		if d.requests == 1 {
			d.latency = r.Latency
		}
	}
	d.delay = g.pause(d, delay)
	if capacity <= 1 { // else the pause is between the beginnings of requests
		d.next, d.why = now.Add(d.delay), "politeness"
	}
	changed := false
	if rest := now.Add(r.Rest); key == host && r.Rest > 0 && rest.After(d.next) {
		d.next, d.why = rest, "rate-limit"
	}
	if key == host {
		if said := r.says(); said == failed || said == broken || r.Outcome == catalog.RetryLater {
			d.failures++
		}
		changed = d.back.note(r, now, g.opts.MaxWait)
		changed = d.noteDoor(host, r, now, g.opts.MaxWait) || changed
		if d.back.until.After(d.next) {
			d.next, d.why = d.back.until, d.back.why
		}
	}
	var state savedHost
	if changed {
		state = d.saved()
	}
	d.open()
	g.mu.Unlock()
	if changed {
		g.save("d"+key, state)
	}
}

// setCrawlDelay sets the Crawl-delay of a host's robots.txt, cut to a maximum, so that no host is out of reach. It is
// called whenever the rules are used, since a turnstile may be new: of this process, or dropped by sweep and made
// again.
func (g *Gate) setCrawlDelay(host string, p *policy) {
	if p.rules == nil {
		return
	}
	delay := min(p.rules.CrawlDelay, g.opts.Settings(host).MaxCrawlDelay, g.opts.MaxWait)
	g.mu.Lock()
	defer g.mu.Unlock()
	d, err := g.turnstile(host)
	if err != nil || d.crawl == delay {
		return // after an error, the delay is set again when the rules are next used
	}
	d.crawl = delay
	last := d.last
	if last.IsZero() && p.tried.Before(g.started) {
		last = g.started // an earlier process may have asked the host until then
	}
	if !last.IsZero() && last.Before(g.rest) {
		last = g.rest
	}
	if rest := last.Add(d.crawlDelay()); !last.IsZero() && rest.After(d.next) {
		d.next, d.why = rest, "robots"
		d.open()
	}
}

// Next returns when a host may be asked next, and the reason. The time is not in the future if the host may be asked
// now.
func (g *Gate) Next(host string) (at time.Time, why string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	d, err := g.turnstile(host)
	if err != nil {
		return time.Time{}, ""
	}
	return d.next, d.why
}

var errNoFetch = errors.New("politeness: no way to fetch robots.txt was given")
