package crawler

import (
	"context"
	"errors"
	"sync"
	"time"

	"odarchive/crawler/frontier"
	"odarchive/crawler/supervise"
	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/politeness"

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
