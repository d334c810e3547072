package timetable

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"odarchive/crawler/harvest"
	"odarchive/crawler/queue/supervise"
)

// Runner says how Run harvests.
type Runner struct {
	// Harvest harvests once. It calls progress now and then.
	Harvest func(ctx context.Context, p Plan, progress func(harvest.Report)) (harvest.Report, error)
	// Held returns why nothing may be fetched now, "" if it may.
	Held     func() string
	Parallel int // harvests at a time; 0 means 4
}

// lookEvery is how often Run looks for what is due even if it expects nothing: the clock may be set, and what has held
// the harvests may end.
const lookEvery = 20 * time.Second

// Run runs the plans until ctx ends, and then waits for those that run. It returns an error if a state cannot be
// stored.
func (t *Timetable) Run(ctx context.Context, r Runner) error {
	if r.Parallel <= 0 {
		r.Parallel = 4
	}
	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	for {
		wait := lookEvery
		if r.Held == nil || r.Held() == "" {
			due, next, err := t.start(ctx, r.Parallel)
			if err != nil {
				return err
			}
			for _, one := range due {
				running.Go(func() { t.run(one.ctx, r, one.entry) })
			}
			wait = min(wait, next)
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case <-t.wake:
			timer.Stop()
		case <-timer.C:
		}
	}
}

// started is a run that begins.
type started struct {
	ctx   context.Context
	entry *entry
}

// start begins the runs that are due, and returns them, and the time until the next is due.
func (t *Timetable) start(ctx context.Context, parallel int) (begun []started, next time.Duration, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.storeNew(ctx); err != nil {
		return nil, 0, err
	}
	now := t.opts.Clock()
	next = lookEvery
	var due []*entry
	for _, e := range t.plans {
		if e.cancel != nil || e.state.paused(e.plan) != "" {
			continue
		}
		if e.state.straighten(e.plan, now) {
			t.opts.Log.Warn("a harvest was planned by a clock that was ahead", "kind", e.plan.Kind, "url", e.plan.URL, "next", e.state.Due)
		}
		if wait := e.state.Due.Sub(now); wait > 0 {
			next = min(next, wait)
			continue
		}
		due = append(due, e)
	}
	slices.SortFunc(due, func(a, b *entry) int { return a.state.Due.Compare(b.state.Due) })
	for _, e := range due {
		if len(t.busy) >= parallel || ctx.Err() != nil {
			break
		}
		if t.busy[e.plan.host()] {
			continue
		}
		before := e.state
		e.state.begin(now)
		if err := t.store(ctx, e); err != nil {
			e.state = before
			t.abandon(begun)
			return nil, 0, err
		}
		one := started{entry: e}
		one.ctx, e.cancel = context.WithCancelCause(ctx)
		e.now = harvest.Report{Kind: e.plan.Kind, Address: e.plan.URL, Started: now}
		t.busy[e.plan.host()] = true
		begun = append(begun, one)
	}
	return begun, next, nil
}

// abandon takes back the beginning of runs that are not run. The caller holds mu.
func (t *Timetable) abandon(begun []started) {
	for _, one := range begun {
		one.entry.cancel(errRemoved)
		one.entry.cancel = nil
		delete(t.busy, one.entry.plan.host())
		one.entry.state.stop(t.opts.Clock())
	}
}

// run runs a plan once.
func (t *Timetable) run(ctx context.Context, r Runner, e *entry) {
	limited, done := context.WithTimeoutCause(ctx, maxDuration, errTooLong)
	defer done()
	t.mu.Lock()
	p := e.plan
	t.mu.Unlock()
	t.opts.Log.Info("planned harvest begins", "kind", p.Kind, "url", p.URL)
	var report harvest.Report
	err := supervise.Contain(func() (err error) {
		report, err = r.Harvest(limited, p, func(now harvest.Report) {
			t.mu.Lock()
			e.now = now
			t.mu.Unlock()
		})
		return err
	})
	why := context.Cause(ctx)
	if err != nil && why == nil && errors.Is(context.Cause(limited), errTooLong) {
		err = errTooLong
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.look()
	now := t.opts.Clock()
	stopped := ctx.Err() != nil
	e.cancel(nil)
	e.cancel = nil
	delete(t.busy, p.host())
	if e.removed {
		return // with its state
	}
	if stopped && err != nil {
		e.state.stop(now)
		t.opts.Log.Info("planned harvest was stopped, and goes on later", "kind", p.Kind, "url", p.URL, "why", why)
	} else {
		e.state.end(e.plan, report, err, now)
		if log := t.opts.Log.With("kind", p.Kind, "url", p.URL, "next", e.state.Due); err != nil {
			log.Warn("planned harvest failed", "failures", e.state.Failures, "error", err)
		} else {
			log.Info("planned harvest ended", "datasets", report.Datasets, "new", report.Inserted, "changed", report.Updated, "withdrawn",
				report.Withdrawn, "waiting", report.Waiting, "took", report.Took())
		}
	}
	// The state is not needed if this fails: the run counts as cut off then.
	if err := t.store(context.WithoutCancel(ctx), e); err != nil {
		t.opts.Log.Error("the end of a planned harvest was not stored", "kind", p.Kind, "url", p.URL, "error", err)
	}
}
