package politeness

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/catalog"
	"odarchive/crawler/web/fetch"
)

// How long a robots.txt may be used (RFC 9309 §2.4), and how long an unreachable one counts as forbidding everything
// (§2.3.1.4).
const (
	robotsFresh       = 24 * time.Hour
	robotsUnreachable = 30 * 24 * time.Hour
	robotsRetry       = 15 * time.Minute // doubled with each failure, up to robotsFresh/4
	robotsRedirects   = 5
)

// Verdict says whether a URL may be fetched.
type Verdict = catalog.Verdict

// Robots decides whether robots.txt allows URLs. Its methods may be called concurrently.
type Robots struct {
	gate *Gate

	mu     sync.Mutex // guards what follows
	cached map[string]*list.Element
	recent *list.List               // of *policy, most recently used first
	going  map[string]chan struct{} // authorities whose file is being fetched
}

// policy is the robots.txt of one authority (scheme, host and port).
type policy struct {
	authority string
	rules     *Rules // of the last good copy; nil if there is none
	text      []byte // of that copy
	good      time.Time
	tried     time.Time // last attempt
	failing   time.Time // first failure since the last good copy; zero if none
	failures  int
	status    string // of the last attempt, for Verdict.Reason
	class     catalog.ErrorClass
}

func newRobots(g *Gate) *Robots {
	return &Robots{gate: g, cached: map[string]*list.Element{}, recent: list.New(), going: map[string]chan struct{}{}}
}

// Allowed returns the verdict on a URL. If there is no fresh copy of the host's robots.txt, it fetches one through the
// gate, so the caller must not hold the host. The error is a *Wait if the host must not be asked now, or that of
// Options.Fetch; then nothing is stored, and the next call fetches the file again.
func (r *Robots) Allowed(ctx context.Context, raw string) (Verdict, error) {
	u, err := address.Parse(raw)
	if err != nil {
		return Verdict{Reason: err.Error()}, nil
	}
	if v, ok := r.exempt(u); ok {
		return v, nil
	}
	p, err := r.policy(ctx, u)
	if err != nil {
		return Verdict{}, err
	}
	r.gate.setCrawlDelay(u.Group(), p)
	return p.verdict(u, time.Now()), nil
}

// exempt returns the verdict on a URL to which no robots.txt applies. ok is false if one does.
func (r *Robots) exempt(u address.URL) (v Verdict, ok bool) {
	if u.Scheme == "ftp" {
		return Verdict{Allowed: true, Reason: "no robots.txt applies"}, true
	}
	e := r.gate.opts.Settings(u.Group()).Robots
	if e == nil {
		return Verdict{}, false
	}
	r.gate.setCrawlDelay(u.Group(), &policy{rules: &Rules{}})
	return Verdict{Allowed: true, Reason: e.String(), Exception: e.String()}, true
}

// known returns the verdict by a copy in memory, however old. ok is false if there is none.
func (r *Robots) known(u address.URL) (v Verdict, ok bool) {
	if v, ok := r.exempt(u); ok {
		return v, true
	}
	r.mu.Lock()
	p := r.lookup(u.Authority())
	r.mu.Unlock()
	if p == nil {
		return Verdict{}, false
	}
	r.gate.setCrawlDelay(u.Group(), p)
	return p.verdict(u, time.Now()), true
}

// Unread returns why nothing of an authority may be fetched, because its robots.txt could not be read, or "". It does
// not ask the host.
func (r *Robots) Unread(authority string) string {
	r.mu.Lock()
	p := r.lookup(authority)
	r.mu.Unlock()
	if p == nil {
		p, _ = r.gate.recallRobots(authority) // what cannot be read says nothing
	}
	if p == nil {
		return ""
	}
	if v := p.verdict(address.URL{}, time.Now()); v.Temporary {
		return v.Reason
	}
	return ""
}

// verdict returns the verdict on a URL of the authority.
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
		return Verdict{Allowed: true, Reason: "robots.txt could not be read for 30 days and counts as missing"}
	default:
		return Verdict{Temporary: true, RetryAt: p.retryAt(), Class: p.class,
			Reason: "robots.txt of " + p.authority + " cannot be read (" + p.status + "): nothing may be fetched now"}
	}
}

// retryAt returns when the file may be fetched again.
func (p *policy) retryAt() time.Time {
	if p.failing.IsZero() {
		return p.tried.Add(robotsFresh)
	}
	return p.tried.Add(min(robotsRetry<<min(p.failures-1, 10), robotsFresh/4))
}

// policy returns the policy of the URL's authority. It fetches the file if necessary, once for all who wait for it.
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
		if p != nil && time.Now().Before(p.retryAt()) && (p.failing.IsZero() || !p.tried.Before(asked(ctx))) {
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
	r.gate.rememberRobots(p)
	if r.gate.opts.Fetched != nil {
		r.gate.opts.Fetched(p.copy(time.Now()))
	}
	return p, nil
}

// token returns the crawler's product token for an authority: the beginning of the User-Agent that it is sent.
func (g *Gate) token(authority string) string {
	_, host, _ := strings.Cut(authority, "://")
	agent := g.opts.Settings(host).UserAgent
	if token, _, _ := strings.Cut(agent, "/"); token != "" {
		return strings.TrimSpace(token)
	}
	return g.opts.Token
}

// Refresh forgets the policies in memory, since they depend on settings that have changed. They are read from disk
// again.
func (r *Robots) Refresh() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.cached)
	r.recent.Init()
}

// drop removes the policies of a host, or only those whose files could not be read, and returns their authorities.
func (r *Robots) drop(host string, failing bool) (authorities []string) {
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
		if err != nil || p == nil || failing && p.failing.IsZero() {
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

// lookup returns the policy of an authority in memory, or nil. The caller holds mu.
func (r *Robots) lookup(authority string) *policy {
	e, ok := r.cached[authority]
	if !ok {
		return nil
	}
	r.recent.MoveToFront(e)
	return e.Value.(*policy)
}

// insert adds or replaces a policy in memory. The caller holds mu.
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

// read fetches the file through the gate and returns the resulting policy (RFC 9309 §2.3.1).
func (r *Robots) read(ctx context.Context, u address.URL, old *policy) (*policy, error) {
	if r.gate.opts.Fetch == nil {
		return nil, errNoFetch
	}
	robots := u
	robots.Path, robots.Query, robots.User = "/robots.txt", "", ""
	pass := &Pass{gate: r.gate, ctx: ctx}
	if err := pass.enter(u.Authority(), r.gate.opts.Patience); err != nil {
		return nil, err
	}
	if lent := r.fresh(u.Authority(), old); lent != nil { // whoever lent the host has a copy
		pass.Leave(Result{})
		return lent, nil
	}
	if silent, ok := ctx.Value(silentKey{}).(time.Duration); ok {
		limited, cancel := context.WithTimeoutCause(ctx, silent,
			&unaskable{fmt.Sprintf("%s did not answer within %s", u.Authority(), silent), catalog.ErrTimeout})
		defer cancel()
		ctx = limited
	}
	redirects := 0
	answered := old != nil && old.failing.IsZero()
	ex, err := r.gate.opts.Fetch(ctx,
		fetch.Request{URL: robots.String(), MaxBody: maxRobots, CutOff: true, Answered: answered, Check: func(target string) error {
			if redirects++; redirects > robotsRedirects {
				return &fetch.Refused{Outcome: catalog.NoVersion, Class: catalog.ErrTooManyRedirect, Why: "more than five redirects"}
			}
			u, err := address.Parse(target)
			if err != nil {
				return &fetch.Refused{Outcome: catalog.NoVersion, Class: catalog.ErrBadURL, Why: err.Error()}
			}
			return pass.moveTo(u.Authority())
		}})
	if err != nil {
		pass.Leave(Result{})
		return nil, fmt.Errorf("politeness: robots.txt of %s: %w", u.Authority(), err)
	}
	defer func() { _ = ex.Body.Remove() }()   // a remaining file is removed with the spool
	if ex.ErrorClass == catalog.ErrDiskFull { // says nothing about the host
		pass.Leave(Result{})
		return nil, fmt.Errorf("politeness: robots.txt of %s: %w", u.Authority(),
			&fetch.OwnTrouble{Kind: fetch.TroubleDisk, Err: errors.New(ex.Why)})
	}
	// The request counts as the one failure of an unreachable host; the schedule decides when it is asked again.
	result := ResultOf(ex)
	result.Robots = true
	pass.Leave(result)
	p := &policy{authority: u.Authority(), tried: time.Now()}
	text, ok, err := robotsText(ex)
	if err != nil {
		return nil, fmt.Errorf("politeness: robots.txt of %s: %w", u.Authority(), err)
	}
	if ok {
		p.good, p.text = p.tried, text
		p.rules = ParseRobots(text, r.gate.token(p.authority))
		return p, nil
	}
	p.status, p.failing, p.failures = ex.Why, p.tried, 1
	silent := ex.RemoteAddr != "" && (ex.ErrorClass == catalog.ErrTimeout || ex.ErrorClass == catalog.ErrNetwork)
	if ex.Status == 0 && !silent { // a server that hangs or hangs up has failed, one that cannot be reached is none
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

// robotsText returns the text of a fetched robots.txt. It is empty if the file is unavailable, which allows everything.
// ok is false if the file is unreachable.
func robotsText(ex *fetch.Exchange) (text []byte, ok bool, err error) {
	if ex.Body != nil {
		text, err = io.ReadAll(io.LimitReader(ex.Body.Open(), maxRobots))
		return text, err == nil, err
	}
	switch s := ex.Status; {
	case ex.ErrorClass == catalog.ErrEmptyBody, ex.ErrorClass == catalog.ErrTooManyRedirect:
		return nil, true, nil
	case ex.ErrorClass != catalog.ErrHTTPStatus && ex.ErrorClass != catalog.ErrProtocol || s == 429 || s >= 500 || s < 300:
		return nil, false, nil
	default: // 3xx without a target, and 4xx
		return nil, true, nil
	}
}
