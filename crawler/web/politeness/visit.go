package politeness

import (
	"context"
	"errors"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/catalog"
	"odarchive/crawler/web/fetch"
)

// Pass is the passage through the gate for one URL and wherever its redirects lead. It belongs to one goroutine.
type Pass struct {
	gate  *Gate
	ctx   context.Context // of the one visit this pass is for; Check, called back by the fetch, has none
	host  string          // the one that is held; "": none
	leave func(Result)
}

// Visit asks for one URL: robots.txt first, then the host. With an allowed verdict comes a Pass, which the caller hands to
// the fetch (Check: pass.Check) and leaves afterwards. With a verdict against it, pass is nil. The error is *Wait where the
// host must be left alone for longer than patience, so that its caller may visit another meanwhile. What has begun, robots.txt
// and the way that redirects lead, is waited for as long as the gate is patient.
func (g *Gate) Visit(ctx context.Context, url string, patience time.Duration) (*Pass, Verdict, error) {
	v, err := g.Robots.Allowed(ctx, url)
	if err != nil || !v.Allowed {
		return nil, v, err
	}
	host, err := address.Host(url)
	if err != nil {
		return nil, Verdict{Reason: err.Error()}, nil
	}
	p := &Pass{gate: g, ctx: ctx}
	if err := p.enter(host, patience); err != nil {
		return nil, v, err
	}
	return p, v, nil
}

func (p *Pass) enter(host string, patience time.Duration) error {
	leave, err := p.gate.enter(p.ctx, host, patience)
	if err == nil {
		p.host, p.leave = host, leave
	}
	return err
}

// Leave ends the passage and says how the host behaved. It may be called twice.
func (p *Pass) Leave(r Result) {
	if p.leave != nil {
		p.leave(r)
	}
	p.host, p.leave = "", nil
}

// Check is fetch.Request.Check: it moves on to the host of a redirect, if its robots.txt and its state allow it.
func (p *Pass) Check(target string) error {
	u, err := address.Parse(target)
	if err != nil {
		return &fetch.Refused{Outcome: catalog.NoVersion, Class: catalog.ErrBadURL, Why: err.Error()}
	}
	// A copy that is at hand will do while the host is held: fetching a new one would wait for ourselves.
	v, ok := p.gate.Robots.known(u)
	if !ok {
		p.Leave(Result{})
		if v, err = p.gate.Robots.Allowed(p.ctx, target); err != nil {
			return refusal(err)
		}
	}
	if !v.Allowed {
		return &fetch.Refused{Outcome: v.Outcome(), Class: v.Class, Why: "redirect to " + target + ": " + v.Reason}
	}
	return p.move(target)
}

// move to the host of a URL. Every request counts, so the pause is kept on the way to the same host too.
func (p *Pass) move(target string) error {
	u, err := address.Parse(target)
	if err != nil {
		return &fetch.Refused{Outcome: catalog.NoVersion, Class: catalog.ErrBadURL, Why: err.Error()}
	}
	p.Leave(Result{})
	if err := p.enter(u.Group(), p.gate.opts.Patience); err != nil {
		return refusal(err)
	}
	return nil
}

// refusal turns a long wait for another host into an outcome of the visit.
func refusal(err error) error {
	var wait *Wait
	if errors.As(err, &wait) {
		return &fetch.Refused{Outcome: catalog.RetryLater, Why: "redirect: " + wait.Error()}
	}
	return err
}

// Held is how long from now a host must be left alone, and why; 0 if it need not. It is what a result tells the frontier.
func (g *Gate) Held(host string) (time.Duration, string) {
	at, why := g.Next(host)
	if d := time.Until(at); d > 0 {
		return d, why
	}
	return 0, ""
}
