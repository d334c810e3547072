package dispatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/web/politeness"
)

// Office is what a Desk needs of the process that has the archive.
type Office interface {
	// Pick returns the jobs that a worker may do, of those of a group. It must be quick.
	Pick(group string, jobs []frontier.Job) []frontier.Job
	// Host returns what workers may know of the settings of a host; ok is false if only the writer may ask the host.
	Host(group string) (h Host, ok bool)
	// Describe returns a job with what a worker has to know of the archive for it.
	Describe(ctx context.Context, job frontier.Job) (Job, error)
	// Announce announces a Commit that is going to be called soon with the returned context, so that those of a message
	// are committed together. over is called after it.
	Announce(ctx context.Context) (_ context.Context, over func())
	// Commit commits what a worker found. The error wraps frontier.ErrLeaseLost if the lease has ended, and
	// ErrMalformed if the result cannot be one of a sound worker.
	Commit(ctx context.Context, lease *frontier.Lease, job frontier.Job, r *Result, parcel Parcel) error
	// Settings returns the part of a Welcome that is about settings, Rev among it.
	Settings() Welcome
	// Postpone puts a job off that could not be committed because of a fault of this program.
	Postpone(ctx context.Context, lease *frontier.Lease, job frontier.Job, why string)
}

// DeskOptions configure a Desk. All fields but Log are required.
type DeskOptions struct {
	Frontier *frontier.Frontier
	Gate     *politeness.Gate
	Office   Office
	Lease    time.Duration
	Now      func() time.Time // the archive's clock
	Log      *slog.Logger
}

// Desk grants leases to workers, and takes their results. Its methods may be called concurrently.
type Desk struct {
	o DeskOptions

	mu      sync.Mutex // guards what follows, and the fields of loans
	loans   map[Ref]*loan
	workers map[string]*worker
	next    uint64 // epoch of the next host that is borrowed
	closing bool
	counts  Counts
	own     map[string]bool // keys of jobs that workers cannot do
}

// maxOwn bounds the jobs that are known to be only the writer's.
const maxOwn = 100_000

// loan is a host that a worker asks.
type loan struct {
	Ref
	worker string
	lease  *frontier.Lease  // nil for a host that was borrowed without jobs
	lent   *politeness.Lent // nil once it was returned
	ends   time.Time
	jobs   map[string]jobState
	last   bool // the worker makes no more requests

	compared <-chan struct{} // closed when the latest result that is compared with others of the host is committed; nil for none
}

type jobState int

const (
	waiting jobState = iota
	committing
	committed
)

// worker is what the Desk knows of one worker.
type worker struct {
	name   string
	joined time.Time
	seen   time.Time
	done   int
	lost   bool      // it let leases end
	barred time.Time // it gets no leases until then, because of that
}

// Counts of a Desk, since it began.
type Counts struct {
	Granted  int `json:"granted"` // leases
	Returned int `json:"returned"`
	Expired  int `json:"expired"`

	Results   int `json:"results"`   // committed
	Repeated  int `json:"repeated"`  // results that were delivered again
	Refused   int `json:"refused"`   // results of leases that had ended
	Malformed int `json:"malformed"` // results
	Failed    int `json:"failed"`    // commits
}

// forgetWorker is how many leases' time a worker that is not heard of is listed.
const forgetWorker = 10

// NewDesk returns a Desk. Run must be called for leases to end.
func NewDesk(o DeskOptions) *Desk {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Desk{o: o, loans: map[Ref]*loan{}, workers: map[string]*worker{}, own: map[string]bool{}, next: rand.Uint64() >> 2}
}

// Hello answers a Hello.
func (d *Desk) Hello(h Hello) Welcome {
	if h.Version != Version {
		return Welcome{Version: Version,
			Why: fmt.Sprintf(
				"the archive speaks version %d of the messages between writer and workers, this worker version %d: use the same release "+
					"for both", Version, h.Version)}
	}
	if h.Worker == "" || len(h.Worker) > 100 || len(h.Name) > 500 {
		return Welcome{Version: Version, Why: "a worker needs a name"}
	}
	d.mu.Lock()
	known := d.workers[h.Worker] != nil
	d.see(h.Worker, h.Name)
	d.mu.Unlock()
	if !known {
		d.o.Log.Info("a worker joined", "worker", h.Name)
	}
	w := d.o.Office.Settings()
	w.Version, w.Lease = Version, d.o.Lease
	return w
}

// maxWorkers bounds the workers that are remembered.
const maxWorkers = 10_000

// see notes a sign of life. The caller holds mu.
func (d *Desk) see(id, name string) {
	w := d.workers[id]
	if w == nil {
		if len(d.workers) >= maxWorkers && !d.forgetOne() {
			return
		}
		w = &worker{joined: time.Now()}
		d.workers[id] = w
	}
	w.name, w.seen = cmp.Or(name, w.name, id), time.Now()
}

// forgetOne forgets the worker that was heard of the longest time ago, of those without a lease, so that workers which
// only say hello do not keep others out. ok is false if all have leases. The caller holds mu.
func (d *Desk) forgetOne() (ok bool) {
	busy := make(map[string]bool, len(d.loans))
	for _, l := range d.loans {
		busy[l.worker] = true
	}
	oldest := ""
	for id, w := range d.workers {
		if !busy[id] && (oldest == "" || w.seen.Before(d.workers[oldest].seen)) {
			oldest, ok = id, true
		}
	}
	delete(d.workers, oldest)
	return ok
}

// longestWait is how long an Ask waits for something to become due.
const longestWait = time.Second

// maxOut bounds the leases that are out at a time.
const maxOut = 8192

// Grant answers an Ask. If nothing is due, it waits a while.
func (d *Desk) Grant(ctx context.Context, a Ask) Grants {
	if a.Version != Version {
		return Grants{Hello: true}
	}
	d.mu.Lock()
	who := d.workers[a.Worker]
	barred := false
	if who != nil {
		d.see(a.Worker, "")
		if who.lost { // it may stall again, and each host that it has then rests for a lease
			who.lost, who.barred = false, time.Now().Add(d.o.Lease)
		}
		barred = time.Now().Before(who.barred)
	}
	d.mu.Unlock()
	switch {
	case who == nil || a.Rev == "" || a.Rev != d.o.Office.Settings().Rev:
		return Grants{Hello: true}
	case barred:
		return Grants{Why: "the worker let leases end, and gets none for the time of one"}
	}
	ctx, cancel := context.WithTimeout(ctx, min(longestWait, d.o.Lease/8))
	defer cancel()
	var g Grants
	size := 0
	for len(g.Leases) < min(a.Want, maxGrants) && size < maxMessage/2 {
		changed := d.o.Frontier.Changed()
		one, next, err := d.grantOne(ctx, a.Worker)
		switch {
		case errors.Is(err, frontier.ErrPaused):
			g.Why = err.Error()
		case err != nil && ctx.Err() == nil:
			d.o.Log.Warn("a lease was not granted", "error", err)
			g.Why = "the writer cannot grant leases now"
		}
		if one != nil {
			g.Leases = append(g.Leases, *one)
			size += one.size()
			continue
		}
		if len(g.Leases) > 0 || ctx.Err() != nil {
			return g
		}
		wait := longestWait
		if !next.IsZero() && err == nil {
			wait = min(wait, max(next.Sub(d.o.Now()), time.Millisecond))
		}
		timer := time.NewTimer(wait)
		select {
		case <-changed:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
	return g
}

// size returns about how many bytes a grant has as it travels.
func (g *Grant) size() (n int) {
	for _, c := range g.Robots {
		n += len(c.Text) * 4 / 3
	}
	for _, j := range g.Jobs {
		n += 300 + len(j.URL) + len(j.Key) + len(j.ETag)
	}
	return n + 500
}

// grantPatience is how long a host is waited for that is to be lent.
const grantPatience = 20 * time.Millisecond

// grantOne leases one host. It returns nil if there is none, and when to look again.
func (d *Desk) grantOne(ctx context.Context, worker string) (g *Grant, next time.Time, err error) {
	if ctx.Err() != nil {
		return nil, next, context.Cause(ctx)
	}
	d.mu.Lock()
	full := d.closing || len(d.loans) >= maxOut
	d.mu.Unlock()
	if full {
		return nil, next, fmt.Errorf("%w: the writer grants no more leases now", frontier.ErrPaused)
	}
	for range 64 {
		lease, next, err := d.o.Frontier.TryLeaseWith(context.WithoutCancel(ctx), frontier.LeaseOptions{Time: d.o.Lease, Pick: d.pick})
		if err != nil || lease == nil {
			return nil, next, err
		}
		g, err := d.lend(ctx, worker, lease)
		var wait *politeness.Wait
		switch {
		case errors.As(err, &wait):
			err = d.o.Frontier.Release(context.WithoutCancel(ctx), lease, d.o.Now().Add(time.Until(wait.Until)), wait.Why)
		case err != nil:
			err = errors.Join(err,
				d.o.Frontier.Release(context.WithoutCancel(ctx), lease, d.o.Now().Add(time.Second), "the lease could not be granted"))
		}
		if err != nil || g != nil {
			return g, next, err
		}
	}
	return nil, next, nil
}

// pick returns the jobs that workers can do.
func (d *Desk) pick(group string, jobs []frontier.Job) []frontier.Job {
	jobs = d.o.Office.Pick(group, jobs)
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.own) == 0 {
		return jobs
	}
	return slices.DeleteFunc(slices.Clone(jobs), func(j frontier.Job) bool { return d.own[j.Key] })
}

// Welcome returns the settings that workers are told.
func (d *Desk) Welcome() Welcome { return d.o.Office.Settings() }

// IsOwn reports whether workers have found that they cannot do a job.
func (d *Desk) IsOwn(key string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.own[key]
}

// Close stops granting leases.
func (d *Desk) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closing = true
}

// Out returns how many leases are out.
func (d *Desk) Out() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.loans)
}
