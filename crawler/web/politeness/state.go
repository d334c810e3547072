package politeness

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/triplestore/kv"
)

// State that survives a restart, as JSON in kv.SpacePoliteness: "d" + host for back-offs, "r" + authority for
// robots.txt, "q" + host for the requests of a day. Package hosts has keys that begin with "s".

type savedBackoff struct {
	Level int       `json:"level"`
	Until time.Time `json:"until"`
	Last  time.Time `json:"last"`
	Row   int       `json:"row"`
	Why   string    `json:"why"`
}

type savedRobots struct {
	Text     []byte    `json:"text"`
	Good     time.Time `json:"good"`
	Tried    time.Time `json:"tried"`
	Failing  time.Time `json:"failing"`
	Failures int       `json:"failures"`
	Status   string    `json:"status"`

	Class catalog.ErrorClass `json:"class,omitempty"`
}

// recall loads the back-off of a door. The caller holds mu.
func (g *Gate) recall(key string, d *door) error {
	var s savedBackoff
	found, err := g.load("d"+key, &s)
	if err != nil || !found {
		return err
	}
	d.back = backoff{level: s.Level, until: s.Until, last: s.Last, row: s.Row, why: s.Why}
	d.next, d.why = s.Until, s.Why
	return nil
}

func (g *Gate) remember(key string, b backoff) {
	g.save("d"+key, savedBackoff{b.level, b.until, b.last, b.row, b.why})
}

func (g *Gate) recallRobots(authority string) (*policy, error) {
	var s savedRobots
	found, err := g.load("r"+authority, &s)
	if err != nil || !found {
		return nil, err
	}
	p := &policy{authority: authority, text: s.Text, good: s.Good, tried: s.Tried, failing: s.Failing, failures: s.Failures, status: s.Status, class: s.Class}
	if !s.Good.IsZero() {
		p.rules = ParseRobots(s.Text, g.token(authority))
	}
	switch p.class {
	case catalog.ErrForbiddenTarget, catalog.ErrTLS, catalog.ErrDNS:
		p.tried = time.Time{} // the verdict depends on settings, which may have changed
	}
	return p, nil
}

func (g *Gate) rememberRobots(p *policy) {
	g.save("r"+p.authority, savedRobots{p.text, p.good, p.tried, p.failing, p.failures, p.status, p.class})
}

// load decodes a record into v. It ignores a damaged one.
func (g *Gate) load(key string, v any) (found bool, err error) {
	if g.opts.DB == nil {
		return false, nil
	}
	var damaged error
	err = g.opts.DB.View(func(txn *kv.Txn) error {
		found, err = txn.Read(kv.SpacePoliteness, []byte(key), func(b []byte) error { damaged = json.Unmarshal(b, v); return nil })
		return err
	})
	if err == nil && damaged != nil {
		g.opts.Log.Warn("a damaged record of politeness is ignored", "key", key, "error", damaged)
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("politeness: recall %s: %w", key, err)
	}
	return found, nil
}

// store stores a record for the next process.
func (g *Gate) store(ctx context.Context, key string, v any) error {
	if g.opts.DB == nil {
		return nil
	}
	b, err := json.Marshal(v)
	if err != nil || len(b) > kv.MaxValue {
		return err
	}
	return g.opts.DB.Update(ctx, func(txn *kv.Txn) error { return txn.Set(kv.SpacePoliteness, []byte(key), b) })
}

// save is store where a failure matters only after a restart: it is logged, and the crawl continues.
func (g *Gate) save(key string, v any) {
	if err := g.store(context.Background(), key, v); err != nil {
		g.opts.Log.Warn("politeness state not saved", "key", key, "error", err)
	}
}

// Forgive ends the back-off of a host and the time before which its robots.txt is not fetched again. The pause between
// two requests stays.
func (g *Gate) Forgive(ctx context.Context, host string) {
	g.mu.Lock()
	d, err := g.door(host)
	if err == nil {
		d.back = backoff{}
		if d.why != "politeness" && d.why != "robots" {
			d.next, d.why = time.Time{}, ""
			if !d.last.IsZero() {
				d.next, d.why = d.last.Add(d.delay), "politeness"
			}
		}
		d.open()
	}
	g.mu.Unlock()
	keys := []string{"d" + host}
	for _, authority := range g.Robots.drop(host, true) {
		keys = append(keys, "r"+authority)
	}
	if g.opts.DB == nil {
		return
	}
	if err := g.remove(ctx, keys); err != nil {
		g.opts.Log.Warn("a back-off was not ended", "host", host, "error", err)
	}
}

// Status is the state of one host.
type Status struct {
	Host     string
	State    string    // "free", "busy", "waiting"
	Wait     string    // why it waits: "politeness", "robots", "retry-after", "back-off"
	Next     time.Time // when it may be asked
	Delay    time.Duration
	Latency  time.Duration // until the first byte, smoothed
	Requests int           // since the gate loaded the host
	Failures int           // failed requests since then
	Queue    int           // how many wait to enter
}

// Status returns the state of a host. ok is false if the gate does not have the host in memory.
func (g *Gate) Status(host string) (s Status, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	d, ok := g.doors[host]
	if !ok {
		return Status{Host: host, State: "free"}, false
	}
	return d.status(host, time.Now()), true
}

func (d *door) status(host string, now time.Time) Status {
	s := Status{Host: host, State: "free", Next: d.next, Delay: d.delay, Latency: d.latency, Requests: d.requests, Failures: d.failures, Queue: d.waiting}
	switch {
	case d.inside > 0:
		s.State = "busy"
	case now.Before(d.next):
		s.State, s.Wait = "waiting", d.why
	}
	return s
}

// Waiting returns how many of the hosts in memory must not be asked now.
func (g *Gate) Waiting() (n int) {
	now := time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, d := range g.doors {
		if d.inside == 0 && now.Before(d.next) {
			n++
		}
	}
	return n
}

// Hosts returns the states of the hosts in memory, sorted by name.
func (g *Gate) Hosts() []Status {
	now := time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	all := make([]Status, 0, len(g.doors))
	for host, d := range g.doors {
		all = append(all, d.status(host, now))
	}
	slices.SortFunc(all, func(a, b Status) int {
		switch {
		case a.Host < b.Host:
			return -1
		case a.Host > b.Host:
			return 1
		}
		return 0
	})
	return all
}

// Forget removes what is remembered of a host: back-off, robots.txt, answer times, and the count of the day. The pause
// since the last request stays. What an operator has set for the host is not the gate's, and stays, too.
func (g *Gate) Forget(ctx context.Context, host string) error {
	g.mu.Lock()
	d, err := g.door(host)
	if err != nil {
		g.mu.Unlock()
		return fmt.Errorf("politeness: forget %s: %w", host, err)
	}
	d.waiting++ // sweep keeps it
	g.mu.Unlock()
	d.storing.Lock() // until the records are gone, since a request must be counted after that
	defer d.storing.Unlock()
	g.mu.Lock()
	d.waiting--
	d.back, d.latency, d.crawl, d.failures, d.today = backoff{}, 0, 0, 0, day{}
	d.next, d.why = time.Time{}, ""
	if !d.last.IsZero() {
		d.next, d.why = d.last.Add(g.opts.Settings(host).Delay), "politeness"
	}
	d.open()
	g.mu.Unlock()
	keys := []string{"d" + host, "q" + host}
	for _, authority := range g.Robots.drop(host, false) {
		keys = append(keys, "r"+authority)
	}
	if g.opts.DB == nil {
		return nil
	}
	if err := g.remove(ctx, keys); err != nil {
		return fmt.Errorf("politeness: forget %s: %w", host, err)
	}
	return nil
}

// remove deletes records.
func (g *Gate) remove(ctx context.Context, keys []string) error {
	return g.opts.DB.Update(ctx, func(txn *kv.Txn) error {
		for _, key := range keys {
			if err := txn.Delete(kv.SpacePoliteness, []byte(key)); err != nil {
				return err
			}
		}
		return nil
	})
}
