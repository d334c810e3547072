package crawler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/queue/supervise"
	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/politeness"
	"odarchive/triplestore/kv"
)

// patience is how long a crawl with an end waits for a host that must not be asked yet, and for this machine's trouble
// to end.
const patience = 2 * time.Minute

// waitForRoom returns nil after a second if the disk is full and the crawl has no end, and err otherwise.
func (r *run) waitForRoom(ctx context.Context, err error) error {
	if r.opts.Once || !errors.Is(err, kv.ErrDiskFull) {
		return err
	}
	r.Log.Warn("the crawl waits for room on the disk", "error", err)
	select {
	case <-time.After(time.Second):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// wholeArchive reports whether an error concerns the archive as a whole, so that other hosts would meet it too.
func wholeArchive(err error) bool {
	for _, whole := range []error{kv.ErrDiskFull, kv.ErrWritesStopped, kv.ErrClosed, kv.ErrReadOnly} {
		if errors.Is(err, whole) {
			return true
		}
	}
	return false
}

// maxAside is the number of hosts with a postponed URL, without a successful visit in between, at which the archive
// itself counts as faulty.
const maxAside = 5

// postpone postpones a URL whose visit failed because of a fault of this program, so that the crawl can go on. It
// returns err if the crawl must end.
func (r *run) postpone(ctx context.Context, lease *frontier.Lease, job frontier.Job, err error) error {
	facts := []any{"url", job.URL, "error", err}
	var fault *supervise.Panic
	if errors.As(err, &fault) {
		facts = append(facts, "stack", fault.Stack)
	}
	r.Log.Error("a visit failed because of a fault of ours; its URL is put off", facts...)
	if len(r.opts.URLs) > 0 { // named URLs end the crawl with the error
		return err
	}
	if put := r.Frontier.Postpone(context.WithoutCancel(ctx), lease, job, fmt.Sprintf("%.300s", err)); put != nil &&
		!errors.Is(put, frontier.ErrLeaseLost) {
		return errors.Join(err, put)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.aside == nil {
		r.aside = map[string]struct{}{}
	}
	if r.aside[lease.Group] = struct{}{}; len(r.aside) >= maxAside {
		return err
	}
	return nil
}

// inBriefTrouble reports whether this machine is in trouble, for less than patience.
func (r *run) inBriefTrouble() bool {
	_, _, since := r.outage.state(time.Now())
	return !since.IsZero() && time.Since(since) < patience
}

// pause returns a lease that met trouble of this machine, and waits for the end of the pause. In a crawl with an end,
// it returns an error when the trouble has lasted for patience.
func (r *run) pause(ctx context.Context, lease *frontier.Lease, own *fetch.OwnTrouble) error {
	r.mu.Lock()
	r.started-- // nothing was recorded
	r.mu.Unlock()
	// Without trouble, the content store had it, or a host has answered since, which shows that the network is up.
	if _, _, since := r.outage.state(time.Now()); since.IsZero() && own.Kind != fetch.TroubleNetwork {
		r.outage.note(own, time.Now())
	}
	why, until, since := r.outage.state(time.Now())
	back := r.Clock().Add(time.Until(until)) // after the hosts that are ready, which may answer
	if err := r.Frontier.Release(context.WithoutCancel(ctx), lease, back, "network"); err != nil {
		return fmt.Errorf("give back %s: %w", lease.Group, err)
	}
	if (r.opts.Once || len(r.opts.URLs) > 0) && !since.IsZero() && time.Since(since) >= patience {
		return fmt.Errorf("this machine is in trouble, nothing was recorded of hosts: %w", own)
	}
	r.mu.Lock()
	log := !until.IsZero() && !until.Equal(r.paused)
	r.paused = until
	r.mu.Unlock()
	if log {
		r.Log.Warn("the crawl pauses, and nothing is recorded of hosts: "+why, "trouble", own, "until", until)
	}
	return sleep(ctx, max(time.Until(until), time.Millisecond))
}

// fatal returns the error that ends the crawl: nil if err only means that the lease has ended, after which its jobs are
// leased again.
func (r *run) fatal(ctx context.Context, lease *frontier.Lease, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, frontier.ErrLeaseLost) || lease.Context().Err() != nil {
		r.Log.Warn("lease lost, its jobs are due again", "group", lease.Group, "error", err)
		return nil
	}
	return err
}

// release returns a lease; its remaining jobs are due as before.
func (r *run) release(ctx context.Context, lease *frontier.Lease) error {
	if err := r.Frontier.Release(context.WithoutCancel(ctx), lease, time.Time{}, ""); err != nil {
		return fmt.Errorf("give back %s: %w", lease.Group, err)
	}
	return nil
}

// releaseUntil returns a lease until its host, or the door of the one that waits, may be asked again. wait.Until is in
// the machine's time, the frontier's in the archive's.
func (r *run) releaseUntil(ctx context.Context, lease *frontier.Lease, wait *politeness.Wait) error {
	r.mu.Lock()
	r.started-- // it was not fetched
	r.mu.Unlock()
	until := r.Clock().Add(time.Until(wait.Until))
	ctx = context.WithoutCancel(ctx)
	var err error
	if wait.Door != "" && wait.Host == lease.Group {
		err = r.Frontier.ReleaseDoor(ctx, lease, wait.Door, until, wait.Why)
	} else {
		err = r.Frontier.Release(ctx, lease, until, wait.Why)
	}
	if err != nil {
		return fmt.Errorf("give back %s: %w", lease.Group, err)
	}
	return nil
}

// sleep waits for d. If ctx ends first, it returns the cause.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
