package politeness

import (
	"sync"
	"time"
)

// turnstile is the state of one host, network address, registered domain, or group of hosts. One passage at a time goes
// through a turnstile, or as many as the operator permits.
type turnstile struct {
	inside  int           // passages at present
	waiting int           // how many wait to pass
	free    chan struct{} // closed when the turnstile may have become free, or its times changed; nil if nobody waits

	next     time.Time // no passage begins earlier
	why      string    // the reason for next
	delay    time.Duration
	crawl    time.Duration // Crawl-delay of robots.txt
	latency  time.Duration // until the first byte, smoothed
	back     backoff
	doors    map[string]*door // by scheme; those that have failed since their last answer
	requests int
	failures int       // failed requests, for any reason
	last     time.Time // the end of the last request
	robots   bool      // it was for robots.txt
	promised time.Time // the last time that promise returned

	storing sync.Mutex // held while today is stored
	today   day        // requests of the day, if they are limited
}

// afterRobots is the longest Crawl-delay that a host is left alone for after a request for robots.txt. That is due each
// day, so with a delay of a day nothing else would ever be asked for.
const afterRobots = time.Hour

// crawlDelay returns the pause that robots.txt asks for after the last request.
func (d *turnstile) crawlDelay() time.Duration {
	if d.robots {
		return min(d.crawl, afterRobots)
	}
	return d.crawl
}

// promise returns when a refused caller may try again. until is when the turnstile may be free. Hosts that share an
// address get different times, within a minute, so that they do not all come for one passage.
func (d *turnstile) promise(until, now time.Time) time.Time {
	if next := d.promised.Add(max(d.delay, time.Second)); next.After(until) && next.Before(now.Add(time.Minute)) {
		until = next
	}
	d.promised = until
	return until
}

// open wakes those who wait for the turnstile.
func (d *turnstile) open() {
	if d.free != nil {
		close(d.free)
		d.free = nil
	}
}

// turnstile returns the turnstile with a key, loading its back-off if it is new. The caller holds mu.
func (g *Gate) turnstile(key string) (*turnstile, error) {
	if d, ok := g.turnstiles[key]; ok {
		return d, nil
	}
	g.sweep()
	d := &turnstile{}
	if err := g.recall(key, d); err != nil {
		return nil, err
	}
	if !g.rest.IsZero() { // another process may have asked the host until then
		d.last = g.rest
		if rest := g.rest.Add(g.opts.Settings(key).Delay); rest.After(d.next) {
			d.next, d.why = rest, "politeness"
		}
	}
	g.turnstiles[key] = d
	return d, nil
}

// Doors that rest are removed once there are so many, and not more often than this.
const (
	maxTurnstiles = 1024
	sweepEvery    = 10 * time.Second
)

// sweep removes turnstiles that nobody uses and that have neither a pause nor a back-off left. The caller holds mu.
func (g *Gate) sweep() {
	now := time.Now()
	if len(g.turnstiles) < maxTurnstiles || now.Sub(g.swept) < sweepEvery {
		return
	}
	g.swept = now
	for key, d := range g.turnstiles {
		if d.inside == 0 && d.today.saved() && d.waiting == 0 && now.After(d.next.Add(time.Minute)) && now.After(d.back.until) &&
			len(d.closedDoors(key, now)) == 0 {
			delete(g.turnstiles, key)
		}
	}
}

// pause returns the pause after a request: that of the operator and robots.txt, and longer for a host that answers
// slowly.
func (g *Gate) pause(d *turnstile, delay time.Duration) time.Duration {
	const slow, longest = time.Second, time.Minute
	p := max(delay, d.crawlDelay())
	if d.latency > slow {
		p = max(p, min(4*d.latency, longest))
	}
	return p
}
