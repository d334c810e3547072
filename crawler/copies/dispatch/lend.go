package dispatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/web/politeness"
)

// lend lends the host of a lease to a worker.
func (d *Desk) lend(ctx context.Context, worker string, lease *frontier.Lease) (*Grant, error) {
	g := &Grant{Ref: Ref{lease.Group, lease.Epoch}}
	var urls []string
	for _, job := range lease.Jobs {
		described, err := d.o.Office.Describe(ctx, job)
		if err != nil {
			return nil, err
		}
		g.Jobs, urls = append(g.Jobs, described), append(urls, job.URL)
	}
	lent, err := d.open(ctx, g, urls)
	if err != nil {
		return nil, err
	}
	l := &loan{Ref: g.Ref, worker: worker, lease: lease, lent: lent, jobs: make(map[string]jobState, len(lease.Jobs))}
	for _, job := range lease.Jobs {
		l.jobs[job.Key] = waiting
	}
	d.add(l)
	return g, nil
}

// open occupies the host of a grant, and adds the state of the host.
func (d *Desk) open(ctx context.Context, g *Grant, urls []string) (lent *politeness.Lent, err error) {
	var ok bool
	if g.Host, ok = d.o.Office.Host(g.Group); !ok {
		return nil, fmt.Errorf("dispatch: %s: %w", g.Group, errOwn)
	}
	if g.Robots, err = d.o.Gate.Robots.Copies(urls); err != nil {
		return nil, err
	}
	lent, g.State, err = d.o.Gate.Lend(ctx, g.Group, grantPatience)
	return lent, err
}

// add adds a loan, which begins now.
func (d *Desk) add(l *loan) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l.ends = time.Now().Add(d.o.Lease)
	d.loans[l.Ref] = l
	d.counts.Granted++
}

// Borrow answers a Borrow.
func (d *Desk) Borrow(ctx context.Context, b Borrow) Borrowed {
	d.mu.Lock()
	known, full := d.workers[b.Worker] != nil, d.closing || len(d.loans) >= maxOut
	d.next++
	g := &Grant{Ref: Ref{b.Host, d.next}}
	d.mu.Unlock()
	if b.Version != Version || !known || full {
		return Borrowed{Wait: time.Second, Why: "busy"}
	}
	if !isHost(b.Host) {
		return Borrowed{Own: true} // no sound worker asks for it
	}
	if isHost(b.For.Group) { // else the worker returns its lease only after the visit, which would wait for that
		if shares, err := d.o.Gate.Shares(ctx, b.For.Group, b.Host); err != nil || shares {
			return Borrowed{Own: shares, Wait: time.Second, Why: "busy"}
		}
	}
	lent, err := d.open(ctx, g, []string{"http://" + b.Host + "/", "https://" + b.Host + "/"})
	var wait *politeness.Wait
	switch {
	case errors.As(err, &wait):
		return Borrowed{Wait: max(time.Until(wait.Until), time.Millisecond), Why: wait.Why}
	case errors.Is(err, errOwn):
		return Borrowed{Own: true}
	case err != nil:
		return Borrowed{Wait: time.Second, Why: err.Error()}
	}
	d.add(&loan{Ref: g.Ref, worker: b.Worker, lent: lent})
	return Borrowed{Grant: g}
}

// Renew answers a Renew.
func (d *Desk) Renew(r Renew) (held Renewed) {
	if r.Version != Version || len(r.Leases) > maxRefs {
		return held
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.workers[r.Worker] != nil {
		d.see(r.Worker, "")
	}
	for _, ref := range r.Leases {
		if l := d.loans[ref]; l != nil && l.worker == r.Worker && d.extend(l) {
			held.Leases = append(held.Leases, ref)
		}
	}
	return held
}

// extend lets a loan last longer, and reports whether it had not ended. The caller holds mu.
func (d *Desk) extend(l *loan) bool {
	if !time.Now().Before(l.ends) || l.lease != nil && !d.o.Frontier.Extend(l.lease, d.o.Lease) {
		return false
	}
	l.ends = time.Now().Add(d.o.Lease)
	return true
}

// Return takes a lease back.
func (d *Desk) Return(ctx context.Context, r Return) {
	if r.Version != Version || len(r.Passages) > maxPassages || len(r.Robots) > maxPassages || r.Wait < 0 || len(r.Why) > maxText {
		return
	}
	d.mu.Lock()
	l := d.loans[r.Lease]
	if l == nil || l.worker != r.Worker {
		d.mu.Unlock()
		return
	}
	delete(d.loans, r.Lease)
	d.counts.Returned++
	if _, mine := l.jobs[r.Own]; mine && r.Own != "" {
		if len(d.own) >= maxOwn {
			clear(d.own) // they come back
		}
		d.own[r.Own] = true
	}
	d.mu.Unlock()
	d.takeBack(l, r.Passages, r.Robots, true)
	if l.lease == nil {
		return
	}
	until := time.Time{}
	if held, why := d.o.Gate.Held(l.Group); max(held, r.Wait) > 0 {
		until = d.o.Now().Add(max(held, min(r.Wait, 24*time.Hour)))
		r.Why = cmp.Or(r.Why, why)
	}
	if err := d.o.Frontier.Release(context.WithoutCancel(ctx), l.lease, until, r.Why); err != nil {
		d.o.Log.Warn("a lease was not returned", "host", l.Group, "error", err)
	}
}

// takeBack notes what a worker says of a host. With last, the worker makes no more requests to it.
func (d *Desk) takeBack(l *loan, passages []politeness.Result, robots []politeness.RobotsCopy, last bool) {
	for _, c := range robots {
		d.o.Gate.Robots.Adopt(c)
	}
	d.mu.Lock()
	lent := l.lent
	if last {
		l.lent = nil
	}
	d.mu.Unlock()
	if lent == nil {
		return
	}
	final := politeness.Result{}
	if n := len(passages); n > 0 && last {
		passages, final = passages[:n-1], passages[n-1]
	}
	for _, p := range passages {
		lent.Note(p)
	}
	if last {
		lent.Return(final)
	}
}

// sweepEvery is how often the Desk looks for leases that have ended.
const sweepEvery = 100 * time.Millisecond

// Run ends leases whose time is over, until ctx ends.
func (d *Desk) Run(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-tick.C:
			now := time.Now()
			d.sweep(ctx, now.Sub(last) > d.o.Lease/4)
			last = now
		case <-ctx.Done():
			return
		}
	}
}

// sweep ends the leases whose time is over. stalled reports that this process did not run for a while, and may not have
// heard the workers.
func (d *Desk) sweep(ctx context.Context, stalled bool) {
	now := time.Now()
	var over []*loan
	d.mu.Lock()
	for ref, l := range d.loans {
		if !now.Before(l.ends) {
			over = append(over, l)
			delete(d.loans, ref)
			d.counts.Expired++
			if w := d.workers[l.worker]; w != nil && !stalled {
				w.lost = true
			}
		}
	}
	for id, w := range d.workers {
		if now.Sub(w.seen) > forgetWorker*d.o.Lease {
			delete(d.workers, id)
		}
	}
	d.mu.Unlock()
	for _, l := range over {
		d.takeBack(l, nil, nil, true)
		d.release(ctx, l)
	}
}
