package frontier

import (
	"context"
	"fmt"
	"time"

	"odarchive/triplestore/kv"
)

// LeaseOptions select a lease. The zero value is that of TryLease.
type LeaseOptions struct {
	// Time is how long the lease lasts unless Extend is called, by the machine's clock; 0 for Options.LeaseTime. The
	// context of such a lease has no deadline of its own: it ends when the lease is found to have ended.
	Time time.Duration
	// Pick, if not nil, returns those of the due jobs of a group that the caller can do; if there are none, the group
	// is passed over. It must be quick, since it is called while nobody else can lease.
	Pick func(group string, jobs []Job) []Job
}

// maxPassed bounds the groups that one call passes over.
const maxPassed = 1024

func (o LeaseOptions) pick(f *Frontier, group string, jobs []Job) []Job {
	if o.Pick == nil {
		return jobs
	}
	return o.Pick(group, jobs)
}

// TryLeaseWith is TryLease with options. next is when to try again if it returns no lease and nothing changes (the
// channel of Changed); it is the zero time if that is not known.
func (f *Frontier) TryLeaseWith(ctx context.Context, o LeaseOptions) (l *Lease, next time.Time, err error) {
	if why := f.Held(); why != "" {
		return nil, time.Time{}, fmt.Errorf("%w: %s", ErrPaused, why)
	}
	l, at, err := f.tryLease(ctx, o)
	if l == nil && err == nil && at != maxTime {
		next = fromMS(at)
	}
	return l, next, err
}

// current reports whether a lease is the one of its group: leases are compared by group and epoch, so that one which
// another process reports on can be named without being there. The caller holds mu.
func (f *Frontier) current(l *Lease) bool {
	now := f.leases[l.Group]
	return now != nil && now.Epoch == l.Epoch
}

// holds reports whether a lease has not ended. The caller holds mu.
func (f *Frontier) holds(l *Lease) bool { return f.current(l) && time.Now().Before(l.ends) }

// Extend lets a lease last for d from now. It reports whether the lease had not ended.
func (f *Frontier) Extend(l *Lease, d time.Duration) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.holds(l) || l.ctx.Err() != nil {
		return false
	}
	l.ends = time.Now().Add(d)
	if l.late != nil {
		l.late.Reset(beforeEnd(d))
	}
	return true
}

// IsHeld reports whether a lease has not ended.
func (f *Frontier) IsHeld(l *Lease) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.holds(l)
}

// IsDone reports whether a result of a job of the lease was recorded.
func (l *Lease) IsDone(key string) bool {
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	return l.done[key]
}

// Ends returns when the lease ends, by the machine's clock.
func (l *Lease) Ends() time.Time {
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	return l.ends
}

// Outstanding is the mark of leases that were granted to other processes, which a later process must respect.
type Outstanding struct {
	Lease    time.Duration // how long such a lease lasts at most without a word of the writer
	Returned bool          // all of them were returned when the process ended
}

const keyOutstanding = "!outstanding" // of kv.SpaceHosts

// Mark stores durably what leases other processes may hold. It must have returned before the first lease is granted.
func (f *Frontier) Mark(ctx context.Context, o Outstanding) error {
	v := []byte{0}
	if o.Returned {
		v[0] = 1
	}
	v = appendTime(v, o.Lease.Milliseconds())
	err := f.db.Update(ctx, func(txn *kv.Txn) error { return txn.Set(kv.SpaceHosts, []byte(keyOutstanding), v) })
	if err != nil {
		return fmt.Errorf("frontier: mark leases of other processes: %w", err)
	}
	return nil
}

// Marked returns what Mark stored; ok is false if leases were never granted to other processes.
func Marked(db *kv.DB) (o Outstanding, ok bool, err error) {
	err = db.View(func(txn *kv.Txn) error {
		v, found, err := txn.Get(kv.SpaceHosts, []byte(keyOutstanding))
		if ok = found && len(v) == 9; ok {
			o = Outstanding{Returned: v[0] == 1, Lease: time.Duration(readTime(v[1:])) * time.Millisecond}
		}
		return err
	})
	if err != nil {
		return o, false, fmt.Errorf("frontier: leases of other processes: %w", err)
	}
	return o, ok, nil
}
