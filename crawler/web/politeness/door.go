package politeness

import "time"

// door of one host (or address, or domain).
type door struct {
	busy    bool
	waiting int
	free    chan struct{} // closed when the door may have come free, or its times changed; nil: nobody waits

	next     time.Time // not before this time
	why      string    // what next is for
	delay    time.Duration
	crawl    time.Duration // Crawl-delay of robots.txt
	latency  time.Duration // until the first byte, smoothed
	back     backoff
	requests int
	failures int // requests that failed, whatever for
	last     time.Time
	promised time.Time // when the last one who was refused may come again
}

// promise says when somebody who is refused may come again, until being when the door may be free. Hosts that share an
// address are told different times, within a minute, so that they do not all come for one passage.
func (d *door) promise(until, now time.Time) time.Time {
	if next := d.promised.Add(max(d.delay, time.Second)); next.After(until) && next.Before(now.Add(time.Minute)) {
		until = next
	}
	d.promised = until
	return until
}

func (d *door) open() {
	if d.free != nil {
		close(d.free)
		d.free = nil
	}
}

// door finds or makes a door; the caller holds mu.
func (g *Gate) door(key string) (*door, error) {
	if d, ok := g.doors[key]; ok {
		return d, nil
	}
	g.sweep()
	d := &door{}
	if err := g.recall(key, d); err != nil {
		return nil, err
	}
	g.doors[key] = d
	return d, nil
}

// sweep forgets doors that nobody needs: free, rested, without anything held against them. The caller holds mu.
func (g *Gate) sweep() {
	now := time.Now()
	if len(g.doors) < 1024 || now.Sub(g.swept) < 10*time.Second {
		return
	}
	g.swept = now
	for key, d := range g.doors {
		if !d.busy && d.waiting == 0 && now.After(d.next.Add(time.Minute)) && now.After(d.back.until) {
			delete(g.doors, key)
		}
	}
}

// pause after a request: what the operator and robots.txt say, and more for a host that is slow to answer.
func (g *Gate) pause(d *door) time.Duration {
	const slow, most = time.Second, time.Minute
	p := max(g.opts.Delay, d.crawl)
	if d.latency > slow {
		p = max(p, min(4*d.latency, most))
	}
	return p
}
