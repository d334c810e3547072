package frontier

import (
	"context"
	"fmt"
	"maps"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/schedule"
	"odarchive/triplestore/kv"
)

// Job is one URL to visit.
type Job struct {
	URL          string // as the source spelled it: what is fetched
	Key          string
	Seed         catalog.Seed
	Sources      []catalog.Source
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
	next = maxTime
	first := int64(maxTime)
	f.mu.Lock()
	from := f.from
	f.lowered = maxTime
	held := maps.Clone(f.leases) // a lease that ends while we look has results that our view of the database does not have
	f.mu.Unlock()
	err = f.db.View(func(txn *kv.Txn) error {
		return txn.Scan(kv.SpaceHosts, []byte(prefixReady), readyKey(from, ""), func(k, _ []byte) (bool, error) {
			at, group := readTime(k[1:]), string(k[9:])
			first = min(first, at)
			if at > now {
				next = at
				return false, nil
			}
			if held[group] != nil && !f.expired(held[group]) {
				return true, nil
			}
			jobs, err := f.jobs(txn, group, now)
			if err != nil {
				return false, err
			}
			if len(jobs) == 0 {
				stale = append(stale, group)
				return len(stale) < perTxn, nil
			}
			l = f.grant(ctx, group, jobs)
			return false, nil
		})
	})
	if err != nil {
		return nil, 0, fmt.Errorf("frontier: lease: %w", err)
	}
	f.mu.Lock()
	f.from = min(first, f.lowered)
	f.mu.Unlock()
	if len(stale) > 0 {
		if err := f.correct(ctx, stale, now); err != nil {
			return l, 0, err
		}
		next = now
	}
	return l, next, nil
}

// expired ends a lease whose time is over, and says so. One that has ended otherwise is not expired.
func (f *Frontier) expired(l *Lease) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.leases[l.Group] != l || time.Now().Before(l.ends) {
		return false
	}
	f.end(l)
	return true
}

func (f *Frontier) leased(group string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	l, ok := f.leases[group]
	if ok && !time.Now().Before(l.ends) {
		f.end(l)
		ok = false
	}
	return ok
}

// jobs are the group's most urgent due URLs.
func (f *Frontier) jobs(txn *kv.Txn, group string, now int64) ([]Job, error) {
	h, err := loadHost(txn, group)
	if err != nil || h.notBefore > now {
		return nil, err
	}
	keys := make([]string, 0, f.opts.LeaseJobs)
	err = h.due(txn, now, func(key string) bool {
		keys = append(keys, key)
		return len(keys) < f.opts.LeaseJobs
	})
	if err != nil {
		return nil, err
	}
	jobs := make([]Job, 0, len(keys))
	for _, key := range keys {
		u, ok, err := get(txn, key)
		if err != nil {
			return nil, err
		}
		if ok {
			jobs = append(jobs, u.job())
		}
	}
	return jobs, nil
}

func (u *URL) job() Job {
	return Job{URL: u.Seed.URL, Key: u.Key, Seed: u.Seed, Sources: u.Sources, History: u.History, ETag: u.ETag,
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
	}
}

// correct puts groups right that were in the index too early.
func (f *Frontier) correct(ctx context.Context, groups []string, now int64) error {
	err := f.db.Update(ctx, func(txn *kv.Txn) error {
		for _, g := range groups {
			h, err := loadHost(txn, g)
			if err != nil {
				return err
			}
			if err := f.sweep(txn, h, now); err != nil {
				return err
			}
			if err := h.settle(txn, now); err != nil {
				return err
			}
			if err := h.save(txn); err != nil {
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
	for _, b := range h.bands {
		prefix := queuePrefix(h.group, b)
		err := txn.Scan(kv.SpaceQueue, prefix, appendTime(prefix, h.low), func(k, _ []byte) (bool, error) {
			due, key, ok := cutQueueKey(k, h.group)
			if !ok || due > now {
				return false, nil
			}
			u, known, err := get(txn, key)
			if err == nil && (!known || u.Group != h.group || ms(u.Due) != due || band(u.Priority) != b) {
				err = txn.Delete(kv.SpaceQueue, k)
			}
			return err == nil, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
