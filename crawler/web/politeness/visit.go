package politeness

import (
	"cmp"
	"context"
	"errors"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/catalog"
	"odarchive/crawler/web/fetch"
)

// Pass is the passage through the gate for one URL and the targets of its redirects. It belongs to one goroutine.
type Pass struct {
	gate  *Gate
	ctx   context.Context // of the visit; Check, which the fetch calls, has no parameter for it
	door  string          // the one whose host is held: scheme, host and port; "" for none
	since time.Time       // when it was entered
	leave func(Result)

	exception string // the permission by which some robots.txt did not apply
}

// Visit checks robots.txt for a URL and enters its host. If the verdict allows the URL, the caller sets the fetch's
// Check to pass.Check, and calls pass.Leave afterwards. Otherwise pass is nil. The error is a *Wait if the host must
// not be asked for longer than patience, so that the caller can visit another meanwhile, or if an error came
// instead of its robots.txt, so that nothing may be fetched until it is asked again. For robots.txt and the targets
// of redirects, Visit and Check wait up to Options.Patience.
func (g *Gate) Visit(ctx context.Context, url string, patience time.Duration) (*Pass, Verdict, error) {
	v, err := g.Robots.Allowed(ctx, url)
	if err != nil || !v.Allowed && !v.Unread() {
		return nil, v, err
	}
	u, err := address.Parse(url)
	if err != nil {
		return nil, Verdict{Reason: err.Error()}, nil
	}
	if v.Unread() {
		return nil, v, &Wait{Host: u.Group(), Door: u.Authority(), Until: v.RetryAt, Why: WhyUnread, Failure: v.Reason}
	}
	p := &Pass{gate: g, ctx: ctx, exception: v.Exception}
	if err := p.enter(u.Authority(), patience); err != nil {
		return nil, v, err
	}
	return p, v, nil
}

func (p *Pass) enter(door string, patience time.Duration) error {
	leave, err := p.gate.enter(p.ctx, door, patience)
	if err == nil {
		p.door, p.since, p.leave = door, time.Now(), leave
	}
	return err
}

// redirected ends the passage through a host that has answered with a redirect.
func (p *Pass) redirected() { p.Leave(Result{URL: p.door + "/", Latency: time.Since(p.since)}) }

// Leave ends the passage and reports how the host behaved. A second call does nothing.
func (p *Pass) Leave(r Result) {
	if p.leave != nil {
		p.leave(r)
	}
	p.door, p.leave = "", nil
}

// Check is for fetch.Request.Check: it moves on to the target of a redirect, if robots.txt and the host's state allow
// it.
func (p *Pass) Check(target string) error {
	u, err := address.Parse(target)
	if err != nil {
		return &fetch.Refused{Outcome: catalog.NoVersion, Class: catalog.ErrBadURL, Why: err.Error()}
	}
	// An old copy suffices while the host is held, since fetching a new one would wait for this passage to end.
	v, ok := p.gate.Robots.known(u)
	if !ok {
		p.redirected()
		if v, err = p.gate.Robots.Allowed(p.ctx, target); err != nil {
			return refusal(err)
		}
	}
	if !v.Allowed {
		return &fetch.Refused{Outcome: v.Outcome(), Class: v.Class, Why: "redirect to " + target + ": " + v.Reason}
	}
	p.exception = cmp.Or(p.exception, v.Exception)
	return p.moveTo(u.Authority())
}

// Exception returns the permission by which the robots.txt of a host of the visit did not apply, in one sentence, or
// "".
func (p *Pass) Exception() string { return p.exception }

// moveTo enters another door, or the same one again: every request counts, so the pause is kept.
func (p *Pass) moveTo(door string) error {
	p.redirected()
	if err := p.enter(door, p.gate.opts.Patience); err != nil {
		return refusal(err)
	}
	return nil
}

// refusal returns a *fetch.Refused for a *Wait, and other errors unchanged.
func refusal(err error) error {
	var wait *Wait
	if errors.As(err, &wait) {
		return &fetch.Refused{Outcome: catalog.RetryLater, Why: "redirect: " + wait.Error()}
	}
	return err
}

// Held returns how long a host must not be asked from now on, and why, for frontier.Result; 0 if it may be asked.
func (g *Gate) Held(host string) (time.Duration, string) {
	at, why := g.Next(host)
	if d := time.Until(at); d > 0 {
		return d, why
	}
	return 0, ""
}

type askedKey struct{}

// Asked returns a context for what a person asks for now. A door that is closed for failures does not prevent it, nor a
// robots.txt that could not be read before. What the host, its robots.txt and the operator ask for stays.
func Asked(ctx context.Context) context.Context {
	return context.WithValue(ctx, askedKey{}, time.Now())
}

// asked returns when a person asked, the zero time if nobody did.
func asked(ctx context.Context) time.Time {
	at, _ := ctx.Value(askedKey{}).(time.Time)
	return at
}
