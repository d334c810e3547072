package frontier

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/schedule"
	"odarchive/triplestore/kv"
)

// Result is what a visit brought, as far as the frontier keeps it.
type Result struct {
	Visit        schedule.Visit
	NextDue      time.Time // zero: not due again
	Why          string    // of the schedule
	ETag         string    // of the content; "" leaves the former one
	LastModified string
	Passing      bool          // a failure that may pass: it is counted, and not remembered in the history
	Size         int64         // bytes of a new version
	HostBackoff  time.Duration // leave the whole group alone for so long; more than a Moment of it ends the lease
	HostWait     string        // why
}

// Moment is how long a lease, and who holds it, waits for a host rather than turning to another one.
const Moment = 50 * time.Millisecond

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
	over := last || r.HostBackoff > Moment
	if err := f.record(txn, l, job, r, over); err != nil {
		return fmt.Errorf("frontier: %s: %w", job.URL, err)
	}
	txn.OnCommit(func() { f.did(l, job, over) })
	return nil
}

// did marks a job of a lease as done, and ends the lease with its last one.
func (f *Frontier) did(l *Lease, job Job, over bool) {
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

// The wait before a URL is visited again whose visit a fault of ours has ended: doubled with each failure in a row.
const (
	firstPostponed   = 10 * time.Minute
	longestPostponed = 24 * time.Hour
)

// Postpone puts a job off whose visit could not be recorded, because of a fault of ours that may come from what the URL
// holds: the other URLs of its host do not wait for it. Nothing is recorded but a failure more in a row.
func (f *Frontier) Postpone(ctx context.Context, l *Lease, job Job, why string) error {
	err := f.db.Update(ctx, func(txn *kv.Txn) error {
		f.mu.Lock()
		lost := f.leases[l.Group] != l || !time.Now().Before(l.ends)
		last := len(l.done)+1 == len(l.Jobs)
		f.mu.Unlock()
		if lost {
			return ErrLeaseLost
		}
		u, h, err := f.toChange(txn, l, job)
		if err != nil {
			return err
		}
		if err := h.dequeue(txn, u); err != nil {
			return err
		}
		u.Due = f.opts.Now().Add(min(firstPostponed<<min(u.Errors, 10), longestPostponed))
		u.Errors++
		u.Why = "a fault of ours: " + why
		if err := h.enqueue(txn, u); err != nil {
			return err
		}
		if last {
			if err := h.settle(txn, ms(f.opts.Now())); err != nil {
				return err
			}
		}
		if err := f.save(txn, h); err != nil {
			return err
		}
		txn.OnCommit(func() { f.did(l, job, last) })
		return u.save(txn)
	})
	if err != nil {
		return fmt.Errorf("frontier: postpone %s: %w", job.URL, err)
	}
	return nil
}

// toChange finds the record of a job's URL, and that of its group.
func (f *Frontier) toChange(txn *kv.Txn, l *Lease, job Job) (u *URL, h *host, err error) {
	e := entry{ms(job.Due), job.Key}
	u, known, err := find(txn, e)
	switch {
	case err == nil && known:
		h, err = f.host(txn, l.Group)
	case err == nil, errors.Is(err, ErrDamaged): // nothing takes records out, so one that is missing is damage, too
		h, u, err = f.mendURL(txn, l.Group, e, job.record(l.Group))
	}
	return u, h, err
}

// record writes a visit: the URL with its new place in the queue, and what it means for the group.
func (f *Frontier) record(txn *kv.Txn, l *Lease, job Job, r Result, over bool) error {
	u, h, err := f.toChange(txn, l, job)
	if err != nil {
		return err
	}
	if err := h.dequeue(txn, u); err != nil {
		return err
	}
	u.note(r)
	if err := h.enqueue(txn, u); err != nil {
		return err
	}
	h.note(r, ms(f.opts.Now()))
	if over {
		if err := h.settle(txn, ms(f.opts.Now())); err != nil {
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

// record is what a job knows of its URL.
func (j Job) record(group string) *URL {
	return &URL{Key: j.Key, URL: j.URL, Format: j.Format, MediaType: j.MediaType, Period: j.Period, Group: group, Added: j.Added, Due: j.Due,
		Priority: j.Priority, History: j.History, Fetches: j.Fetches, Errors: j.Errors, ETag: j.ETag, LastModified: j.LastModified}
}

func (u *URL) note(r Result) {
	if !r.Passing {
		u.remember(r.Visit)
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
			h, err := f.host(txn, l.Group)
			if err != nil {
				return err
			}
			h.notBefore, h.wait = ms(notBefore), why
			if err := h.settle(txn, now); err != nil {
				return err
			}
			return f.save(txn, h)
		})
	}
	f.mu.Lock()
	if f.leases[l.Group] == l {
		f.end(l)
	}
	f.mu.Unlock()
	f.signal()
	if err != nil {
		return fmt.Errorf("frontier: release %s: %w", l.Group, err)
	}
	return nil
}
