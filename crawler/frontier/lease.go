package frontier

import (
	"cmp"
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

// Result is what a visit brought, as far as the frontier keeps it.
type Result struct {
	Visit        schedule.Visit
	NextDue      time.Time // zero: not due again
	Why          string    // of the schedule
	ETag         string    // of the content; "" leaves the former one
	LastModified string
	Passing      bool          // a failure that may pass: it is counted, and not remembered in the history
	Size         int64         // bytes of a new version
	HostBackoff  time.Duration // leave the whole group alone for so long; more than a moment of it ends the lease
	HostWait     string        // why
}

// moment is how long a lease waits rather than ends.
const moment = 2 * time.Second

// Done records a visit inside the caller's transaction; it takes effect when that commits. A second result for one
// job of a lease changes nothing. ErrLeaseLost where the lease has ended meanwhile: the result must not be stored.
func (f *Frontier) Done(txn *kv.Txn, l *Lease, job Job, r Result) error {
	f.mu.Lock()
	lost := f.leases[l.Group] != l || !time.Now().Before(l.ends)
	already := l.done[job.Key]
	last := len(l.done)+1 == len(l.Jobs)
	f.mu.Unlock()
	if already {
		return nil
	}
	if lost {
		return fmt.Errorf("frontier: %s: %w", job.URL, ErrLeaseLost)
	}
	over := last || r.HostBackoff > moment
	ready, err := f.record(txn, l.Group, job.Key, r, over)
	if err != nil {
		return fmt.Errorf("frontier: %s: %w", job.URL, err)
	}
	txn.OnCommit(func() {
		f.mu.Lock()
		l.done[job.Key] = true
		ended := over || len(l.done) == len(l.Jobs)
		if ended {
			f.end(l)
		}
		f.mu.Unlock()
		if ended {
			f.signal(ready)
		}
	})
	return nil
}

// record writes a visit: the URL with its new place in the queue, and what it means for the group.
func (f *Frontier) record(txn *kv.Txn, group, key string, r Result, over bool) (ready int64, err error) {
	u, known, err := get(txn, key)
	if err != nil {
		return 0, err
	}
	if !known {
		return 0, ErrUnknown
	}
	h, err := loadHost(txn, group)
	if err != nil {
		return 0, err
	}
	if err := dequeue(txn, u); err != nil {
		return 0, err
	}
	u.note(r, f.opts.History)
	if err := h.enqueue(txn, u); err != nil {
		return 0, err
	}
	h.note(r, ms(f.opts.Now()))
	if over {
		if err := h.settle(txn, ms(f.opts.Now())); err != nil {
			return 0, err
		}
	}
	if err := h.save(txn); err != nil {
		return 0, err
	}
	t := totals{visits: 1}
	t.outcomes[outcomeCode(r.Visit.Outcome)]++
	if err := t.add(txn); err != nil {
		return 0, err
	}
	return h.ready, txn.Set(kv.SpaceFrontier, []byte(key), u.encode(nil))
}

func (u *URL) note(r Result, history int) {
	if !r.Passing {
		u.remember(r.Visit, history)
	}
	u.Fetches++
	u.Errors++
	if r.Visit.Known() {
		u.Errors = 0
		if r.Visit.Changed {
			u.Changes++
		}
		u.validators(r)
	}
	u.Due, u.Why = r.NextDue, r.Why
}

// validators are what the server will be asked to compare with next time. One that once gave other bytes under the same
// entity tag, or the same time where it has no tags, is not believed again.
func (u *URL) validators(r Result) {
	same := r.ETag != "" && r.ETag == u.ETag || r.ETag == "" && u.ETag == "" && r.LastModified != "" && r.LastModified == u.LastModified
	u.Liar = u.Liar || r.Visit.Changed && same
	switch {
	case u.Liar:
		u.ETag, u.LastModified = "", ""
	case r.Visit.Changed:
		u.ETag, u.LastModified = r.ETag, r.LastModified
	default: // a 304 need not repeat them
		u.ETag, u.LastModified = cmp.Or(r.ETag, u.ETag), cmp.Or(r.LastModified, u.LastModified)
	}
}

func (h *host) note(r Result, now int64) {
	h.visits++
	h.lastVisit = max(h.lastVisit, ms(r.Visit.At))
	h.outcomes[outcomeCode(r.Visit.Outcome)]++
	if r.Visit.Outcome == catalog.Archived {
		h.versions++
		h.bytes += r.Size
	}
	if r.HostBackoff > 0 {
		h.notBefore, h.wait = now+r.HostBackoff.Milliseconds(), r.HostWait
	}
}

// Release ends a lease; what was not done is due as before. With a time, the group is left alone until then.
func (f *Frontier) Release(ctx context.Context, l *Lease, notBefore time.Time, why string) error {
	f.mu.Lock()
	mine := f.leases[l.Group] == l
	f.mu.Unlock()
	if !mine {
		return nil
	}
	now := ms(f.opts.Now())
	var err error
	if ms(notBefore) > now {
		err = f.db.Update(ctx, func(txn *kv.Txn) error {
			h, err := loadHost(txn, l.Group)
			if err != nil {
				return err
			}
			h.notBefore, h.wait = ms(notBefore), why
			if err := h.settle(txn, now); err != nil {
				return err
			}
			return h.save(txn)
		})
	}
	f.mu.Lock()
	if f.leases[l.Group] == l {
		f.end(l)
	}
	f.mu.Unlock()
	f.signal(now)
	if err != nil {
		return fmt.Errorf("frontier: release %s: %w", l.Group, err)
	}
	return nil
}

// NextDue is when the next group that nobody has leased is ready; it may be in the past. ok is false where nothing is
// queued.
func (f *Frontier) NextDue() (at time.Time, ok bool, err error) {
	from := f.lookFrom()
	err = f.db.View(func(txn *kv.Txn) error {
		return txn.Scan(kv.SpaceHosts, []byte(prefixReady), readyKey(from, ""), func(k, _ []byte) (bool, error) {
			if f.leased(string(k[9:])) {
				return true, nil
			}
			at, ok = fromMS(readTime(k[1:])), true
			return false, nil
		})
	})
	if err != nil {
		return at, false, fmt.Errorf("frontier: next due: %w", err)
	}
	return at, ok, nil
}

// Pending says whether a URL that is due now is being visited or can be leased within patience, and when. It is how a
// crawl of what is due knows its end: hosts that wait for longer are left for another time.
func (f *Frontier) Pending(patience time.Duration) (pending bool, at time.Time, err error) {
	now := f.opts.Now()
	f.mu.Lock()
	leased := len(f.leases)
	f.mu.Unlock()
	if leased > 0 {
		return true, now, nil
	}
	until := ms(now.Add(patience))
	from := f.lookFrom()
	err = f.db.View(func(txn *kv.Txn) error {
		return txn.Scan(kv.SpaceHosts, []byte(prefixReady), readyKey(from, ""), func(k, _ []byte) (bool, error) {
			ready, group := readTime(k[1:]), string(k[9:])
			if ready > until {
				return false, nil
			}
			h, err := loadHost(txn, group)
			if err != nil || h.notBefore > until {
				return true, err
			}
			err = h.due(txn, ms(now), func(string) bool { pending = true; return false })
			at = fromMS(max(ready, h.notBefore))
			return !pending, err
		})
	})
	if err != nil {
		return false, at, fmt.Errorf("frontier: pending: %w", err)
	}
	return pending, at, nil
}

// lookFrom is a time before which no group is ready. Looking from there passes by what was deleted before it.
func (f *Frontier) lookFrom() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.from
}
