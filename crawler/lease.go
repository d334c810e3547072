package crawler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"odarchive/crawler/queue/frontier"
)

// nextLease waits for a lease. It returns nil at the end of the crawl. One worker waits at a time, and the others for
// that one.
func (r *run) nextLease(ctx context.Context) (*frontier.Lease, error) {
	select {
	case r.looking <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-r.looking }()
	for r.mayStart(0) {
		if r.opts.Until != nil && r.opts.Until(false) {
			return nil, nil
		}
		if !r.opts.Once && r.opts.MaxFetches == 0 && r.opts.Until == nil {
			return r.Frontier.LeaseWith(ctx, frontier.LeaseOptions{Pick: r.Pick})
		}
		changed := r.Frontier.Changed()
		lease, _, err := r.Frontier.TryLeaseWith(ctx, frontier.LeaseOptions{Pick: r.Pick})
		if errors.Is(err, frontier.ErrPaused) && (!r.opts.Once && r.opts.Until == nil || r.inBriefTrouble() || r.Frontier.Held() == "") {
			err = nil
		}
		if errors.Is(err, frontier.ErrPaused) && r.Outage() != "" {
			return nil, fmt.Errorf("%s; nothing was recorded of hosts", r.Outage())
		}
		if err != nil || lease != nil {
			return lease, err
		}
		at, more, err := r.nextLook()
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

// nextLook returns when a lease may be available if nothing changes. more is false if a crawl with Once has visited
// everything.
func (r *run) nextLook() (at time.Time, more bool, err error) {
	now := r.Clock()
	if !r.opts.Once && r.opts.Until == nil {
		return now.Add(time.Second), true, nil
	}
	more, at, err = r.Frontier.Pending(patience)
	if err == nil && more && !at.After(now) { // all due URLs are being visited
		var queued bool
		if at, queued, err = r.Frontier.NextDue(); !queued {
			at = now.Add(time.Second)
		}
	}
	if err == nil && !more {
		at, more = r.nextRetry()
	}
	if err == nil && !more && r.opts.Until != nil {
		at, more = now.Add(100*time.Millisecond), !r.opts.Until(true)
	}
	return at, more, err
}

// nextRetry returns when the last retry is due that the crawl waits for, and whether that is in the future. It logs
// each time once.
func (r *run) nextRetry() (at time.Time, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ok = r.retry.After(r.Clock()); ok && !r.retry.Equal(r.logged) {
		r.logged = r.retry
		r.Log.Info("nothing is due but retries", "until", r.retry)
	}
	return r.retry, ok
}

// mayStart counts n more fetches as started, and reports whether RunOptions.MaxFetches allows them, or one if n is 0.
func (r *run) mayStart(n int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.opts.MaxFetches > 0 && r.started+max(n, 1) > r.opts.MaxFetches {
		return false
	}
	r.started += n
	return true
}
