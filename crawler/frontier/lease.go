package frontier

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/schedule"
	"odarchive/triplestore/kv"
)

// Job is one URL to visit.
type Job struct {
	URL          string // as the source spelled it: what is fetched
	Key          string
	Format       string        // as a source declares it
	MediaType    string        // likewise
	Period       time.Duration // between updates, as a source declares it; 0 = not declared
	Priority     float64
	History      []schedule.Visit
	ETag         string
	LastModified string
	Fetches      int // visits so far
	Errors       int // of them, the last ones in a row that gave no content
	Added        time.Time
	Due          time.Time
}

// Lease is the right to visit the URLs of one group, for a while. It belongs to one worker.
type Lease struct {
	Group    string
	Epoch    uint64
	Jobs     []Job
	Deadline time.Time // when the context ends; the lease itself a little later

	ctx    context.Context // ends before the lease does: the reason it is kept here
	cancel context.CancelFunc
	ends   time.Time
	done   map[string]bool // guarded by Frontier.mu
	next   int
	over   bool // guarded by Frontier.mu
	f      *Frontier
}

// Context ends before the lease does. No request is to be made after it, and no result reported.
func (l *Lease) Context() context.Context { return l.ctx }

// Next gives the jobs one after the other; false when there is none left or the lease has ended, for example because the
// host asked to be left alone.
func (l *Lease) Next() (Job, bool) {
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	if l.over || l.ctx.Err() != nil || l.next >= len(l.Jobs) {
		return Job{}, false
	}
	l.next++
	return l.Jobs[l.next-1], true
}

// Lease waits until a group has URLs that are due, and for as long as the frontier is held. The lease's context
// descends from ctx.
func (f *Frontier) Lease(ctx context.Context) (*Lease, error) {
	for {
		f.mu.Lock()
		wake := f.wake
		f.mu.Unlock()
		l, next, err := f.take(ctx)
		if err != nil || l != nil {
			return l, err
		}
		wait := time.Minute
		if f.Held() != "" {
			wait = time.Second // a full disk does not announce that it has room again
		} else if next != maxTime {
			wait = max(time.Millisecond, min(wait, time.Duration(next-ms(f.opts.Now()))*time.Millisecond))
		}
		timer := time.NewTimer(wait)
		select {
		case <-wake:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, context.Cause(ctx)
		}
		timer.Stop()
	}
}

// TryLease gives a lease if a group has URLs that are due now, else nil. ErrPaused, with the reason, while it is held.
func (f *Frontier) TryLease(ctx context.Context) (*Lease, error) {
	if why := f.Held(); why != "" {
		return nil, fmt.Errorf("frontier: %w: %s", ErrPaused, why)
	}
	l, _, err := f.take(ctx)
	return l, err
}

// take finds the group that has been ready for longest. Without one, next is when to look again.
func (f *Frontier) take(ctx context.Context) (l *Lease, next int64, err error) {
	f.taking.Lock()
	defer f.taking.Unlock()
	if ctx.Err() != nil {
		return nil, 0, context.Cause(ctx)
	}
	if f.Held() != "" {
		return nil, maxTime, nil
	}
	now := ms(f.opts.Now())
	var stale []string
	for at := (place{at: minTime}); l == nil && len(stale) < perTxn; {
		p, rec, found, later := f.candidate(at, now)
		if !found && later > now {
			next = later
			break
		}
		if !found {
			if err := f.widen(); err != nil {
				return nil, 0, err
			}
			continue
		}
		at = p
		jobs, damaged, err := f.jobs(p, rec, now) // the state was read after the group was found free
		if errors.Is(err, ErrDamaged) || len(damaged) > 0 {
			if err := f.mend(ctx, p.group, damaged...); err != nil {
				return nil, 0, err
			}
			next = now
			if err != nil {
				continue
			}
		} else if err != nil {
			return nil, 0, fmt.Errorf("frontier: lease: %w", err)
		}
		if len(jobs) > 0 {
			l = f.grant(ctx, p.group, jobs)
		} else {
			stale = append(stale, p.group)
		}
	}
	if len(stale) > 0 {
		if err := f.correct(ctx, stale, now); err != nil {
			return l, 0, err
		}
		next = now
	}
	return l, next, nil
}

// busy tells whether a group is leased; a lease whose time is over ends here. The caller holds mu.
func (f *Frontier) busy(group string) bool {
	l := f.leases[group]
	if l != nil && !time.Now().Before(l.ends) {
		f.end(l)
		l = nil
	}
	return l != nil
}

func (f *Frontier) leased(group string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.busy(group)
}

// jobs are the most urgent due URLs of the group at a place, by its record. What has been changed since that was committed is
// left out, and so is what cannot be read.
func (f *Frontier) jobs(p place, rec []byte, now int64) (jobs []Job, damaged []entry, err error) {
	h := &host{group: p.group}
	if err := h.decode(p.at, rec); err != nil || h.notBefore > now {
		return nil, nil, err
	}
	err = f.db.View(func(txn *kv.Txn) error {
		due, err := h.next(txn, now, f.opts.LeaseJobs)
		if err != nil {
			return err
		}
		jobs = make([]Job, 0, len(due))
		for _, e := range due {
			u, known, err := find(txn, e)
			if errors.Is(err, ErrDamaged) || err == nil && known && !u.isConsistent() {
				damaged = append(damaged, e)
				continue
			}
			if err != nil {
				return err
			}
			if known && ms(u.Due) == e.due && !u.Blacklisted {
				jobs = append(jobs, u.job())
			}
		}
		return nil
	})
	return jobs, damaged, err
}

func (u *URL) job() Job {
	link := u.URL
	if !strings.HasPrefix(u.Key, "ftp:") { // where a password of before this rule is a part of the key
		link, _ = address.WithoutSecret(link)
	}
	return Job{URL: link, Key: u.Key, Format: u.Format, MediaType: u.MediaType, Period: u.Period, Priority: u.Priority, History: u.History, ETag: u.ETag,
		LastModified: u.LastModified, Fetches: u.Fetches, Errors: u.Errors, Added: u.Added, Due: u.Due}
}

func (f *Frontier) grant(ctx context.Context, group string, jobs []Job) *Lease {
	ends := time.Now().Add(f.opts.LeaseTime)
	l := &Lease{Group: group, Jobs: jobs, ends: ends, Deadline: ends.Add(-f.opts.LeaseTime / 20), done: map[string]bool{}, f: f}
	l.ctx, l.cancel = context.WithDeadlineCause(ctx, l.Deadline, ErrLeaseLost)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.epoch++
	l.Epoch = f.epoch
	f.leases[group] = l
	return l
}

// end forgets a lease; the caller holds mu.
func (f *Frontier) end(l *Lease) {
	l.over = true
	l.cancel()
	if f.leases[l.Group] == l {
		delete(f.leases, l.Group)
		f.forget(l.Group)
	}
}

// correct puts groups right that were in the index too early.
func (f *Frontier) correct(ctx context.Context, groups []string, now int64) error {
	err := f.db.Update(ctx, func(txn *kv.Txn) error {
		for _, g := range groups {
			h, err := f.host(txn, g)
			if err != nil {
				return err
			}
			if err := f.sweep(txn, h, now); err != nil {
				return err
			}
			if err := h.settle(txn, now); err != nil {
				return err
			}
			if err := f.save(txn, h); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("frontier: lease: %w", err)
	}
	return nil
}

// sweep deletes due entries of the queue that no URL's record stands behind. There are none unless something is broken;
// then they must not hold the queue up.
func (f *Frontier) sweep(txn *kv.Txn, h *host, now int64) error {
	if h.notBefore > now {
		return nil
	}
	type lost struct {
		band byte
		entry
	}
	var all []lost
	var failed error
	err := h.due(txn, now, func(b byte, e entry) bool {
		u, known, err := find(txn, e)
		if errors.Is(err, ErrDamaged) { // a lease mends it
			return true
		}
		if failed = err; err == nil && (!known || u.Group != h.group || ms(u.Due) != e.due || band(u.Priority) != b) {
			all = append(all, lost{b, e})
		}
		return err == nil && len(all) < perTxn
	})
	if err := cmp.Or(err, failed); err != nil {
		return err
	}
	for _, e := range all {
		h.lane(e.band).drop(e.entry)
		if err := txn.Delete(kv.SpaceQueue, queueKey(h.group, e.band, e.due, e.key)); err != nil {
			return err
		}
	}
	return nil
}
