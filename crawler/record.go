package crawler

import (
	"cmp"
	"context"
	"encoding/hex"
	"slices"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/archive"
	"odarchive/crawler/archive/series"
	"odarchive/crawler/catalog"
	"odarchive/crawler/follow/campaign"
	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/queue/schedule"
	"odarchive/crawler/queue/scope"
	"odarchive/crawler/web/fetch"
	"odarchive/ns"
)

// commit stores what a visit found in one transaction: the version, if there is one, its triples, and the job's next
// visit.
func (p *Pipeline) commit(ctx context.Context, lease *frontier.Lease, job frontier.Job, latest *catalog.Version, ex *fetch.Exchange,
	found archive.Visit, following *campaign.Visit) (_ Report, err error) {
	step := "commit"
	if found.Kept == nil {
		step = "commit the failure"
	} else if found.Fault != "" {
		step = "commit without what is inside"
	}
	if err := p.step(step, job.URL); err != nil {
		return Report{}, err
	}
	now := p.ended(ex)
	found.Activity = catalog.Activity{
		URL: job.URL, FinalURL: ex.FinalURL, Start: now.Add(ex.Start.Sub(ex.End)), End: now,
		Outcome: ex.Outcome, ErrorClass: ex.ErrorClass, Status: ex.Status, Why: ex.Why,
	}
	found.Activity.Robots = ex.Exception
	if ex.Unverified {
		found.Activity.TLS = cmp.Or(ex.TLS, "certificate not verified")
	}
	if found.Kept == nil && latest != nil {
		found.Confirms = latest.ID
	}
	expected := found.Activity
	if found.Kept != nil {
		found.Activity.Outcome = catalog.Archived
		expected.Outcome = catalog.Archived
		if latest != nil && ex.Body != nil && ex.Body.Digests() == latest.Digests {
			expected.Outcome = catalog.Unchanged
		}
	}
	result := p.result(job, ex, expected) // here, because other writers wait for the transaction
	result.Unrelated = latest != nil && !belong(job, *latest)
	done := func(txn archive.Txn, act catalog.Activity) error {
		if err := p.step(step+", in the transaction", job.URL); err != nil {
			return err
		}
		if p.inTxn != nil {
			if err := p.inTxn(txn, act); err != nil {
				return err
			}
		}
		if act.Outcome != expected.Outcome { // another version became the latest one in the meantime
			result = p.result(job, ex, act)
			result.Unrelated = true
		}
		if err := p.Frontier.Done(txn.KV(), lease, job, result); err != nil {
			return err
		}
		if result.Visit.Known() {
			if err := p.Hints.Judge(txn.KV(), job.Why, result.Visit.Changed); err != nil {
				return err
			}
		}
		counted := series.Visit{Outcome: act.Outcome, Class: act.ErrorClass, Bytes: result.Size, Took: ex.End.Sub(ex.Start)}
		if err := series.Add(txn.KV(), now, counted); err != nil {
			return err
		}
		return following.Record(ctx, txn, act, result.Passing)
	}
	var version catalog.Version // that the body became, for the tape
	if found.Kept != nil && p.Tape != nil {
		kept := *found.Kept
		kept.Version = func(v catalog.Version) { version = v }
		found.Kept = &kept
	}
	commit := p.Archive.CommitTogether
	if following != nil { // what it registers may be what another visit registers
		commit = p.Archive.CommitWith
	}
	activity, err := commit(ctx, found, done)
	if err != nil {
		return Report{}, err
	}
	p.tapeVisit(ex, activity, version)
	r := report(activity, latest, ex, found.Kept)
	if n := len(job.History); n > 0 {
		r.Before = job.History[n-1].Outcome
	}
	if result.Passing {
		r.retry = result.NextDue
	}
	return r, nil
}

// maxDate is the maximum length, in bytes, of a Last-Modified that is sent back to a host.
const maxDate = 100

// result returns what the frontier records of a visit.
func (p *Pipeline) result(job frontier.Job, ex *fetch.Exchange, act catalog.Activity) frontier.Result {
	visit := schedule.Visit{At: act.Start, Outcome: act.Outcome, Changed: act.Outcome == catalog.Archived, LastModified: lastModified(ex)}
	next, why := p.Schedule.Next(job.Key, job.Period, append(slices.Clone(job.History), visit), p.Clock())
	if act.ErrorClass == catalog.ErrDiskFull { // this says nothing about the file
		next, why = p.Clock().Add(min(noRoomPause<<min(max(job.Errors, 0), 8), maxNoRoomPause)), "the disk was full"
	}
	if act.Outcome == catalog.Blocked && ex.Status == 0 && scope.IsRefusal(act.Why) {
		// nothing was asked; a change of the scope makes it due
		next, why = time.Time{}, act.Why
	}
	passing := act.ErrorClass == catalog.ErrInternal
	if passing {
		next, why = p.Clock().Add(internalPause(job.Errors)), "a fault of this program: the file is left alone for longer each time"
	}
	r := frontier.Result{Visit: visit, NextDue: next, Why: why, Passing: passing}
	retries := DefaultRetries
	if u, err := address.Parse(job.URL); err == nil { // a malformed URL has no host
		set := p.settings(u.Group())
		retries = set.Retries
		r.HostBackoff, r.HostWait = p.Gate.Held(u.Group())
		if c, closed := p.Gate.Closed(u.Authority()); closed {
			r.DoorBackoff, r.DoorWait = time.Until(c.Until), "back-off"
		}
		if set.Parallel > 1 && r.HostBackoff <= parallelPatience { // the visits of the lease wait for it
			r.HostBackoff, r.HostWait = 0, ""
		}
	}
	if wait, why := quickRetry(job, act, r.HostBackoff, retries); wait > 0 {
		r.NextDue, r.Why, r.Passing = p.Clock().Add(wait), why, true
	}
	r.Accept = job.Accept
	known := visit.Known() && !variesAlways(ex.ResponseHeader)
	if known && len(ex.ETag) <= archive.MaxETag {
		r.ETag = ex.ETag
	}
	if known && len(ex.LastModified) <= maxDate {
		r.LastModified = ex.LastModified
	}
	if ex.Body != nil {
		r.Size = ex.Body.Size()
	}
	return r
}

func report(act catalog.Activity, latest *catalog.Version, ex *fetch.Exchange, kept *archive.Kept) Report {
	r := Report{URL: act.URL, Outcome: act.Outcome, ErrorClass: act.ErrorClass, Status: act.Status, Why: act.Why}
	r.Milliseconds = ex.End.Sub(ex.Start).Milliseconds()
	if latest != nil {
		r.Versions = latest.N + 1
	}
	if _, n, ok := ns.SplitVersionID(act.Version); ok {
		r.Versions = n + 1
	}
	if ex.Body != nil {
		digests := ex.Body.Digests()
		r.SHA256, r.Size = hex.EncodeToString(digests.SHA256[:]), ex.Body.Size()
	}
	if kept != nil {
		r.DetectedType = kept.Type
	}
	return r
}

func (p *Pipeline) remove(ex *fetch.Exchange) {
	p.tapeBody(ex, nil)
	if err := ex.Body.Remove(); err != nil {
		p.Log.Warn("spool file not removed", "url", ex.URL, "error", err)
	}
}

// A file for which the disk had no room is fetched again after noRoomPause, doubled with each failure in a row up to
// maxNoRoomPause.
const (
	noRoomPause    = 10 * time.Minute
	maxNoRoomPause = 24 * time.Hour
)
