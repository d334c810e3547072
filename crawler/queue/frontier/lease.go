package frontier

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/queue/schedule"
	"odarchive/triplestore/kv"
)

// Job is one URL to visit.
type Job struct {
	URL          string // the spelling to fetch, as the first source has it, without credentials
	Key          string
	Format       string        // as a source declares it
	MediaType    string        // likewise
	Accept       string        // what to ask the server for, as in catalog.Seed
	Period       time.Duration // between updates, as a source declares it; 0 = not declared
	Priority     float64
	History      []schedule.Visit
	ETag         string
	LastModified string
	Fetches      int // visits so far
	Errors       int // the latest of them in a row that yielded no content
	Added        time.Time
	Due          time.Time
	Why          string // the reason for Due
}

// Lease is the right to visit URLs of one group for a limited time. It belongs to one worker.
type Lease struct {
	Group string
	Epoch uint64
	Jobs  []Job

	ctx    context.Context // part of the lease, since it ends before the lease does
	cancel context.CancelCauseFunc
	late   *time.Timer     // ends ctx; nil if somebody else watches over it
	ends   time.Time       // guarded by Frontier.mu
	done   map[string]bool // guarded by Frontier.mu
	next   int
	over   bool // guarded by Frontier.mu
	f      *Frontier
}

// Context returns a context that ends before the lease does. After that, the worker must make no request and report no
// result.
func (l *Lease) Context() context.Context { return l.ctx }

// Next returns the next job. It returns false if there is none, or if the lease has ended, for example because its host
// must not be asked for a while.
func (l *Lease) Next() (Job, bool) {
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	if l.over || l.ctx.Err() != nil || l.next >= len(l.Jobs) {
		return Job{}, false
	}
	l.next++
	return l.Jobs[l.next-1], true
}

// Lease waits until a group has due URLs and the frontier is not held, and leases it. The lease's context descends from
// ctx.
func (f *Frontier) Lease(ctx context.Context) (*Lease, error) {
	return f.LeaseWith(ctx, LeaseOptions{})
}

// LeaseWith is Lease with options.
func (f *Frontier) LeaseWith(ctx context.Context, o LeaseOptions) (*Lease, error) {
	for {
		f.mu.Lock()
		wake := f.wake
		f.mu.Unlock()
		l, next, err := f.tryLease(ctx, o)
		if err != nil || l != nil {
			return l, err
		}
		wait := time.Minute
		if f.Held() != "" {
			wait = time.Second // nothing signals that a full disk has room again
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

// TryLease leases a group that has due URLs. It returns nil if there is none. While the frontier is held, the error
// wraps ErrPaused and has the reason.
func (f *Frontier) TryLease(ctx context.Context) (*Lease, error) {
	if why := f.Held(); why != "" {
		return nil, fmt.Errorf("%w: %s", ErrPaused, why)
	}
	l, _, err := f.tryLease(ctx, LeaseOptions{})
	return l, err
}

// tryLease leases the group that has been ready for longest. If it returns no lease, next is when to try again.
func (f *Frontier) tryLease(ctx context.Context, o LeaseOptions) (l *Lease, next int64, err error) {
	f.leasing.Lock()
	defer f.leasing.Unlock()
	if ctx.Err() != nil {
		return nil, 0, context.Cause(ctx)
	}
	if f.Held() != "" {
		return nil, maxTime, nil
	}
	if err := f.beginGeneration(ctx); err != nil {
		return nil, 0, err
	}
	now := ms(f.opts.Now())
	var stale []string
	passed := 0
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
		jobs, damaged, err := f.jobs(p, rec, now) // read after the group was found to be free
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
		if len(jobs) == 0 {
			stale = append(stale, p.group)
		} else if jobs = o.pick(f, p.group, jobs); len(jobs) > 0 {
			l = f.grant(ctx, p.group, jobs, o)
		} else if passed++; passed >= maxPassed {
			break
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

// busy reports whether a group is leased. It ends a lease whose time is over. The caller holds mu.
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

// jobs returns the most urgent due URLs of the group at p, whose record is rec. It skips URLs that have changed since
// rec was committed, and returns the entries of damaged ones separately.
func (f *Frontier) jobs(p place, rec []byte, now int64) (jobs []Job, damaged []entry, err error) {
	h := &host{group: p.group}
	if err := h.decode(p.at, rec); err != nil || h.notBefore > now {
		return nil, nil, err
	}
	err = f.db.View(func(txn *kv.Txn) error {
		most := 0
		if f.opts.Jobs != nil {
			most = f.opts.Jobs(p.group)
		}
		due, err := h.mostUrgent(txn, now, now, cmp.Or(most, f.opts.LeaseJobs))
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
	if !strings.HasPrefix(u.Key, "ftp:") { // whose key may contain the password
		link, _ = address.WithoutSecret(link)
	}
	return Job{URL: link, Key: u.Key, Format: u.Format, MediaType: u.MediaType, Accept: u.Accept, Period: u.Period, Priority: u.Priority,
		History: u.History, ETag: u.ETag,
		LastModified: u.LastModified, Fetches: u.Fetches, Errors: u.Errors, Added: u.Added, Due: u.Due, Why: u.Why}
}

// beforeEnd returns when the context of a lease ends that lasts for d.
func beforeEnd(d time.Duration) time.Duration { return d - d/20 }

func (f *Frontier) grant(ctx context.Context, group string, jobs []Job, o LeaseOptions) *Lease {
	long := cmp.Or(o.Time, f.opts.LeaseTime)
	l := &Lease{Group: group, Jobs: jobs, ends: time.Now().Add(long), done: map[string]bool{}, f: f}
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	if o.Time == 0 {
		l.late = time.AfterFunc(beforeEnd(long), func() { l.cancel(ErrLeaseLost) })
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.epoch++
	l.Epoch = f.epoch
	f.leases[group] = l
	return l
}

// end ends a lease. The caller holds mu.
func (f *Frontier) end(l *Lease) {
	l.over = true
	l.cancel(nil)
	if l.late != nil {
		l.late.Stop()
	}
	if f.current(l) {
		delete(f.leases, l.Group)
		f.forget(l.Group)
	}
}

// correct moves groups in the index of ready groups that were found there too early.
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
			if err := h.updateReady(txn, now); err != nil {
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

// sweep deletes due queue entries that no URL's record confirms. Only damage leaves such entries, and they must not
// block the queue.
func (f *Frontier) sweep(txn *kv.Txn, h *host, now int64) error {
	if h.notBefore > now {
		return nil
	}
	type lost struct {
		lane laneID
		entry
	}
	var all []lost
	var failed error
	err := h.eachDue(txn, now, func(lane laneID, e entry) bool {
		u, known, err := find(txn, e)
		if errors.Is(err, ErrDamaged) { // the next lease restores it
			return true
		}
		if failed = err; err == nil && (!known || u.Group != h.group || ms(u.Due) != e.due || u.lane() != lane) {
			all = append(all, lost{lane, e})
		}
		return err == nil && len(all) < perTxn
	})
	if err := cmp.Or(err, failed); err != nil {
		return err
	}
	for _, e := range all {
		h.lane(e.lane).remove(e.entry)
		if err := txn.Delete(kv.SpaceQueue, queueKey(h.group, e.lane, e.due, e.key)); err != nil {
			return err
		}
	}
	return nil
}
