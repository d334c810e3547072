package politeness

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/catalog"
	"odarchive/crawler/web/fetch"
)

// How long a robots.txt is good for (RFC 9309 §2.4) and how long a host that does not let us read it is taken to forbid
// everything (§2.3.1.4).
const (
	robotsFresh       = 24 * time.Hour
	robotsUnreachable = 30 * 24 * time.Hour
	robotsRetry       = 15 * time.Minute // doubled with each failure, up to robotsFresh/4
	robotsRedirects   = 5
)

// Verdict on one URL.
type Verdict struct {
	Allowed   bool
	Temporary bool      // not allowed because robots.txt cannot be read for now
	RetryAt   time.Time // of a temporary verdict
	Reason    string    // one sentence
	// Class of a temporary verdict on a host that could not be reached at all, which is the outcome of the visit: forbidden
	// target, network, DNS, ...; "" where the server itself failed to give its robots.txt.
	Class      catalog.ErrorClass
	CrawlDelay time.Duration
	Sitemaps   []string // as robots.txt lists them
}

// Outcome of a visit that a verdict forbids.
func (v Verdict) Outcome() catalog.Outcome {
	switch v.Class {
	case "":
		return catalog.RobotsDenied
	case catalog.ErrForbiddenTarget:
		return catalog.Blocked
	}
	return catalog.NoVersion
}

// Robots decides by robots.txt. Its methods may be called concurrently.
type Robots struct {
	gate *Gate

	mu     sync.Mutex // guards what follows
	cached map[string]*list.Element
	recent *list.List               // of *policy, the most recently used first
	going  map[string]chan struct{} // authorities whose file is being fetched
}

// policy of one authority (scheme, host and port): what its robots.txt says.
type policy struct {
	authority string
	rules     *Rules // of the last good copy; nil: there is none
	text      []byte // that copy
	good      time.Time
	tried     time.Time // last attempt
	failing   time.Time // first failure since the last good copy; zero: not failing
	failures  int
	status    string // of the last attempt, for the reason
	class     catalog.ErrorClass
}

func newRobots(g *Gate) *Robots {
	return &Robots{gate: g, cached: map[string]*list.Element{}, recent: list.New(), going: map[string]chan struct{}{}}
}

// Allowed says whether a URL may be fetched. It fetches the host's robots.txt if there is no fresh copy, for which it
// enters the gate: the caller must not be holding the host. The error is *Wait where the host has to be waited for. After
// an error of Options.Fetch there is no verdict, and none is kept: the file is fetched again the next time.
func (r *Robots) Allowed(ctx context.Context, raw string) (Verdict, error) {
	u, err := address.Parse(raw)
	if err != nil {
		return Verdict{Reason: err.Error()}, nil
	}
	if u.Scheme == "ftp" || r.gate.opts.IgnoreRobots != nil && r.gate.opts.IgnoreRobots(u.Group()) {
		return Verdict{Allowed: true, Reason: "no robots.txt applies"}, nil
	}
	p, err := r.policy(ctx, u)
	if err != nil {
		return Verdict{}, err
	}
	return p.verdict(u, time.Now()), nil
}

// known is Allowed for a host whose file need not be fetched now: any copy will do. ok is false where there is none.
func (r *Robots) known(u address.URL) (v Verdict, ok bool) {
	r.mu.Lock()
	p := r.lookup(u.Authority())
	r.mu.Unlock()
	if p == nil {
		return Verdict{}, false
	}
	return p.verdict(u, time.Now()), true
}

func (p *policy) verdict(u address.URL, now time.Time) Verdict {
	stale := now.Sub(p.good) > robotsUnreachable
	switch {
	case p.rules != nil && (p.failing.IsZero() || !stale):
		v := Verdict{Allowed: p.rules.Allowed(u.PathAndQuery()), CrawlDelay: p.rules.CrawlDelay, Sitemaps: p.rules.Sitemaps}
		if v.Reason = "robots.txt allows it"; !v.Allowed {
			v.Reason = "robots.txt of " + p.authority + " forbids " + u.PathAndQuery()
		}
		return v
	case now.Sub(p.failing) > robotsUnreachable:
		return Verdict{Allowed: true, Reason: "robots.txt could not be read for 30 days: taken as missing"}
	default:
		return Verdict{Temporary: true, RetryAt: p.retryAt(), Class: p.class, Reason: "robots.txt of " + p.authority + " cannot be read (" + p.status + "): nothing may be fetched for now"}
	}
}

// retryAt is when the file is to be fetched again.
func (p *policy) retryAt() time.Time {
	if p.failing.IsZero() {
		return p.tried.Add(robotsFresh)
	}
	return p.tried.Add(min(robotsRetry<<min(p.failures-1, 10), robotsFresh/4))
}

// policy of an authority, fetched if need be; one fetch serves all who wait for it.
func (r *Robots) policy(ctx context.Context, u address.URL) (*policy, error) {
	authority := u.Authority()
	for {
		r.mu.Lock()
		p := r.lookup(authority)
		if p == nil {
			var err error
			if p, err = r.gate.recallRobots(authority); err != nil {
				r.mu.Unlock()
				return nil, err
			}
			if p != nil {
				r.insert(p)
			}
		}
		if p != nil && time.Now().Before(p.retryAt()) {
			r.mu.Unlock()
			return p, nil
		}
		wait, busy := r.going[authority]
		if !busy {
			break
		}
		r.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	done := make(chan struct{})
	r.going[authority] = done
	old := r.lookup(authority)
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		delete(r.going, authority)
		r.mu.Unlock()
		close(done)
	}()

	p, err := r.read(ctx, u, old)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	r.insert(p)
	r.mu.Unlock()
	if p.rules != nil {
		r.gate.crawlDelay(u.Group(), p.rules.CrawlDelay)
	}
	r.gate.rememberRobots(p)
	return p, nil
}

// forgive forgets the files of a host that could not be read, and returns whose they were.
func (r *Robots) forgive(host string) (authorities []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, scheme := range []string{"http", "https"} {
		u, err := address.Parse(scheme + "://" + host + "/")
		if err != nil {
			continue
		}
		authority := u.Authority()
		p := r.lookup(authority)
		if p == nil {
			p, err = r.gate.recallRobots(authority)
		}
		if err != nil || p == nil || p.failing.IsZero() {
			continue
		}
		authorities = append(authorities, authority)
		if e, ok := r.cached[authority]; ok {
			r.recent.Remove(e)
			delete(r.cached, authority)
		}
	}
	return authorities
}

// lookup in memory; the caller holds mu.
func (r *Robots) lookup(authority string) *policy {
	e, ok := r.cached[authority]
	if !ok {
		return nil
	}
	r.recent.MoveToFront(e)
	return e.Value.(*policy)
}

// insert or replace; the caller holds mu.
func (r *Robots) insert(p *policy) {
	if e, ok := r.cached[p.authority]; ok {
		e.Value = p
		r.recent.MoveToFront(e)
		return
	}
	r.cached[p.authority] = r.recent.PushFront(p)
	for r.recent.Len() > r.gate.opts.RobotsCache {
		oldest := r.recent.Back()
		delete(r.cached, oldest.Value.(*policy).authority)
		r.recent.Remove(oldest)
	}
}

// read fetches the file through the gate and weighs what came (RFC 9309 §2.3.1).
func (r *Robots) read(ctx context.Context, u address.URL, old *policy) (*policy, error) {
	if r.gate.opts.Fetch == nil {
		return nil, errNoFetch
	}
	robots := u
	robots.Path, robots.Query, robots.User = "/robots.txt", "", ""
	pass := &Pass{gate: r.gate, ctx: ctx}
	if err := pass.enter(u.Group(), r.gate.opts.Patience); err != nil {
		return nil, err
	}
	redirects := 0
	answered := old != nil && old.failing.IsZero()
	ex, err := r.gate.opts.Fetch(ctx, fetch.Request{URL: robots.String(), MaxBody: maxRobots, CutOff: true, Answered: answered, Check: func(target string) error {
		if redirects++; redirects > robotsRedirects {
			return &fetch.Refused{Outcome: catalog.NoVersion, Class: catalog.ErrTooManyRedirect, Why: "more than five redirects"}
		}
		return pass.move(target)
	}})
	if err != nil {
		pass.Leave(Result{})
		return nil, fmt.Errorf("politeness: robots.txt of %s: %w", u.Authority(), err)
	}
	defer func() { _ = ex.Body.Remove() }()   // a leftover is cleared with the spool
	if ex.ErrorClass == catalog.ErrDiskFull { // which says nothing about the host
		pass.Leave(Result{})
		return nil, fmt.Errorf("politeness: robots.txt of %s: %w", u.Authority(), &fetch.OwnTrouble{Kind: fetch.TroubleDisk, Err: errors.New(ex.Why)})
	}
	// A host that cannot be reached has failed us once with this and will be asked again by its own schedule.
	pass.Leave(ResultOf(ex))
	p := &policy{authority: u.Authority(), tried: time.Now()}
	text, ok, err := judge(ex)
	if err != nil {
		return nil, fmt.Errorf("politeness: robots.txt of %s: %w", u.Authority(), err)
	}
	if ok {
		p.good, p.text = p.tried, text
		p.rules = ParseRobots(text, r.gate.opts.Token)
		return p, nil
	}
	p.status, p.failing, p.failures = ex.Why, p.tried, 1
	if ex.Status == 0 {
		p.class = ex.ErrorClass
	}
	if old != nil {
		p.rules, p.text, p.good = old.rules, old.text, old.good
		if !old.failing.IsZero() {
			p.failing, p.failures = old.failing, old.failures+1
		}
	}
	return p, nil
}

// judge an answer: ok with the text that counts (none where the file is unavailable, which allows everything), or not ok
// where it is unreachable.
func judge(ex *fetch.Exchange) (text []byte, ok bool, err error) {
	if ex.Body != nil {
		text, err = io.ReadAll(io.LimitReader(ex.Body.Open(), maxRobots))
		return text, err == nil, err
	}
	switch s := ex.Status; {
	case ex.ErrorClass == catalog.ErrEmptyBody, ex.ErrorClass == catalog.ErrTooManyRedirect:
		return nil, true, nil
	case ex.ErrorClass != catalog.ErrHTTPStatus && ex.ErrorClass != catalog.ErrProtocol || s == 429 || s >= 500 || s < 300:
		return nil, false, nil
	default: // 3xx that lead nowhere and 4xx
		return nil, true, nil
	}
}
