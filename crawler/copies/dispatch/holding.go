package dispatch

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/politeness"
)

// holding is a lease, or a borrowed host.
type holding struct {
	Ref
	host     Host
	limit    time.Time // when no request may be made any more, by the monotonic clock
	wall     time.Time // likewise, by the wall clock
	cancel   context.CancelCauseFunc
	finished bool // no more requests are made under it
	open     map[string]bool
	passages []politeness.Result
	robots   []politeness.RobotsCopy
}

// ErrLeaseOver is the error of what was to be done under a lease that has ended. A visit that meets it is made again.
var ErrLeaseOver = frontier.ErrLeaseLost

// errOwn is the error of a visit that leads to a host which only the archive itself may ask.
// Like ErrLeaseOver, it is recorded nowhere.
var errOwn = fmt.Errorf("only the archive may ask the host: %w", ErrLeaseOver)

// guard returns how long before the end of a lease no request may be under way any more.
func guard(lease time.Duration) time.Duration {
	return min(max(lease/8, 50*time.Millisecond), 5*time.Second)
}

// over reports whether no request may be made under a holding. The caller holds mu.
func (h *holding) over(now time.Time) bool {
	return !now.Before(h.limit) || !now.Round(0).Before(h.wall)
}

// set sets the end of a holding by when it was asked for. The caller holds mu.
func (h *holding) set(asked time.Time, lease time.Duration) {
	h.limit = asked.Add(lease - guard(lease))
	h.wall = h.limit.Round(0)
}

// Permit is for fetch.Options.Permit: it permits requests to hosts that the Worker has leased, while it has them.
func (w *Worker) Permit(host string) *fetch.NotPermitted {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := w.active[host]
	if h == nil || h.finished || h.over(time.Now()) {
		return &fetch.NotPermitted{Why: fmt.Errorf("%s: %w", host, ErrLeaseOver)}
	}
	return nil
}

// Host returns what the writer's operator has set for a host; ok is false if the Worker has not leased the host.
func (w *Worker) Host(host string) (h Host, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if held := w.active[host]; held != nil {
		return held.host, true
	}
	return Host{}, false
}

// Borrow is for politeness.Options.Borrow.
func (w *Worker) Borrow(ctx context.Context, host string, patience time.Duration) (giveBack func(politeness.Result), err error) {
	w.mu.Lock()
	h := w.active[host]
	w.mu.Unlock()
	if h != nil {
		return func(r politeness.Result) { w.note(h, r) }, nil
	}
	deadline := time.Now().Add(patience)
	lease, _ := ctx.Value(leaseKey{}).(Ref)
	for {
		asked := time.Now()
		limited, cancel := context.WithTimeout(ctx, askTime(w.by.Lease))
		var b Borrowed
		err := w.c.ask(limited, subjectBorrow, Borrow{Version: Version, Worker: w.id, Host: host, For: lease}, &b)
		cancel()
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			b = Borrowed{Wait: time.Second, Why: "busy"}
		case b.Own:
			return nil, fmt.Errorf("%s: %w", host, errOwn)
		case b.Grant != nil:
			h, err := w.borrowed(ctx, b.Grant, asked)
			if err != nil {
				return nil, err
			}
			return func(r politeness.Result) { w.note(h, r); w.giveBack(h, 0, "") }, nil
		}
		until := time.Now().Add(max(b.Wait, 10*time.Millisecond))
		if until.After(deadline) {
			return nil, &politeness.Wait{Host: host, Until: until, Why: b.Why}
		}
		if err := pause(ctx, time.Until(until)); err != nil {
			return nil, err
		}
	}
}

// borrowed notes a host that was borrowed for a visit.
func (w *Worker) borrowed(ctx context.Context, g *Grant, asked time.Time) (*holding, error) {
	cancel, ok := ctx.Value(visitKey{}).(context.CancelCauseFunc)
	if !ok {
		return nil, fmt.Errorf("dispatch: %s: a request outside of a visit", g.Group)
	}
	h := w.hold(g, asked, cancel)
	if h == nil {
		return nil, fmt.Errorf("%s: %w", g.Group, ErrLeaseOver)
	}
	w.adopt(ctx, g)
	return h, nil
}

type gateKey struct{}

// adopt gives the gate of a visit the state of a host.
func (w *Worker) adopt(ctx context.Context, g *Grant) {
	gate, ok := ctx.Value(gateKey{}).(*politeness.Gate)
	if !ok {
		return
	}
	gate.Adopt(g.Group, g.State)
	for _, c := range g.Robots {
		gate.Robots.Adopt(c)
	}
}

// hold notes a lease; nil if it is over already.
func (w *Worker) hold(g *Grant, asked time.Time, cancel context.CancelCauseFunc) *holding {
	h := &holding{Ref: g.Ref, host: g.Host, cancel: cancel, open: map[string]bool{}}
	h.set(asked, w.by.Lease)
	w.mu.Lock()
	defer w.mu.Unlock()
	if h.over(time.Now()) || w.active[h.Group] != nil {
		return nil
	}
	w.active[h.Group], w.held[h.Ref] = h, h
	return h
}

// note notes a request to the host of a holding.
func (w *Worker) note(h *holding, r politeness.Result) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(h.passages) < maxPassages {
		h.passages = append(h.passages, r)
	}
}

// finish ends requests under a holding, and returns what the writer does not know of them.
func (w *Worker) finish(h *holding) (passages []politeness.Result, robots []politeness.RobotsCopy) {
	w.mu.Lock()
	defer w.mu.Unlock()
	h.finished = true
	if w.active[h.Group] == h {
		delete(w.active, h.Group)
	}
	passages, robots = h.passages, h.robots
	h.passages, h.robots = nil, nil
	return passages, robots
}

// giveBack returns a holding to the writer. If the message is lost, the lease ends by itself.
func (w *Worker) giveBack(h *holding, wait time.Duration, why string) {
	w.returnHolding(h, Return{Wait: wait, Why: why})
}

// returnHolding is giveBack with more to say.
func (w *Worker) returnHolding(h *holding, r Return) {
	passages, robots := w.finish(h)
	w.drop(h)
	w.mu.Lock()
	w.counts.Returned++
	w.mu.Unlock()
	r.Version, r.Worker, r.Lease, r.Passages, r.Robots = Version, w.id, h.Ref, passages, robots
	b, err := json.Marshal(r)
	if err == nil {
		err = w.c.nc.Publish(w.c.name+subjectReturn, b)
	}
	if err != nil {
		w.o.Log.Debug("a lease was not returned", "host", h.Group, "error", err)
	}
}

// drop forgets a holding.
func (w *Worker) drop(h *holding) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.held, h.Ref)
	if w.active[h.Group] == h {
		delete(w.active, h.Group)
	}
	w.signal()
}
