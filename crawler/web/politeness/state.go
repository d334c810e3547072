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

// State that survives a restart, as JSON in kv.SpacePoliteness: "d" + host for back-offs and closed doors, "r" +
// authority for robots.txt, "q" + host for the requests of a day. Package hosts has keys that begin with "s".

type savedHost struct {
	Level int       `json:"level,omitempty"`
	Until time.Time `json:"until,omitzero"`
	Last  time.Time `json:"last,omitzero"`
	Why   string    `json:"why,omitempty"`

	Doors map[string]savedDoor `json:"doors,omitempty"` // by scheme
}

type savedDoor struct {
	Dead  []uint64  `json:"dead"`
	Row   int       `json:"row,omitempty"`
	Level int       `json:"level,omitempty"`
	Until time.Time `json:"until,omitzero"`
	Last  time.Time `json:"last,omitzero"`
	Error string    `json:"error,omitempty"`
}

// saved returns what is stored of a turnstile: the back-off, and the doors with URLs that have failed.
func (t *turnstile) saved() savedHost {
	s := savedHost{Level: t.back.level, Until: t.back.until, Last: t.back.last, Why: t.back.why}
	for scheme, d := range t.doors {
		if s.Doors == nil {
			s.Doors = map[string]savedDoor{}
		}
		s.Doors[scheme] = savedDoor{slices.Clone(d.dead), d.row, d.level, d.until, d.last, d.error}
	}
	return s
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

// recall loads the back-off and the doors of a turnstile. The caller holds mu.
func (g *Gate) recall(key string, d *turnstile) error {
	var s savedHost
	found, err := g.load("d"+key, &s)
	if err != nil || !found {
		return err
	}
	d.restore(s)
	return nil
}

// restore is the inverse of saved.
func (t *turnstile) restore(s savedHost) {
	t.back = backoff{level: s.Level, until: s.Until, last: s.Last, why: s.Why}
	t.next, t.why = s.Until, s.Why
	for scheme, d := range s.Doors {
		if t.doors == nil {
			t.doors = map[string]*door{}
		}
		t.doors[scheme] = &door{d.Dead, d.Row, d.Level, d.Until, d.Last, d.Error}
	}
}

func (g *Gate) recallRobots(authority string) (*policy, error) {
	var s savedRobots
	found, err := g.load("r"+authority, &s)
	if err != nil || !found {
		return nil, err
	}
	p := &policy{authority: authority, text: s.Text, good: s.Good, tried: s.Tried, failing: s.Failing, failures: s.Failures,
		status: s.Status, class: s.Class}
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

// Forgive ends the back-off of a host, opens its doors, and ends the time before which its robots.txt is not fetched
// again. The pause between two requests stays.
func (g *Gate) Forgive(ctx context.Context, host string) {
	g.mu.Lock()
	d, err := g.turnstile(host)
	if err == nil {
		d.back, d.doors = backoff{}, nil
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
	var s savedHost
	if found, err := g.load(keys[0], &s); g.opts.DB == nil || err == nil && !found && len(keys) == 1 {
		return
	}
	if err := g.remove(ctx, keys); err != nil {
		g.opts.Log.Warn("a back-off was not ended", "host", host, "error", err)
	}
}

// Status is the state of one host.
type Status struct {
	Host     string
	State    string    // "free", "busy", "waiting": it, or one of its doors
	Wait     string    // why it waits: "politeness", "robots", "retry-after", "back-off"
	Next     time.Time // when it may be asked
	Delay    time.Duration
	Latency  time.Duration // until the first byte, smoothed
	Requests int           // since the gate loaded the host
	Failures int           // failed requests since then
	Queue    int           // how many wait to enter
	Closed   []Closed      // doors
}

// Status returns the state of a host. ok is false if the gate does not have the host in memory.
func (g *Gate) Status(host string) (s Status, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	d, ok := g.turnstiles[host]
	if !ok {
		return Status{Host: host, State: "free"}, false
	}
	return d.status(host, time.Now()), true
}

func (d *turnstile) status(host string, now time.Time) Status {
	s := Status{Host: host, State: "free", Next: d.next, Delay: d.delay, Latency: d.latency, Requests: d.requests, Failures: d.failures,
		Queue: d.waiting, Closed: d.closedDoors(host, now)}
	switch {
	case d.inside > 0:
		s.State = "busy"
	case now.Before(d.next):
		s.State, s.Wait = "waiting", d.why
	case len(s.Closed) > 0:
		s.State, s.Wait, s.Next = "waiting", "back-off", s.Closed[0].Until
	}
	return s
}

// Waiting returns how many of the hosts in memory must not be asked now, or have a closed door.
func (g *Gate) Waiting() (n int) {
	now := time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	for host, d := range g.turnstiles {
		if d.inside == 0 && (now.Before(d.next) || len(d.closedDoors(host, now)) > 0) {
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
	all := make([]Status, 0, len(g.turnstiles))
	for host, d := range g.turnstiles {
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
	d, err := g.turnstile(host)
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
	d.back, d.doors, d.latency, d.crawl, d.failures, d.today = backoff{}, nil, 0, 0, 0, day{}
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
