package crawler

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/queue/supervise"
	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/politeness"
)

// RunOptions bound a crawl and receive its reports. The zero value crawls until ctx ends.
type RunOptions struct {
	Once       bool          // end when nothing is due
	Wait       time.Duration // with Once: how long to wait for retries of fetches that failed in this run; 0 = no retries
	URLs       []string      // visit only these, due or not, one after the other, then end; they must be registered
	MaxFetches int           // end after so many fetches; 0 = no limit
	// Until, if not nil, ends the crawl once it returns true. idle reports that nothing is due that can be visited
	// soon. It is called often, by one worker at a time. While it returns false, the crawl waits.
	Until  func(idle bool) (done bool)
	Report func(Report) // if not nil, called after each visit, one call at a time
	// Indexing, if not nil, is called with the number of versions left while the columns of new versions are indexed at
	// the end of the crawl.
	Indexing func(left int)
}

// run is the state that the workers of one Run share.
type run struct {
	*Pipeline
	opts    RunOptions
	looking chan struct{} // a lock, held by the worker that waits for a lease
	crew    crew

	mu      sync.Mutex // guards what follows
	summary Summary
	started int                 // fetches begun, for MaxFetches
	retry   time.Time           // when the last retry is due that the crawl waits for
	logged  time.Time           // the value of retry that was logged last
	paused  time.Time           // the end of the pause that was logged last
	named   *Report             // of the URL of RunOptions.URLs that is visited; nil before
	aside   map[string]struct{} // hosts with a URL that was postponed since the last successful visit
}

// Run visits what is due with p.Workers workers. It returns when the options say so, when ctx ends, or at the first
// error of the archive as a whole; a crawl without Once waits while the disk is full instead. An error that concerns
// one URL is logged, and the URL is postponed. When Run returns, all workers have stopped and all leases are returned.
// The columns of new versions are indexed meanwhile; if Run returns nil, those of all versions are.
func (p *Pipeline) Run(ctx context.Context, opts RunOptions) (Summary, error) {
	r := &run{Pipeline: p, opts: opts, looking: make(chan struct{}, 1), crew: crew{gone: make(chan struct{})}}
	began := time.Now()
	p.progress.begin()
	beside, stop := context.WithCancel(ctx)
	var joining sync.WaitGroup
	joining.Go(func() { p.KeepJoined(beside) })
	joining.Go(func() { p.KeepIndexed(beside) })
	err := r.visits(ctx)
	stop()
	joining.Wait()
	if err == nil {
		err = p.joinAll(ctx, opts.Indexing)
	}
	r.summary.Took = time.Since(began)
	r.summary.Seconds = r.summary.Took.Seconds()
	waits, waitsErr := p.Waits(maxWaits)
	if r.summary.Waits = waits; err == nil {
		err = waitsErr
	}
	return r.summary, err
}

// visits makes all visits of the run.
func (r *run) visits(ctx context.Context) error {
	if len(r.opts.URLs) > 0 {
		return r.visitURLs(ctx)
	}
	return r.keepCrew(ctx, r.work)
}

// work leases and visits one group after another.
func (r *run) work(ctx context.Context) error {
	for {
		if want, _ := r.wanted.get(r.Workers); r.crew.dismiss(want) {
			return errSurplus
		}
		lease, err := r.nextLease(ctx)
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

// visitAll visits the jobs of a lease and returns what is left of it. It stops when the crawl is paused, unless
// RunOptions.URLs names the URLs.
func (r *run) visitAll(ctx context.Context, lease *frontier.Lease) error {
	var err error
	if n := min(r.settings(lease.Group).Parallel, len(lease.Jobs)); n > 1 {
		err = r.visitParallel(ctx, lease, n)
	} else {
		err = r.visitJobs(ctx, lease)
	}
	var wait *politeness.Wait
	switch {
	case errors.As(err, &wait) && len(r.opts.URLs) > 0:
		return errors.Join(&NotFetched{lease.Jobs[0].URL, waitOf(wait).advise()}, r.release(ctx, lease))
	case errors.As(err, &wait):
		return r.releaseUntil(ctx, lease, wait)
	case err != nil && ctx.Err() == nil && !wholeArchive(err) && fetch.TroubleIn(err) != nil:
		return r.pause(ctx, lease, fetch.TroubleIn(err))
	case err != nil:
		return errors.Join(err, r.release(ctx, lease))
	}
	return r.release(ctx, lease)
}

// visitParallel visits the jobs of a lease, n at a time, for a host that permits it. It returns when all visits are
// over: the first error that is not only a reason to wait, or else such a reason.
func (r *run) visitParallel(ctx context.Context, lease *frontier.Lease, n int) error {
	errs := make([]error, n)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { errs[i] = supervise.Contain(func() error { return r.visitJobs(ctx, lease) }) })
	}
	group.Wait()
	var waits error
	for _, err := range errs {
		var wait *politeness.Wait
		switch {
		case errors.As(err, &wait):
			r.mu.Lock()
			r.started-- // it was not fetched; releaseUntil does the same for the one that is returned
			r.mu.Unlock()
			waits = err
		case err != nil:
			return err
		}
	}
	if waits != nil {
		r.mu.Lock()
		r.started++
		r.mu.Unlock()
	}
	return waits
}

// parallelPatience is how long a visit waits for a host that permits several at a time. The lease must not be returned
// while others are under way.
const parallelPatience = 30 * time.Second

// visitJobs visits the jobs of a lease until none is left, and returns the first error that ends this.
func (r *run) visitJobs(ctx context.Context, lease *frontier.Lease) error {
	for len(r.opts.URLs) > 0 || r.Frontier.Held() == "" {
		job, ok := lease.Next()
		if !ok || !r.mayStart(1) {
			return nil
		}
		var report Report
		err := supervise.Contain(func() (err error) {
			report, err = r.visit(ctx, lease, job)
			return err
		})
		if err == nil && report.drain != nil { // not in the visit, since the lease may have ended with it
			err = report.drain(ctx)
		}
		var wait *politeness.Wait
		switch {
		case err == nil:
			r.record(report)
			continue
		case errors.Is(err, errPutOff) && len(r.opts.URLs) > 0:
			return &NotFetched{job.URL, "its campaign is paused or has ended"}
		case errors.Is(err, errPutOff):
			continue
		case errors.As(err, &wait), ctx.Err() == nil && !wholeArchive(err) && fetch.TroubleIn(err) != nil:
			return err
		}
		if err = r.fatal(ctx, lease, err); err != nil && ctx.Err() == nil && !wholeArchive(err) {
			if err = r.postpone(ctx, lease, job, err); err == nil {
				continue
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// visitTime is how long a lease lasts from the beginning of a visit: longer than robots.txt and the file may take
// together (fetch.Timeouts.Total), and what follows. A lease that ended before would have the file fetched again from
// its beginning, for ever.
const visitTime = 90 * time.Minute

// visit makes one visit. For URLs that RunOptions.URLs names, it waits until the host may be asked and while this
// machine is in trouble. In any other crawl, other URLs are visited meanwhile.
func (r *run) visit(ctx context.Context, lease *frontier.Lease, job frontier.Job) (Report, error) {
	for {
		r.Frontier.Extend(lease, visitTime) // if it has ended, the visit says so
		report, err := r.Visit(ctx, lease, job)
		if err == nil || len(r.opts.URLs) == 0 {
			return report, err
		}
		var wait *politeness.Wait
		var own *fetch.OwnTrouble
		var until time.Time
		switch {
		case errors.As(err, &wait):
			until = wait.Until
		case errors.As(err, &own) && r.inBriefTrouble():
			_, until, _ = r.outage.state(time.Now())
		default:
			return report, err
		}
		if time.Until(until) > patience {
			return report, err
		}
		if wait != nil {
			r.Log.Info("a file waits for its host", "url", job.URL, "until", until, "why", waitOf(wait).Reason())
		}
		if err := sleep(ctx, time.Until(until)); err != nil {
			return Report{}, err
		}
	}
}

// record adds a visit to the summary, and calls RunOptions.Report.
func (r *run) record(report Report) {
	r.progress.add(report)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.summary.Add(report)
	r.named, r.aside = &report, nil
	if report.retry.After(r.retry) && report.retry.Sub(r.Clock()) <= r.opts.Wait {
		r.retry = report.retry
	}
	if r.opts.Report != nil {
		r.opts.Report(report)
	}
}

// visitURLs visits the URLs of RunOptions.URLs. The error joins a NotFetched for each that was not fetched.
func (r *run) visitURLs(ctx context.Context) error {
	ctx = politeness.Asked(ctx)
	var missed error
	for _, link := range r.opts.URLs {
		if !r.mayStart(0) {
			break
		}
		err := r.visitURL(ctx, link)
		var not *NotFetched
		if err != nil && !errors.As(err, &not) {
			return errors.Join(missed, err)
		}
		missed = errors.Join(missed, err)
	}
	return missed
}

// visitURL visits one URL, which a person asks for: whether it is due or not, and though its door may be closed for
// failures.
func (r *run) visitURL(ctx context.Context, link string) error {
	u, err := r.Frontier.Get(link)
	if errors.Is(err, frontier.ErrUnknown) && !errors.Is(err, frontier.ErrDamaged) {
		return &NotFetched{link, "no such file is registered; 'odarchive add " + link + "' registers it"}
	}
	if err != nil {
		return err
	}
	if u.Blacklisted {
		return &NotFetched{link,
			cmp.Or(u.Why, "it is taken out of the crawl") + "; 'odarchive admin resume' or 'odarchive admin requeue' ends that"}
	}
	for r.named = nil; r.named == nil; { // again after trouble of this machine
		lease, err := r.Frontier.LeaseURL(ctx, link)
		if errors.Is(err, frontier.ErrLeaseLost) {
			return &NotFetched{link, "its host is being visited; try again in a moment"}
		}
		if err == nil {
			err = r.visitAll(ctx, lease)
		}
		if err != nil {
			return err
		}
	}
	if n := r.named; n.Status == 0 && n.Outcome != catalog.Archived && n.Outcome != catalog.Unchanged {
		return &NotFetched{link, cmp.Or(n.Why, string(n.ErrorClass), string(n.Outcome))}
	}
	return nil
}

// maxWaits is the number of hosts that a Summary and a Status list.
const maxWaits = 20
