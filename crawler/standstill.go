package crawler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"odarchive/crawler/frontier"
	"odarchive/crawler/supervise"
	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/politeness"
	"odarchive/triplestore/kv"
)

// patience is how long a crawl of what is due waits for a host that wants to be left alone for a moment.
const patience = 2 * time.Minute

// waitForRoom lets a crawl without an end go on a second after the database has refused to write for want of room.
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

// wholeArchive reports whether an error is the archive's as a whole: no other host would do better.
func wholeArchive(err error) bool {
	for _, whole := range []error{kv.ErrDiskFull, kv.ErrWritesStopped, kv.ErrClosed, kv.ErrReadOnly} {
		if errors.Is(err, whole) {
			return true
		}
	}
	return false
}

// asideHosts is how many hosts in a row may have a URL set aside, without a visit that went well, before the archive
// itself is at fault.
const asideHosts = 5

// setAside puts a URL off whose visit was ended by a fault of ours, and has the others go on, of its host and of others.
func (r *run) setAside(ctx context.Context, lease *frontier.Lease, job frontier.Job, err error) error {
	facts := []any{"url", job.URL, "error", err}
	var fault *supervise.Panic
	if errors.As(err, &fault) {
		facts = append(facts, "stack", fault.Stack)
	}
	r.Log.Error("a visit failed because of a fault of ours; its URL is put off", facts...)
	if len(r.opts.URLs) > 0 { // who asked for it by name is told
		return err
	}
	if put := r.Frontier.Postpone(context.WithoutCancel(ctx), lease, job, fmt.Sprintf("%.300s", err)); put != nil && !errors.Is(put, frontier.ErrLeaseLost) {
		return errors.Join(err, put)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.aside == nil {
		r.aside = map[string]struct{}{}
	}
	if r.aside[lease.Group] = struct{}{}; len(r.aside) >= asideHosts {
		return err
	}
	return nil
}

// passing reports whether this machine is in trouble, but not for so long that a crawl with an end gives up.
func (r *run) passing() bool {
	_, _, since := r.outage.standing(time.Now())
	return !since.IsZero() && time.Since(since) < patience
}

// standStill gives a lease back that met trouble of this machine, and waits while the crawl stands still. A crawl with an
// end gives up when the trouble lasts.
func (r *run) standStill(ctx context.Context, lease *frontier.Lease, own *fetch.OwnTrouble) error {
	r.mu.Lock()
	r.started-- // nothing was recorded
	r.mu.Unlock()
	if _, _, since := r.outage.standing(time.Now()); since.IsZero() { // the store met it, or something has answered since
		r.outage.meet(own, time.Now())
	}
	_, until, since := r.outage.standing(time.Now())
	back := r.Clock().Add(time.Until(until)) // behind the hosts that are ready, which may do better
	if err := r.Frontier.Release(context.WithoutCancel(ctx), lease, back, "network"); err != nil {
		return fmt.Errorf("give back %s: %w", lease.Group, err)
	}
	if (r.opts.Once || len(r.opts.URLs) > 0) && !since.IsZero() && time.Since(since) >= patience {
		return fmt.Errorf("nothing was recorded of hosts, for this machine is in trouble: %w", own)
	}
	r.mu.Lock()
	log := !until.IsZero() && !until.Equal(r.stood)
	r.stood = until
	r.mu.Unlock()
	if log {
		r.Log.Warn("the crawl stands still: this machine is in trouble, and nothing is recorded of hosts", "trouble", own, "until", until)
	}
	return sleep(ctx, max(time.Until(until), time.Millisecond))
}

// failed tells an error that ends the crawl from the end of a lease, after which the job is somebody else's.
func (r *run) failed(ctx context.Context, lease *frontier.Lease, err error) error {
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

func (r *run) giveBack(ctx context.Context, lease *frontier.Lease) error {
	if err := r.Frontier.Release(context.WithoutCancel(ctx), lease, time.Time{}, ""); err != nil {
		return fmt.Errorf("give back %s: %w", lease.Group, err)
	}
	return nil
}

// leaveAlone gives the lease back until the host may be asked again. The gate counts in real time, the frontier in the
// archive's.
func (r *run) leaveAlone(ctx context.Context, lease *frontier.Lease, wait *politeness.Wait) error {
	r.mu.Lock()
	r.started-- // it was not fetched after all
	r.mu.Unlock()
	until := r.Clock().Add(time.Until(wait.Until))
	if err := r.Frontier.Release(context.WithoutCancel(ctx), lease, until, wait.Why); err != nil {
		return fmt.Errorf("give back %s: %w", lease.Group, err)
	}
	return nil
}

// sleep returns after some time, or with the cause of ctx's end.
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
