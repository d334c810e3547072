package frontier

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/schedule"
	"odarchive/triplestore/kv"
)

// Result is what the frontier records of a visit.
type Result struct {
	Visit        schedule.Visit
	NextDue      time.Time // zero: never again
	Why          string    // the schedule's reason
	ETag         string    // of the content; "" keeps the previous one
	LastModified string
	// Unrelated says that the version before the visit was imported from another archive, so that the validators of the
	// visit before are not those of its bytes, and prove no lie.
	Unrelated   bool
	Accept      string        // what the server was asked for instead of Job.Accept, and is to be asked for from now on; "" for no change
	Passing     bool          // a transient failure: counted, but not added to the history
	Size        int64         // bytes of a new version
	HostBackoff time.Duration // how long the group must not be asked; more than a Moment ends the lease
	HostWait    string        // the reason
	// DoorBackoff is how long URLs of the scheme, host and port of the visited one must not be asked for, 0 if they may
	// be; more than a Moment ends the lease.
	DoorBackoff time.Duration
	DoorWait    string // the reason
}

// Moment is the longest pause between requests for which a lease is kept. For longer ones, the worker leases another
// group.
const Moment = 50 * time.Millisecond

// Done records a visit inside the caller's transaction, and takes effect when that commits. A second result for a job
// of a lease changes nothing. If the lease has ended, the error wraps ErrLeaseLost and the caller must not commit.
func (f *Frontier) Done(txn *kv.Txn, l *Lease, job Job, r Result) error {
	f.mu.Lock()
	lost := !f.holds(l)
	already := l.done[job.Key]
	last := len(l.done)+1 == len(l.Jobs)
	f.mu.Unlock()
	if already {
		return nil
	}
	if lost {
		return fmt.Errorf("frontier: %s: %w", job.URL, ErrLeaseLost)
	}
	over := last || max(r.HostBackoff, r.DoorBackoff) > Moment
	if err := f.record(txn, l, job, r, over); err != nil {
		return fmt.Errorf("frontier: %s: %w", job.URL, err)
	}
	txn.OnCommit(func() { f.finishJob(l, job, over) })
	return nil
}

// finishJob marks a job of a lease as done. It ends the lease if over is set or the job is the last one.
func (f *Frontier) finishJob(l *Lease, job Job, over bool) {
	f.mu.Lock()
	l.done[job.Key] = true
	ended := over || len(l.done) == len(l.Jobs)
	if ended {
		f.end(l)
	}
	f.mu.Unlock()
	if ended {
		f.signal()
	}
}

// A postponed URL is due again after minPostponed, doubled with each failure in a row up to maxPostponed.
const (
	minPostponed = 10 * time.Minute
	maxPostponed = 24 * time.Hour
)

// Postpone postpones a job whose visit could not be recorded because of a fault of this program, so that it does not
// hold up the other URLs of its host. It records one more failure in a row, and nothing else.
func (f *Frontier) Postpone(ctx context.Context, l *Lease, job Job, why string) error {
	err := f.reschedule(ctx, l, job, func(u *URL) {
		u.Due = f.opts.Now().Add(min(minPostponed<<min(u.Errors, 10), maxPostponed))
		u.Errors++
		u.explain("a fault of this program: " + why)
	})
	if err != nil {
		return fmt.Errorf("frontier: postpone %s: %w", job.URL, err)
	}
	return nil
}

// Defer puts a job off until a time (zero: never again) without a visit, for a reason that people read.
func (f *Frontier) Defer(ctx context.Context, l *Lease, job Job, until time.Time, why string) error {
	err := f.reschedule(ctx, l, job, func(u *URL) {
		u.Due = until
		u.explain(why)
	})
	if err != nil {
		return fmt.Errorf("frontier: defer %s: %w", job.URL, err)
	}
	return nil
}

// reschedule marks a job as done without a visit. change says when it is due again.
func (f *Frontier) reschedule(ctx context.Context, l *Lease, job Job, change func(*URL)) error {
	return f.db.Update(ctx, func(txn *kv.Txn) error {
		f.mu.Lock()
		lost := !f.holds(l)
		last := len(l.done)+1 == len(l.Jobs)
		f.mu.Unlock()
		if lost {
			return ErrLeaseLost
		}
		u, h, err := f.loadJob(txn, l, job)
		if err != nil {
			return err
		}
		if err := h.dequeue(txn, u); err != nil {
			return err
		}
		change(u)
		if err := h.enqueue(txn, u); err != nil {
			return err
		}
		if last {
			if err := h.updateReady(txn, ms(f.opts.Now())); err != nil {
				return err
			}
		}
		if err := f.save(txn, h); err != nil {
			return err
		}
		txn.OnCommit(func() { f.finishJob(l, job, last) })
		return u.save(txn)
	})
}

// loadJob returns the record of a job's URL, and that of its group. It restores damaged ones.
func (f *Frontier) loadJob(txn *kv.Txn, l *Lease, job Job) (u *URL, h *host, err error) {
	e := entry{ms(job.Due), job.Key}
	u, known, err := find(txn, e)
	switch {
	case err == nil && known:
		h, err = f.host(txn, l.Group)
	case err == nil, errors.Is(err, ErrDamaged): // records are never removed, so a missing one is damage
		h, u, err = f.mendURL(txn, l.Group, e, job.record(l.Group))
	}
	return u, h, err
}

// record writes the result of a visit to the records of the URL and its group, and to the totals, and queues the URL.
func (f *Frontier) record(txn *kv.Txn, l *Lease, job Job, r Result, over bool) error {
	u, h, err := f.loadJob(txn, l, job)
	if err != nil {
		return err
	}
	if err := h.dequeue(txn, u); err != nil {
		return err
	}
	u.note(r)
	u.Due = f.latest(u.Due)
	if err := h.enqueue(txn, u); err != nil {
		return err
	}
	if opened := h.note(r, doorOf(u.Key), ms(f.opts.Now())); over || opened {
		if err := h.updateReady(txn, ms(f.opts.Now())); err != nil {
			return err
		}
	}
	if err := f.save(txn, h); err != nil {
		return err
	}
	t := totals{visits: 1}
	t.outcomes[outcomeCode(r.Visit.Outcome)]++
	if err := t.add(txn); err != nil {
		return err
	}
	return u.save(txn)
}

// record returns the record that the job was made of, as far as the job has it.
func (j Job) record(group string) *URL {
	return &URL{Key: j.Key, URL: j.URL, Format: j.Format, MediaType: j.MediaType, Accept: j.Accept, Period: j.Period, Group: group,
		Added: j.Added, Due: j.Due,
		Priority: j.Priority, History: j.History, Fetches: j.Fetches, Errors: j.Errors, ETag: j.ETag, LastModified: j.LastModified}
}

// note adds a visit.
func (u *URL) note(r Result) {
	if !r.Passing {
		u.remember(r.Visit)
	}
	if r.Accept != "" {
		u.setAccept(r.Accept)
	}
	u.Fetches++
	u.Errors++
	if r.Visit.Known() {
		u.Errors = 0
		if r.Visit.Changed {
			u.Changes++
		}
		u.setValidators(r)
	}
	u.Due = r.NextDue
	u.explain(r.Why)
}

// explain sets Why. A URL that an order has taken out of the crawl, while it was visited, keeps the reason of that.
func (u *URL) explain(why string) {
	if !u.Blacklisted {
		u.Why = why
	}
}

// setValidators sets ETag and LastModified for the next request. A server that once sent other bytes with the same
// entity tag, or with the same time and no tag, is a liar: its validators are not used again.
func (u *URL) setValidators(r Result) {
	u.Liar = u.Liar || r.Visit.Changed && !r.Unrelated && SameValidators(u.ETag, u.LastModified, r.ETag, r.LastModified)
	switch {
	case u.Liar:
		u.ETag, u.LastModified = "", ""
	case r.Visit.Changed:
		u.ETag, u.LastModified = r.ETag, r.LastModified
	default: // a 304 need not repeat them
		u.ETag, u.LastModified = cmp.Or(r.ETag, u.ETag), cmp.Or(r.LastModified, u.LastModified)
	}
}

// SameValidators reports whether a server says of two responses that their bytes are the same: by the same entity tag,
// or by the same time and no tag.
func SameValidators(etag, lastModified, etag2, lastModified2 string) bool {
	return etag != "" && etag == etag2 || etag == "" && etag2 == "" && lastModified != "" && lastModified == lastModified2
}

// note adds a visit of one of the group's URLs, and reports whether it opened the door of that.
func (h *host) note(r Result, door byte, now int64) (opened bool) {
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
	if r.DoorBackoff > 0 {
		return h.setDoor(door, now+r.DoorBackoff.Milliseconds(), r.DoorWait)
	}
	return h.setDoor(door, 0, "")
}

// Release ends a lease. Jobs without a result are due as before. If notBefore is in the future, the group is not leased
// until then, with why as the reason. Releasing a lease that has ended does nothing.
func (f *Frontier) Release(ctx context.Context, l *Lease, notBefore time.Time, why string) error {
	return f.releaseWith(ctx, l, notBefore, func(h *host) { h.notBefore, h.wait = ms(notBefore), why })
}

// ReleaseDoor is Release if the URLs of one scheme, host and port must not be asked for, and others of the host may be.
// url is one of them.
func (f *Frontier) ReleaseDoor(ctx context.Context, l *Lease, url string, notBefore time.Time, why string) error {
	return f.releaseWith(ctx, l, notBefore, func(h *host) { h.setDoor(doorOf(url), ms(notBefore), why) })
}

// releaseWith ends a lease. If notBefore is in the future, shut changes the record of its group.
func (f *Frontier) releaseWith(ctx context.Context, l *Lease, notBefore time.Time, shut func(*host)) error {
	f.mu.Lock()
	mine := f.current(l)
	f.mu.Unlock()
	if !mine {
		return nil
	}
	now := ms(f.opts.Now())
	var err error
	if ms(notBefore) > now {
		err = f.db.Update(ctx, func(txn *kv.Txn) error {
			h, err := f.host(txn, l.Group)
			if err != nil {
				return err
			}
			shut(h)
			if err := h.updateReady(txn, now); err != nil {
				return err
			}
			return f.save(txn, h)
		})
	}
	f.mu.Lock()
	if f.current(l) {
		f.end(l)
	}
	f.mu.Unlock()
	f.signal()
	if err != nil {
		return fmt.Errorf("frontier: release %s: %w", l.Group, err)
	}
	return nil
}
