package crawler

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"odarchive/crawler/frontier"
	"odarchive/crawler/supervise"
	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/politeness"
	"odarchive/triplestore/kv"

	"golang.org/x/sync/errgroup"
)

// RunOptions say how long a crawl goes on and who is told. The zero value crawls until ctx ends.
type RunOptions struct {
	Once       bool          // end when nothing is due
	Wait       time.Duration // with Once: the retry of a fetch that failed in this run counts as due if it is so soon; 0 = none does
	URLs       []string      // visit only these, due or not, then end; they must be registered
	MaxFetches int           // end after so many, 0 = no limit
	Report     func(Report)  // called after each fetch, one call at a time; may be nil
	// Indexing is called at the end of a crawl that has one, as long as the columns of its versions are being indexed, with
	// how many versions are left; may be nil.
	Indexing func(left int)
}

// patience is how long a crawl of what is due waits for a host that wants to be left alone for a moment.
const patience = 2 * time.Minute

// run is the state that the workers of one Run share.
type run struct {
	*Pipeline
	opts    RunOptions
	looking chan struct{} // held by the worker that looks for a lease

	mu      sync.Mutex // guards what follows
	summary Summary
	started int                 // fetches begun, for MaxFetches
	retry   time.Time           // when the last retry is due that the crawl waits for
	told    time.Time           // of which the log has been told
	stood   time.Time           // the end of the standstill that the log was told of last
	aside   map[string]struct{} // hosts set aside since the last visit that went well
}

// Run lets Workers workers visit what is due. It ends when the options say so, when ctx does, or at the first error of
// the archive as a whole, except that a crawl without an end waits for room on a full disk. What goes wrong with one URL
// only is logged, and the URL put off. Every worker has stopped and every lease is given back when Run
// returns. The columns of new versions are indexed beside it, and all of them are before a crawl ends by itself.
func (p *Pipeline) Run(ctx context.Context, opts RunOptions) (Summary, error) {
	r := &run{Pipeline: p, opts: opts, looking: make(chan struct{}, 1)}
	began := time.Now()
	p.progress.begin()
	beside, stop := context.WithCancel(ctx)
	var joining sync.WaitGroup
	joining.Go(func() { p.KeepJoined(beside) })
	err := r.visits(ctx)
	stop()
	joining.Wait()
	if err == nil {
		err = p.joinAll(ctx, opts.Indexing)
	}
	r.summary.Took = time.Since(began)
	r.summary.Seconds = r.summary.Took.Seconds()
	return r.summary, err
}

// visits takes what is to be visited to its end.
func (r *run) visits(ctx context.Context) error {
	if len(r.opts.URLs) > 0 {
		return r.visitURLs(ctx)
	}
	group, ctx := errgroup.WithContext(ctx)
	for range r.Workers {
		group.Go(func() error { return supervise.Contain(func() error { return r.work(ctx) }) })
	}
	return group.Wait()
}

// work visits one group of URLs after another.
func (r *run) work(ctx context.Context) error {
	for {
		lease, err := r.next(ctx)
		if err == nil && lease == nil {
			return nil
		}
		if err == nil {
			err = r.visitAll(ctx, lease)
		}
		if err := r.waitForRoom(ctx, err); err != nil {
			return err
		}
	}
}

// waitForRoom lets a crawl without an end go on a second after the database has refused to write for want of room.
func (r *run) waitForRoom(ctx context.Context, err error) error {
	if r.opts.Once || !errors.Is(err, kv.ErrDiskFull) {
		return err
	}
	r.Log.Warn("the crawl waits for room on the disk", "error", err)
	select {
	case <-time.After(time.Second):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// next waits for a lease; nil where the crawl is at its end. One worker at a time looks, for all who have nothing to do.
func (r *run) next(ctx context.Context) (*frontier.Lease, error) {
	select {
	case r.looking <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-r.looking }()
	for r.mayStart(0) {
		if !r.opts.Once && r.opts.MaxFetches == 0 {
			return r.Frontier.Lease(ctx)
		}
		changed := r.Frontier.Changed()
		lease, err := r.Frontier.TryLease(ctx)
		if errors.Is(err, frontier.ErrPaused) && (!r.opts.Once || r.passing() || r.Frontier.Held() == "") {
			err = nil
		}
		if err != nil || lease != nil {
			return lease, err
		}
		at, more, err := r.lookAgain()
		if err != nil || !more {
			return nil, err
		}
		wait := min(max(at.Sub(r.Clock()), 5*time.Millisecond), time.Second)
		timer := time.NewTimer(wait)
		select {
		case <-changed:
		case <-timer.C:
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
		if timer.Stop(); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// lookAgain is when a lease may be had, if there is none now and nothing changes; more is false where a crawl of what is
// due has visited all.
func (r *run) lookAgain() (at time.Time, more bool, err error) {
	now := r.Clock()
	if !r.opts.Once {
		return now.Add(time.Second), true, nil
	}
	more, at, err = r.Frontier.Pending(patience)
	if err == nil && more && !at.After(now) { // all are being visited
		var queued bool
		if at, queued, err = r.Frontier.NextDue(); !queued {
			at = now.Add(time.Second)
		}
	}
	if err == nil && !more {
		at, more = r.awaited()
	}
	return at, more, err
}

// awaited is when the last retry is due that the crawl waits for, while it is not; the log is told once.
func (r *run) awaited() (at time.Time, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ok = r.retry.After(r.Clock()); ok && !r.retry.Equal(r.told) {
		r.told = r.retry
		r.Log.Info("nothing is due but retries", "until", r.retry)
	}
	return r.retry, ok
}

// mayStart counts n more fetches as begun, unless that would be too many.
func (r *run) mayStart(n int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.opts.MaxFetches > 0 && r.started+max(n, 1) > r.opts.MaxFetches {
		return false
	}
	r.started += n
	return true
}

// visitAll visits the jobs of a lease, and gives back what is left of it. A crawl that is paused meanwhile ends the lease,
// too, unless the URLs were asked for one by one.
func (r *run) visitAll(ctx context.Context, lease *frontier.Lease) error {
	for len(r.opts.URLs) > 0 || r.Frontier.Held() == "" {
		job, ok := lease.Next()
		if !ok || !r.mayStart(1) {
			break
		}
		var report Report
		err := supervise.Contain(func() (err error) {
			report, err = r.visit(ctx, lease, job)
			return err
		})
		var wait *politeness.Wait
		switch {
		case err == nil:
			r.tell(report)
			continue
		case errors.As(err, &wait):
			return r.leaveAlone(ctx, lease, wait)
		case ctx.Err() == nil && !wholeArchive(err) && fetch.TroubleIn(err) != nil:
			return r.standStill(ctx, lease, fetch.TroubleIn(err))
		}
		if err = r.failed(ctx, lease, err); err != nil && ctx.Err() == nil && !wholeArchive(err) {
			if err = r.setAside(ctx, lease, job, err); err == nil {
				continue
			}
		}
		if err != nil {
			return errors.Join(err, r.giveBack(ctx, lease))
		}
	}
	return r.giveBack(ctx, lease)
}

// visit sits out the pause of a host whose URL was asked for by name, and the trouble of this machine; in a crawl, others
// are visited meanwhile.
func (r *run) visit(ctx context.Context, lease *frontier.Lease, job frontier.Job) (Report, error) {
	for {
		report, err := r.Visit(lease.Context(), lease, job)
		if err == nil || len(r.opts.URLs) == 0 {
			return report, err
		}
		var wait *politeness.Wait
		var own *fetch.OwnTrouble
		var until time.Time
		switch {
		case errors.As(err, &wait):
			until = wait.Until
		case errors.As(err, &own) && r.passing():
			_, until, _ = r.outage.standing(time.Now())
		default:
			return report, err
		}
		if time.Until(until) > patience {
			return report, err
		}
		if err := sleep(ctx, time.Until(until)); err != nil {
			return Report{}, err
		}
	}
}

// sleep returns after some time, or with the cause of ctx's end.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// wholeArchive reports whether an error is the archive's as a whole: no other host would do better.
func wholeArchive(err error) bool {
	for _, whole := range []error{kv.ErrDiskFull, kv.ErrWritesStopped, kv.ErrClosed, kv.ErrReadOnly} {
		if errors.Is(err, whole) {
			return true
		}
	}
	return false
}

// asideHosts is how many hosts in a row may have a URL set aside, without a visit that went well, before the archive
// itself is at fault.
const asideHosts = 5

// setAside puts a URL off whose visit was ended by a fault of ours, and has the others go on, of its host and of others.
func (r *run) setAside(ctx context.Context, lease *frontier.Lease, job frontier.Job, err error) error {
	facts := []any{"url", job.URL, "error", err}
	var fault *supervise.Panic
	if errors.As(err, &fault) {
		facts = append(facts, "stack", fault.Stack)
	}
	r.Log.Error("a visit failed because of a fault of ours; its URL is put off", facts...)
	if len(r.opts.URLs) > 0 { // who asked for it by name is told
		return err
	}
	if put := r.Frontier.Postpone(context.WithoutCancel(ctx), lease, job, fmt.Sprintf("%.300s", err)); put != nil && !errors.Is(put, frontier.ErrLeaseLost) {
		return errors.Join(err, put)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.aside == nil {
		r.aside = map[string]struct{}{}
	}
	if r.aside[lease.Group] = struct{}{}; len(r.aside) >= asideHosts {
		return err
	}
	return nil
}

// passing reports whether this machine is in trouble, but not for so long that a crawl with an end gives up.
func (r *run) passing() bool {
	_, _, since := r.outage.standing(time.Now())
	return !since.IsZero() && time.Since(since) < patience
}

// standStill gives a lease back that met trouble of this machine, and waits while the crawl stands still. A crawl with an
// end gives up when the trouble lasts.
func (r *run) standStill(ctx context.Context, lease *frontier.Lease, own *fetch.OwnTrouble) error {
	r.mu.Lock()
	r.started-- // nothing was recorded
	r.mu.Unlock()
	if _, _, since := r.outage.standing(time.Now()); since.IsZero() { // the store met it, or something has answered since
		r.outage.meet(own, time.Now())
	}
	_, until, since := r.outage.standing(time.Now())
	back := r.Clock().Add(time.Until(until)) // behind the hosts that are ready, which may do better
	if err := r.Frontier.Release(context.WithoutCancel(ctx), lease, back, "network"); err != nil {
		return fmt.Errorf("give back %s: %w", lease.Group, err)
	}
	if (r.opts.Once || len(r.opts.URLs) > 0) && !since.IsZero() && time.Since(since) >= patience {
		return fmt.Errorf("nothing was recorded of hosts, for this machine is in trouble: %w", own)
	}
	r.mu.Lock()
	log := !until.IsZero() && !until.Equal(r.stood)
	r.stood = until
	r.mu.Unlock()
	if log {
		r.Log.Warn("the crawl stands still: this machine is in trouble, and nothing is recorded of hosts", "trouble", own, "until", until)
	}
	return sleep(ctx, max(time.Until(until), time.Millisecond))
}

// failed tells an error that ends the crawl from the end of a lease, after which the job is somebody else's.
func (r *run) failed(ctx context.Context, lease *frontier.Lease, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, frontier.ErrLeaseLost) || lease.Context().Err() != nil {
		r.Log.Warn("lease lost, its jobs are due again", "group", lease.Group, "error", err)
		return nil
	}
	return err
}

func (r *run) giveBack(ctx context.Context, lease *frontier.Lease) error {
	if err := r.Frontier.Release(context.WithoutCancel(ctx), lease, time.Time{}, ""); err != nil {
		return fmt.Errorf("give back %s: %w", lease.Group, err)
	}
	return nil
}

// leaveAlone gives the lease back until the host may be asked again. The gate counts in real time, the frontier in the
// archive's.
func (r *run) leaveAlone(ctx context.Context, lease *frontier.Lease, wait *politeness.Wait) error {
	r.mu.Lock()
	r.started-- // it was not fetched after all
	r.mu.Unlock()
	until := r.Clock().Add(time.Until(wait.Until))
	if err := r.Frontier.Release(context.WithoutCancel(ctx), lease, until, wait.Why); err != nil {
		return fmt.Errorf("give back %s: %w", lease.Group, err)
	}
	return nil
}

func (r *run) tell(report Report) {
	r.progress.add(report)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.summary.Add(report)
	r.aside = nil
	if report.retry.After(r.retry) && report.retry.Sub(r.Clock()) <= r.opts.Wait {
		r.retry = report.retry
	}
	if r.opts.Report != nil {
		r.opts.Report(report)
	}
}

// visitURLs visits the given URLs one after the other.
func (r *run) visitURLs(ctx context.Context) error {
	for _, address := range r.opts.URLs {
		lease, err := r.Frontier.LeaseURL(ctx, address)
		if err != nil {
			return err
		}
		if err := r.visitAll(ctx, lease); err != nil {
			return err
		}
	}
	return nil
}
