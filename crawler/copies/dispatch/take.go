package dispatch

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"odarchive/crawler/archive/faults"
	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/queue/supervise"
)

// Parcel opens the parcel of a result.
type Parcel func(ctx context.Context) (io.ReadCloser, error)

// Verdict is what became of a result. In all cases but Later, it can be forgotten.
type Verdict string

// The verdicts.
const (
	Committed Verdict = "committed"
	Repeated  Verdict = "repeated"  // it was committed before
	Refused   Verdict = "refused"   // its lease has ended
	Malformed Verdict = "malformed" // no sound worker sends it
	Failed    Verdict = "failed"    // it could not be committed; the job is due again
	Later     Verdict = "later"     // it is being committed
)

// Claim announces a result that Commit is going to be called with. It must be called in the order of the queue, since
// the last result of a lease ends it. ok is false if nothing is to be committed, for the reason of the verdict.
func (d *Desk) Claim(r *Result) (c Claimed, v Verdict, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := d.loans[r.Job.Ref]
	if l == nil || l.lease == nil || l.worker != r.Worker {
		d.count(Refused)
		return c, Refused, false
	}
	state, known := l.jobs[r.Job.Key]
	at := slices.IndexFunc(l.lease.Jobs, func(j frontier.Job) bool { return j.Key == r.Job.Key })
	switch {
	case !known || at < 0:
		v = Malformed
	case state == committing:
		v = Later
	case state == committed:
		v = Repeated
	case !d.extend(l): // this is a word of the worker, too
		v = Refused
	default:
		l.jobs[r.Job.Key], l.last = committing, l.last || r.Last
		c = Claimed{loan: l, job: l.lease.Jobs[at], r: r}
		if r.Finding.Compare {
			c.after, c.over = l.compared, make(chan struct{})
			l.compared = c.over
		}
		return c, Committed, true
	}
	d.count(v)
	return c, v, false
}

// Claimed is a result on its way into the archive.
type Claimed struct {
	loan *loan
	job  frontier.Job
	r    *Result

	after <-chan struct{} // closed when the one is committed that has to be before this one; nil for none
	over  chan struct{}   // closed when this one is committed, if another one may wait for that
}

// count counts a result. The caller holds mu.
func (d *Desk) count(v Verdict) {
	switch v {
	case Committed:
		d.counts.Results++
	case Repeated, Later:
		d.counts.Repeated++
	case Refused:
		d.counts.Refused++
	case Malformed:
		d.counts.Malformed++
	case Failed:
		d.counts.Failed++
	}
}

// Malformed counts a message that could not be decoded, and logs it.
func (d *Desk) Malformed(err error) {
	d.mu.Lock()
	d.counts.Malformed++
	d.mu.Unlock()
	d.o.Log.Warn("a message of a worker is dropped, and its job is due again", "error", err)
}

// Commit commits a result that was claimed. Results may be committed concurrently, which the database does together;
// those of a lease that are compared with each other wait for each other, in the order of Claim. It must be called for
// each Claimed.
func (d *Desk) Commit(ctx context.Context, c Claimed, parcel Parcel) Verdict {
	l, r := c.loan, c.r
	if c.over != nil { // it is compared with what other URLs of the host gave, so these have to be committed before
		defer close(c.over)
	}
	if c.after != nil {
		<-c.after // its commit began earlier, and ends
	}
	d.takeBack(l, r.Passages, r.Robots, r.Last)
	err := supervise.Contain(func() error { return d.o.Office.Commit(ctx, l.lease, c.job, r, parcel) })
	v := Committed
	switch {
	case err == nil:
	case errors.Is(err, frontier.ErrLeaseLost):
		v = Refused
	case errors.Is(err, ErrMalformed):
		d.o.Log.Warn("a result of a worker is dropped, and its job is due again", "url", c.job.URL, "error", err)
		v = Malformed
	default:
		d.o.Log.Error("a result of a worker was not committed", "url", c.job.URL, "error", err)
		v = Failed
		if !faults.IsOwn(ctx, err) {
			d.o.Office.Postpone(context.WithoutCancel(ctx), l.lease, c.job, err.Error())
		}
	}
	d.mu.Lock()
	l.jobs[c.job.Key] = committed
	d.count(v)
	if w := d.workers[r.Worker]; w != nil && v == Committed {
		w.done++
	}
	over := l.last && l.lent == nil
	for _, state := range l.jobs {
		over = over && state != committing
	}
	if over {
		delete(d.loans, l.Ref)
	}
	d.mu.Unlock()
	if over {
		d.release(ctx, l)
	}
	return v
}

// release ends the lease of a loan. What it has left is due again.
func (d *Desk) release(ctx context.Context, l *loan) {
	if l.lease == nil {
		return
	}
	held, why := d.o.Gate.Held(l.Group)
	if err := d.o.Frontier.Release(context.WithoutCancel(ctx), l.lease, d.o.Now().Add(held), why); err != nil {
		d.o.Log.Warn("a lease was not ended", "host", l.Group, "error", err)
	}
}

// WorkerInfo is a worker as people see it.
type WorkerInfo struct {
	Name   string    `json:"name"`
	Joined time.Time `json:"joined"`
	Seen   time.Time `json:"seen"`    // when it was last heard of
	Leases int       `json:"leases"`  // that it holds
	Hosts  []string  `json:"hosts"`   // of these leases, the first maxShownHosts by name
	Done   int       `json:"results"` // that were committed
}

// maxShownHosts bounds the hosts of a WorkerInfo.
const maxShownHosts = 10

// Status is the state of a Desk.
type Status struct {
	Lease time.Duration `json:"-"`
	Out   int           `json:"leases"`

	Committing int          `json:"committing"` // results
	Counts     Counts       `json:"counts"`
	Workers    []WorkerInfo `json:"workers"`
}

// Status returns the state of the Desk, workers by name.
func (d *Desk) Status() Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	hosts := map[string][]string{}
	s := Status{Lease: d.o.Lease, Out: len(d.loans), Counts: d.counts, Workers: []WorkerInfo{}}
	for _, l := range d.loans {
		hosts[l.worker] = append(hosts[l.worker], l.Group)
		for _, state := range l.jobs {
			if state == committing {
				s.Committing++
			}
		}
	}
	for id, w := range d.workers {
		held := hosts[id]
		slices.Sort(held)
		s.Workers = append(s.Workers,
			WorkerInfo{w.name, w.joined, w.seen, len(held), append([]string{}, held[:min(len(held), maxShownHosts)]...), w.done})
	}
	slices.SortFunc(s.Workers, func(a, b WorkerInfo) int {
		if a.Name != b.Name {
			if a.Name < b.Name {
				return -1
			}
			return 1
		}
		return a.Joined.Compare(b.Joined)
	})
	return s
}
