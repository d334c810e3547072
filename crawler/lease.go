package crawler

import (
	"context"
	"errors"
	"time"

	"odarchive/crawler/frontier"
)

// next waits for a lease; nil where the crawl is at its end. One worker at a time looks, for all who have nothing to do.
func (r *run) next(ctx context.Context) (*frontier.Lease, error) {
	select {
	case r.looking <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-r.looking }()
	for r.mayStart(0) {
		if !r.opts.Once && r.opts.MaxFetches == 0 {
			return r.Frontier.Lease(ctx)
		}
		changed := r.Frontier.Changed()
		lease, err := r.Frontier.TryLease(ctx)
		if errors.Is(err, frontier.ErrPaused) && (!r.opts.Once || r.passing() || r.Frontier.Held() == "") {
			err = nil
		}
		if err != nil || lease != nil {
			return lease, err
		}
		at, more, err := r.lookAgain()
		if err != nil || !more {
			return nil, err
		}
		wait := min(max(at.Sub(r.Clock()), 5*time.Millisecond), time.Second)
		timer := time.NewTimer(wait)
		select {
		case <-changed:
		case <-timer.C:
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
		if timer.Stop(); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// lookAgain is when a lease may be had, if there is none now and nothing changes; more is false where a crawl of what is
// due has visited all.
func (r *run) lookAgain() (at time.Time, more bool, err error) {
	now := r.Clock()
	if !r.opts.Once {
		return now.Add(time.Second), true, nil
	}
	more, at, err = r.Frontier.Pending(patience)
	if err == nil && more && !at.After(now) { // all are being visited
		var queued bool
		if at, queued, err = r.Frontier.NextDue(); !queued {
			at = now.Add(time.Second)
		}
	}
	if err == nil && !more {
		at, more = r.awaited()
	}
	return at, more, err
}

// awaited is when the last retry is due that the crawl waits for, while it is not; the log is told once.
func (r *run) awaited() (at time.Time, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ok = r.retry.After(r.Clock()); ok && !r.retry.Equal(r.told) {
		r.told = r.retry
		r.Log.Info("nothing is due but retries", "until", r.retry)
	}
	return r.retry, ok
}

// mayStart counts n more fetches as begun, unless that would be too many.
func (r *run) mayStart(n int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.opts.MaxFetches > 0 && r.started+max(n, 1) > r.opts.MaxFetches {
		return false
	}
	r.started += n
	return true
}
