// Package crawler takes what is due through the archive's whole way: from a leased job to a committed version.
//
// Pipeline.Visit is that way, one step a line: robots, politeness, fetch, detection, bytes, profile, triples, and one
// transaction that makes the version and the job's next visit true together. Pipeline.Run keeps a number of workers at
// it; Intake is the way in for seeds.
//
// A fetch that fails is a recorded outcome with a reason, also where the disk has no room for the bytes, unless it failed
// because of this machine: then nothing is recorded, and the crawl waits (outage.go says by which rule). So is a fault of this
// program with the bytes of one URL, be it a panic (faults.go): no file can end the crawl. An error means
// that the archive itself could not do its work: the store, a disk without room for the record, the end of ctx; then the job goes back to the frontier as if it had not been leased. After a
// crash at any point, bytes may be there that nothing names; a version is there wholly or not at all.
//
// A fetch that fails because of this machine is recorded of nobody: the crawl waits (outage.go says by which rule).
package crawler

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/archive"
	"odarchive/crawler/archive/faults"
	"odarchive/crawler/catalog"
	"odarchive/crawler/frontier"
	"odarchive/crawler/schedule"
	"odarchive/crawler/supervise"
	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/politeness"
	"odarchive/ns"
	"odarchive/triplestore/kv"
)

// Pipeline is what a visit needs. All parts are shared by the workers; whoever made them closes them.
type Pipeline struct {
	Archive  *archive.Archive
	Frontier *frontier.Frontier
	Gate     *politeness.Gate
	Fetcher  *fetch.Fetcher
	Schedule schedule.Rule    // when to visit again
	Clock    func() time.Time // the archive's time
	Log      *slog.Logger
	Workers  int // hosts that are fetched from at the same time
	// Processors bounds how many bodies are examined at the same time: a channel of that capacity.
	Processors chan struct{}
	// Refused is called as soon as the disk has had no room for a fetched body, so that whoever holds the frontier looks at
	// the disk before the next lease; may be nil.
	Refused func()
	Jobs    *supervise.Jobs // runs what goes on beside the visits; nil: unlisted

	progress progress
	outage   outage
	faults   atomic.Int64                 // internal failures since the process began
	trip     func(step, url string) error // called at the beginning of the steps that faults.go contains; a test's, or nil
}

// Visit takes one job of a lease through the whole way and reports what came of it.
func (p *Pipeline) Visit(ctx context.Context, lease *frontier.Lease, job frontier.Job) (Report, error) {
	var latest *catalog.Version
	var exchange *fetch.Exchange
	err := faults.Contain(func() (err error) {
		if latest, err = p.latest(ctx, job); err != nil {
			return err
		}
		exchange, err = p.fetch(ctx, job, latest)
		return err
	})
	if endsVisit(ctx, err) {
		return Report{}, fmt.Errorf("visit %s: %w", job.URL, err)
	}
	if err != nil {
		now := time.Now()
		exchange = &fetch.Exchange{URL: job.URL, Start: now, End: now}
		internal(exchange, p.fault("fetch", job.URL, err))
	}
	defer p.remove(exchange)
	var found archive.Visit
	err = faults.Contain(func() (err error) { found, err = p.examine(ctx, job, latest, exchange); return err })
	if errors.Is(err, kv.ErrDiskFull) {
		p.noRoom(exchange, err)
		found, err = archive.Visit{}, nil
	}
	if endsVisit(ctx, err) {
		return Report{}, fmt.Errorf("visit %s: %w", job.URL, err)
	}
	if err != nil {
		internal(exchange, p.fault("examine", job.URL, err))
		found = archive.Visit{}
	}
	if exchange.ErrorClass == catalog.ErrDiskFull && p.Refused != nil {
		p.Refused()
	}
	if found.Kept != nil {
		defer found.Kept.Placed.Release()
	}
	report, err := p.settle(ctx, lease, job, latest, exchange, found)
	if errors.Is(err, kv.ErrDiskFull) && exchange.Body != nil { // the body may be what takes the room
		p.noRoom(exchange, err)
		report, err = p.settle(ctx, lease, job, latest, exchange, archive.Visit{})
	}
	if err != nil {
		return Report{}, fmt.Errorf("visit %s: %w", job.URL, err)
	}
	p.Log.Info("visit done", "url", report.URL, "outcome", report.Outcome, "error_class", report.ErrorClass,
		"status", report.Status, "size", report.Size, "type", report.DetectedType, "ms", report.Milliseconds)
	return report, nil
}

// latest version of the job's URL; nil before the first.
func (p *Pipeline) latest(ctx context.Context, job frontier.Job) (*catalog.Version, error) {
	v, err := p.Archive.Newest(ctx, job.URL)
	if errors.Is(err, archive.ErrNotFound) {
		return nil, nil
	}
	if errors.Is(err, archive.ErrBadRecord) { // it is fetched as if it were new
		p.Log.Error("the latest version cannot be read", "url", job.URL, "error", err)
		return nil, nil
	}
	return &v, err
}

// fetch asks robots.txt, waits for the host's turn, and fetches unless the latest version is still good. The error is a
// *politeness.Wait where the host must be left alone for longer.
func (p *Pipeline) fetch(ctx context.Context, job frontier.Job, latest *catalog.Version) (*fetch.Exchange, error) {
	pass, verdict, err := p.Gate.Visit(ctx, job.URL, frontier.Moment)
	if err != nil {
		return nil, err
	}
	if !verdict.Allowed {
		return refused(job, verdict), nil
	}
	result := politeness.Result{}
	defer func() { pass.Leave(result) }()
	if err := p.step("fetch", job.URL); err != nil {
		return nil, err
	}
	request := fetch.Request{URL: job.URL, Check: pass.Check, Answered: answeredBefore(job)}
	if latest != nil && latest.ErrorPage == "" && p.stored(*latest) { // bytes that were lost to damage are asked for again
		request.ETag, request.LastModified = job.ETag, job.LastModified
	}
	exchange, err := p.Fetch(ctx, request)
	if err != nil {
		return nil, err
	}
	result = politeness.ResultOf(exchange)
	return exchange, nil
}

// refused is the outcome of a visit that was not made: because of what robots.txt says, or because its host cannot be
// reached, or must not be, which asking for robots.txt has shown.
func refused(job frontier.Job, v politeness.Verdict) *fetch.Exchange {
	now := time.Now()
	return &fetch.Exchange{URL: job.URL, Start: now, End: now, Outcome: v.Outcome(), ErrorClass: v.Class, Why: v.Reason}
}

// stored tells whether a version's bytes are at hand. Where that cannot be told, they are taken for lost.
func (p *Pipeline) stored(v catalog.Version) bool {
	_, ok, err := p.Archive.Bytes().Stat(v.Digests.SHA256)
	return ok && err == nil
}

// commit makes what was found true: the version if there is one, its triples, and the job's next visit, all at once.
func (p *Pipeline) commit(ctx context.Context, lease *frontier.Lease, job frontier.Job, latest *catalog.Version, ex *fetch.Exchange, found archive.Visit) (Report, error) {
	step := "commit"
	if found.Kept == nil {
		step = "commit the failure"
	} else if found.Fault != "" {
		step = "commit without what is inside"
	}
	if err := p.step(step, job.URL); err != nil {
		return Report{}, err
	}
	now := p.Clock()
	found.Activity = catalog.Activity{
		URL: job.URL, FinalURL: ex.FinalURL, Start: now.Add(ex.Start.Sub(ex.End)), End: now,
		Outcome: ex.Outcome, ErrorClass: ex.ErrorClass, Status: ex.Status, Why: ex.Why,
	}
	if ex.Unverified {
		found.Activity.TLS = cmp.Or(ex.TLS, "certificate not verified")
	}
	if found.Kept != nil {
		found.Activity.Outcome = catalog.Archived
	}
	var result frontier.Result
	done := func(txn *kv.Txn, act catalog.Activity) error {
		if err := p.step(step+", in the transaction", job.URL); err != nil {
			return err
		}
		result = p.result(job, ex, act)
		return p.Frontier.Done(txn, lease, job, result)
	}
	activity, err := p.Archive.Commit(ctx, found, done)
	if err != nil {
		return Report{}, err
	}
	r := report(activity, latest, ex, found.Kept)
	if result.Passing {
		r.retry = result.NextDue
	}
	return r, nil
}

// maxDate is the length of the longest Last-Modified that is sent back to a host, in bytes.
const maxDate = 100

// noRoomPause is how long a file is left alone for which there was no room on the disk, twice as long after each such failure
// in a row, at most noRoomMost.
const (
	noRoomPause = 10 * time.Minute
	noRoomMost  = 24 * time.Hour
)

// result is what the frontier learns of the visit.
func (p *Pipeline) result(job frontier.Job, ex *fetch.Exchange, act catalog.Activity) frontier.Result {
	visit := schedule.Visit{At: act.Start, Outcome: act.Outcome, Changed: act.Outcome == catalog.Archived}
	if modified, err := http.ParseTime(ex.LastModified); err == nil {
		visit.LastModified = modified
	}
	next, why := p.Schedule.Next(job.Key, job.Period, append(slices.Clone(job.History), visit), p.Clock())
	if act.ErrorClass == catalog.ErrDiskFull { // which says nothing about the file
		next, why = p.Clock().Add(min(noRoomPause<<min(max(job.Errors, 0), 8), noRoomMost)), "the disk was full"
	}
	passing := act.ErrorClass == catalog.ErrInternal // neither does this
	if passing {
		next, why = p.Clock().Add(internalPause(job.Errors)), "a fault of this program: the file is left alone for longer each time"
	}
	r := frontier.Result{Visit: visit, NextDue: next, Why: why, Passing: passing}
	if host, err := address.Host(job.URL); err == nil { // what cannot be fetched has no host to spare
		r.HostBackoff, r.HostWait = p.Gate.Held(host)
	}
	if wait, why := quickRetry(job, act, r.HostBackoff); wait > 0 {
		r.NextDue, r.Why, r.Passing = p.Clock().Add(wait), why, true
	}
	if visit.Known() && len(ex.ETag) <= archive.MaxETag {
		r.ETag = ex.ETag
	}
	if visit.Known() && len(ex.LastModified) <= maxDate {
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
	if err := ex.Body.Remove(); err != nil {
		p.Log.Warn("spool file not removed", "url", ex.URL, "error", err)
	}
}
