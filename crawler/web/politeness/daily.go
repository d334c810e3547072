package politeness

import (
	"context"
	"fmt"
	"time"

	"odarchive/crawler/web/hosts"
)

// day counts the requests to a host on one day of UTC. What is stored is never less than what was asked: requests are
// reserved before they are made, some at a time for large limits, so that a restart cannot exceed the limit.
type day struct {
	number   int64 // days since 1970; 0 if nothing is counted
	used     int
	reserved int // stored
	limit    int
	by       hosts.Daily // what limit follows from
}

// saved reports whether nothing is lost if the count is read from disk again.
func (d day) saved() bool { return d.used == d.reserved }

type savedDay struct {
	Day  int64 `json:"day"`
	Used int   `json:"used"`
}

// count counts one request against the limit of the day. The caller holds the host's turnstile. The error is a *Wait if
// the limit is reached.
func (g *Gate) count(ctx context.Context, host string, limit hosts.Daily) error {
	if limit == (hosts.Daily{}) {
		return nil
	}
	now := time.Now()
	number := now.Unix() / (24 * 60 * 60)
	g.mu.Lock()
	d, err := g.turnstile(host)
	if err != nil {
		g.mu.Unlock()
		return err
	}
	known, same := d.today.number == number, d.today.by == limit
	today := day{number: number, limit: d.today.limit, by: limit}
	g.mu.Unlock()
	if !known {
		var s savedDay
		if _, err := g.load("q"+host, &s); err != nil {
			return err
		}
		if s.Day == number {
			today.used, today.reserved = s.Used, s.Used
		}
	}
	if !known || !same {
		files := 0
		if limit.Percent > 0 && g.opts.Files != nil {
			files = g.opts.Files(host)
		}
		today.limit = limit.Limit(files)
	}

	d.storing.Lock()
	defer d.storing.Unlock()
	g.mu.Lock()
	if d.today.number != number {
		d.today = today
	}
	d.today.limit, d.today.by = today.limit, limit
	if d.today.used >= d.today.limit {
		g.mu.Unlock()
		return &Wait{Host: host, Until: time.Unix((number+1)*24*60*60, 0), Why: "daily"}
	}
	d.today.used++
	reserve := d.today.used > d.today.reserved
	if reserve {
		d.today.reserved = min(d.today.used+d.today.limit/256, d.today.limit)
	}
	store := savedDay{number, d.today.reserved}
	g.mu.Unlock()
	if !reserve {
		return nil
	}
	if err := g.store(ctx, "q"+host, store); err != nil {
		return fmt.Errorf("politeness: requests of the day of %s: %w", host, err)
	}
	return nil
}

// settle stores exact counts of hosts that rest, so that sweep may forget their turnstiles. It handles some at a time.
func (g *Gate) settle() {
	var resting []*turnstile
	var hosts []string
	now := time.Now()
	g.mu.Lock()
	if len(g.turnstiles) >= maxTurnstiles && now.Sub(g.settled) >= sweepEvery {
		g.settled = now
		for host, d := range g.turnstiles {
			if d.inside == 0 && d.waiting == 0 && !d.today.saved() && now.After(d.next.Add(time.Minute)) && len(resting) < 64 {
				d.waiting++ // sweep keeps it
				resting, hosts = append(resting, d), append(hosts, host)
			}
		}
	}
	g.mu.Unlock()
	for i, d := range resting {
		d.storing.Lock()
		g.mu.Lock()
		exact := savedDay{d.today.number, d.today.used}
		d.today.reserved = d.today.used
		g.mu.Unlock()
		g.save("q"+hosts[i], exact)
		d.storing.Unlock()
		g.mu.Lock()
		d.waiting--
		g.mu.Unlock()
	}
}
