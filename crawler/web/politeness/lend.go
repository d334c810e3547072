package politeness

import (
	"context"
	"slices"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/catalog"
)

// Hosts may be asked by other processes, too, as long as one process decides who asks which: it lends a host (Lend),
// and nobody else enters it until the host is returned. The process that borrows adopts the state of the host and its
// robots.txt (Adopt), and keeps the pauses between its own requests. What the two tell each other are durations, since
// their clocks differ.

// State is what a process must know of a host to ask it.
type State struct {
	Wait     time.Duration // until the host may be asked
	Why      string        // it waits
	Crawl    time.Duration // Crawl-delay of robots.txt, cut to what the operator permits
	Latency  time.Duration // until the first byte, smoothed
	Requests int           // so far; the first one's latency is not smoothed

	Doors map[string]DoorState `json:",omitempty"` // by scheme, those with URLs that have failed
}

// DoorState is what a process must know of a door to judge the failures behind it.
type DoorState struct {
	Closed time.Duration `json:",omitempty"` // until it is opened
	Dead   []uint64      `json:",omitempty"` // hashes of the URLs that have failed since their own last answer
	Row    int           `json:",omitempty"` // how many of them failed since the last answer of any
}

// RobotsCopy is the robots.txt of an authority as a process has it, with the ages of what happened.
type RobotsCopy struct {
	Authority string             `json:"authority"` // scheme, host and port
	Text      []byte             `json:"text,omitempty"`
	Good      time.Duration      `json:"good"` // since the text was fetched; negative if there is no text
	Tried     time.Duration      `json:"tried"`
	Failing   time.Duration      `json:"failing"` // since the first failure after the text; negative for none
	Failures  int                `json:"failures,omitempty"`
	Status    string             `json:"status,omitempty"`
	Class     catalog.ErrorClass `json:"class,omitempty"`
}

// age returns how long ago a moment was, -1 for the zero time.
func age(now, at time.Time) time.Duration {
	if at.IsZero() {
		return -1
	}
	return max(0, now.Sub(at))
}

// moment is the inverse of age.
func moment(now time.Time, age time.Duration) time.Time {
	if age < 0 {
		return time.Time{}
	}
	return now.Add(-age)
}

func (p *policy) copy(now time.Time) RobotsCopy {
	return RobotsCopy{p.authority, p.text, age(now, p.good), age(now, p.tried), age(now, p.failing), p.failures, p.status, p.class}
}

// Copies returns the copies of robots.txt that apply to URLs, as far as there are any.
func (r *Robots) Copies(urls []string) (copies []RobotsCopy, err error) {
	now, seen := time.Now(), map[string]bool{}
	for _, raw := range urls {
		u, err := address.Parse(raw)
		if err != nil || u.Scheme == "ftp" || seen[u.Authority()] {
			continue
		}
		seen[u.Authority()] = true
		p, err := r.recalled(u.Authority())
		if err != nil {
			return nil, err
		}
		if p != nil {
			r.gate.setCrawlDelay(u.Group(), p)
			copies = append(copies, p.copy(now))
		}
	}
	return copies, nil
}

// Sitemaps returns the sitemaps that the robots.txt of a URL's host names, as far as it is in memory.
func (r *Robots) Sitemaps(url string) []string {
	u, err := address.Parse(url)
	if err != nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.lookup(u.Authority()); p != nil && p.rules != nil {
		return p.rules.Sitemaps
	}
	return nil
}

// recalled returns the policy of an authority that is in memory or on disk, or nil.
func (r *Robots) recalled(authority string) (*policy, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.lookup(authority)
	if p != nil {
		return p, nil
	}
	p, err := r.gate.recallRobots(authority)
	if p != nil && err == nil {
		r.insert(p)
	}
	return p, err
}

// fresh returns the policy of an authority in memory that may be used now and is not old, or nil.
func (r *Robots) fresh(authority string, old *policy) *policy {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.lookup(authority); p != nil && p != old && time.Now().Before(p.retryAt()) {
		return p
	}
	return nil
}

// Adopt takes over the copy of another process, unless this one has tried to fetch the file since. The copy of a host
// whose file is longer than the limit, or whose ages are impossible, is ignored.
func (r *Robots) Adopt(c RobotsCopy) {
	now := time.Now()
	if len(c.Text) > maxRobots || c.Tried < 0 || c.Failures < 0 || len(c.Status) > 1000 || c.Good < 0 && c.Failing < 0 {
		return
	}
	scheme, err := address.Parse(c.Authority + "/")
	if err != nil || scheme.Authority() != c.Authority {
		return
	}
	p := &policy{authority: c.Authority, text: c.Text, good: moment(now, c.Good), tried: moment(now, c.Tried),
		failing:  moment(now, c.Failing),
		failures: c.Failures, status: c.Status, class: c.Class}
	r.mu.Lock()
	old := r.lookup(c.Authority)
	if old != nil && !old.tried.Before(p.tried.Add(-time.Second)) { // the same file, or a newer one
		r.mu.Unlock()
		r.gate.setCrawlDelay(scheme.Group(), old)
		return
	}
	if c.Good >= 0 {
		if old != nil && old.rules != nil && string(old.text) == string(c.Text) {
			p.rules = old.rules
		} else {
			p.rules = ParseRobots(c.Text, r.gate.token(c.Authority))
		}
	}
	r.insert(p)
	r.mu.Unlock()
	r.gate.setCrawlDelay(scheme.Group(), p)
	r.gate.rememberRobots(p)
}

// Adopt makes a host what its state says. It is for a process that has borrowed the host.
func (g *Gate) Adopt(host string, s State) {
	g.mu.Lock()
	defer g.mu.Unlock()
	d, err := g.turnstile(host)
	if err != nil {
		return // only reading a database fails, and who borrows has none
	}
	now := time.Now()
	d.crawl, d.latency, d.requests, d.back, d.doors = s.Crawl, s.Latency, s.Requests, backoff{}, map[string]*door{}
	for scheme, one := range s.Doors {
		d.doors[scheme] = &door{dead: one.Dead[max(0, len(one.Dead)-maxDead):], row: one.Row}
		if one.Closed > 0 {
			d.doors[scheme].level, d.doors[scheme].until, d.doors[scheme].last = 1, now.Add(one.Closed), now
		}
	}
	d.last = now
	d.delay = g.pause(d, g.opts.Settings(host).Delay)
	d.next, d.why = now.Add(max(0, s.Wait)), s.Why
	d.open()
}

// Lent is a host that another process asks. Its methods may be called concurrently.
type Lent struct {
	g     *Gate
	host  string
	leave func(Result)
}

// Lend occupies a host for another process, with its address and its domain as the options say. The error is a *Wait if
// the host must not be asked for longer than patience, which Lend then does not wait. The caller must call Return once.
func (g *Gate) Lend(ctx context.Context, host string, patience time.Duration) (*Lent, State, error) {
	leave, err := g.enterOwn(ctx, host, patience)
	if err != nil {
		return nil, State{}, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	d := g.turnstiles[host]
	s := State{Wait: max(0, time.Until(d.next)), Why: d.why, Crawl: d.crawl, Latency: d.latency, Requests: d.requests}
	now := time.Now()
	for scheme, door := range d.doors {
		if s.Doors == nil {
			s.Doors = map[string]DoorState{}
		}
		s.Doors[scheme] = DoorState{max(0, door.until.Sub(now)), slices.Clone(door.dead), door.row}
	}
	return &Lent{g, host, leave}, s, nil
}

// Shares reports whether two hosts are never asked at the same time, because of their address, domain or group. Whoever
// holds one waits for the other in vain.
func (g *Gate) Shares(ctx context.Context, one, other string) (bool, error) {
	of, err := g.keys(ctx, one, g.opts.Settings(one))
	if err != nil {
		return false, err
	}
	keys, err := g.keys(ctx, other, g.opts.Settings(other))
	return slices.ContainsFunc(keys, func(key string) bool { return slices.Contains(of, key) }), err
}

// Note notes how the host behaved at a request of the other process, which may make more.
func (l *Lent) Note(r Result) { l.g.note(l.host, l.host, r, false) }

// Return frees the host after the last request, whose result is r, or after the time in which one could be made. The
// pause begins now.
func (l *Lent) Return(r Result) { l.leave(r) }

// Rest lets no host be asked before a time, and each host not for its delay after that: another process may ask hosts
// until then. It must be called before the first request.
func (g *Gate) Rest(until time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.rest = until
}
