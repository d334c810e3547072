package crawler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"odarchive/crawler/archive"
	"odarchive/crawler/archive/faults"
	"odarchive/crawler/catalog"
	"odarchive/crawler/follow/campaign"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/apart"
	"odarchive/crawler/inspect/examine"
	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/queue/supervise"
	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/politeness"
	"odarchive/triplestore/kv"
)

// endsVisit reports whether an error returns the job to the frontier unvisited: a failure of the archive, the end of
// the lease, a host that must be waited for, trouble of this machine. Any other error is a fault of this program with
// one URL, and becomes that URL's outcome.
func endsVisit(ctx context.Context, err error) bool {
	var wait *politeness.Wait
	var trouble *fetch.OwnTrouble
	return err != nil && (faults.IsOwn(ctx, err) || errors.Is(err, frontier.ErrLeaseLost) || errors.As(err, &wait) ||
		errors.As(err, &trouble))
}

// fault logs and counts a fault of this program with one URL, and returns a sentence about it.
func (p *Pipeline) fault(doing, url string, err error) string {
	p.faults.Add(1)
	about := []any{"doing", doing, "url", url, "error", err}
	var panicked *supervise.Panic
	if errors.As(err, &panicked) {
		about = append(about, "stack", panicked.Stack)
	}
	var death *apart.Death
	switch {
	case errors.As(err, &death):
		about = append(about, "stderr", death.Last[:min(len(death.Last), 500)])
		p.Log.Warn("a file ended the process that examined it; its bytes are kept", about...)
	case errors.Is(err, examine.ErrSetAside):
		p.Log.Warn("a file is set aside", about...)
	default:
		p.Log.Error("a fault of this program: please report it with the file", about...)
	}
	return fmt.Sprintf("%s: %v", doing, err)
}

// step begins a step of a visit that may fail because of the URL's bytes.
func (p *Pipeline) step(name, url string) error {
	if p.trip == nil {
		return nil
	}
	return p.trip(name, url)
}

// internal gives an exchange the outcome of a fault of this program.
func internal(ex *fetch.Exchange, why string) {
	ex.Outcome, ex.ErrorClass, ex.Why = catalog.NoVersion, catalog.ErrInternal, why
}

// commitReducing commits what a visit found. If that fails because of the bytes, it commits less: the version without
// what is inside it, then no version, then only the job's next visit, so that the frontier does not lease the URL again
// at once.
func (p *Pipeline) commitReducing(ctx context.Context, lease *frontier.Lease, job frontier.Job, latest *catalog.Version, ex *fetch.Exchange,
	found archive.Visit, following *campaign.Visit) (r Report, err error) {
	commit := func(v archive.Visit) error {
		return supervise.Contain(func() (err error) { r, err = p.commit(ctx, lease, job, latest, ex, v, following); return err })
	}
	if err = commit(found); err == nil || endsVisit(ctx, err) {
		return r, err
	}
	why := p.fault("commit", job.URL, err)
	following.Reduce()
	if found.Kept != nil {
		if err = commit(bare(found, why)); err == nil || endsVisit(ctx, err) {
			return r, err
		}
		why = p.fault("commit without what is inside", job.URL, err)
	} else if found.ErrorPage != nil { // marking other versions with the same bytes failed
		if err = commit(archive.Visit{Examined: found.Examined}); err == nil || endsVisit(ctx, err) {
			return r, err
		}
		why = p.fault("commit by itself", job.URL, err)
	}
	internal(ex, why)
	following.Reduce()
	if err = commit(archive.Visit{Examined: found.Examined}); err == nil || endsVisit(ctx, err) {
		return r, err
	}
	why = p.fault("commit the failure", job.URL, err)
	internal(ex, why)
	now := p.Clock()
	act := catalog.Activity{URL: job.URL, Start: now, End: now, Outcome: ex.Outcome, ErrorClass: ex.ErrorClass, Status: ex.Status,
		Why: ex.Why}
	err = supervise.Contain(func() error {
		result := p.result(job, ex, act)
		return p.Archive.DB().Update(ctx, func(txn *kv.Txn) error { return p.Frontier.Done(txn, lease, job, result) })
	})
	return report(act, latest, ex, nil), err
}

// bare returns the visit without what was found inside the file, its headers and the mark of an error page.
func bare(v archive.Visit, why string) archive.Visit {
	kept := *v.Kept
	kept.Inside, kept.Change, kept.Former = &inspect.Inside{Faults: []string{why}}, nil, archive.Former{}
	kept.Headers, kept.Request = nil, nil
	v.Kept, v.Fault, v.ErrorPage = &kept, why, nil
	return v
}

// A URL whose bytes meet a fault of this program is visited again after minInternalPause, doubled with each failure in
// a row up to maxInternalPause.
const (
	minInternalPause = time.Hour
	maxInternalPause = 7 * 24 * time.Hour
)

func internalPause(failures int) time.Duration {
	return min(minInternalPause<<min(max(failures, 0), 8), maxInternalPause)
}
