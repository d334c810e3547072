// Package crawler visits the URLs that are due: it takes each one from a leased job to a committed version.
//
// Pipeline.Visit is one visit, a step a line: robots.txt, politeness, fetch, detection, profile, bytes, and one
// transaction that stores the version with its triples and schedules the next visit. Pipeline.Run keeps a number of
// workers at it. Intake registers URLs.
//
// A failed fetch is a recorded outcome with a reason, even if the disk has no room for the body. So is a fault of this
// program with the bytes of one URL, including a panic (faults.go): no file can end the crawl. A fetch that fails
// because of this machine is not recorded, and the crawl waits (outage.go has the rule). An error means that the
// archive itself could not do its work: the store failed, the disk has no room for a record, or ctx ended. The job then
// returns to the frontier as if it had not been leased. A crash may leave bytes that no record references, but never a
// part of a version.
package crawler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/crawler/exchange/tape"
	"odarchive/crawler/follow/campaign"
	"odarchive/crawler/inspect/examine"
	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/queue/hints"
	"odarchive/crawler/queue/schedule"
	"odarchive/crawler/queue/scope"
	"odarchive/crawler/queue/supervise"
	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/hosts"
	"odarchive/crawler/web/politeness"
	"odarchive/triplestore/kv"
)

// Pipeline holds what visits need. The workers share all of it. It does not close its parts.
type Pipeline struct {
	Archive  *archive.Archive
	Frontier *frontier.Frontier
	Gate     *politeness.Gate
	Fetcher  *fetch.Fetcher
	Schedule schedule.Rule    // when to visit again
	Clock    func() time.Time // the archive's time, which may differ from the machine's
	Log      *slog.Logger
	Workers  int // how many hosts are fetched from at the same time, until SetWorkers changes that
	// Processors is a semaphore: its capacity bounds how many bodies are examined at the same time.
	Processors chan struct{}
	Examine    *examine.Pool // reads fetched bodies; nil reads them in this process
	// Refused, if not nil, is called after the disk had no room for a fetched body, so that Options.Hold of the
	// frontier can look at the disk before the next lease.
	Refused func()
	Jobs    *supervise.Jobs // runs the background jobs; nil runs them unlisted
	// Settings returns what an operator has set for a host; nil for the defaults.
	Settings func(host string) hosts.Settings
	Tape     *tape.Tape // the fetcher's, which is also told what the archive recorded of a visit; nil for none
	// Campaigns follow links; nil for none.
	Campaigns *campaign.Store
	// Hints takes the sitemaps that robots.txt files name, and the results of visits that hints had brought forward.
	// May be nil.
	Hints *hints.Hints
	// Scope excludes what must not be fetched; nil for nothing.
	Scope   *scope.Scope
	MaxBody int64 // of a file, as the fetcher has it; only for limits of the scope below it

	// Pick, if not nil, returns those jobs of a group that Run may do (frontier.LeaseOptions): workers do the others.
	Pick func(group string, jobs []frontier.Job) []frontier.Job

	// Elsewhere returns the state of the workers; nil if there can be none.
	Elsewhere func() Workers

	Honour []string // statements of hosts by which files are not kept (Statements)

	reserved reservations
	wanted   wanted
	progress progress
	outage   outage
	waits    lastWaits
	faults   atomic.Int64                 // faults of this program since the process began
	trip     func(step, url string) error // if not nil, called as each contained step begins; tests make steps fail with it
	// inTxn, if not nil, is called in the transaction of each visit; benchmarks do a part of it again there.
	inTxn func(archive.Txn, catalog.Activity) error
}

// Visit makes one visit and returns its report. The error is ErrLeaseLost of package frontier, a *politeness.Wait or
// *fetch.OwnTrouble if the visit should be made later, or one of the archive as a whole.
//
// A visit has two halves: look fetches and examines, and needs of the archive only what a before tells; keep records.
// Another process may make the first one (Look, Accept). The first half ends with the context of the lease. The second
// one does not, since the lease ends with its last commit, and that commit may then still wait to be acknowledged;
// Frontier.Done refuses it if the lease has ended before.
func (p *Pipeline) Visit(ctx context.Context, lease *frontier.Lease, job frontier.Job) (report Report, err error) {
	following, err := p.following(ctx, lease, job)
	if err != nil {
		return Report{}, fmt.Errorf("visit %s: %w", job.URL, err)
	}
	defer following.Close()
	s, err := p.look(lease.Context(), job, &ofArchive{p}, following, p.patience(lease.Group))
	defer p.release(s)
	if err != nil {
		return Report{}, fmt.Errorf("visit %s: %w", job.URL, err)
	}
	return p.keep(ctx, lease, s, following)
}

// sight is what the first half of a visit found.
type sight struct {
	job      frontier.Job
	latest   *catalog.Version // before the visit; nil for none
	exchange *fetch.Exchange
	found    archive.Visit
	others   []*fetch.Exchange // whose bodies are to be removed, too
}

// release removes the fetched body.
func (p *Pipeline) release(s sight) {
	for _, ex := range append(s.others, s.exchange) {
		if ex != nil {
			p.remove(ex)
		}
	}
}

// look makes the first half of a visit: it fetches and examines. The caller releases what it returns, also with an
// error.
func (p *Pipeline) look(ctx context.Context, job frontier.Job, before before, following *campaign.Visit, wait time.Duration) (s sight,
	err error) {
	s.job = job
	err = supervise.Contain(func() (err error) {
		if s.latest, err = before.latest(ctx, job); err != nil {
			return err
		}
		s.exchange, err = p.fetch(ctx, job, s.latest, before, following, wait)
		return err
	})
	if endsVisit(ctx, err) {
		return s, err
	}
	if err != nil {
		now := time.Now()
		s.exchange = &fetch.Exchange{URL: job.URL, Start: now, End: now}
		internal(s.exchange, p.fault("fetch", job.URL, err))
	}
	err = supervise.Contain(func() (err error) {
		s.found, err = p.examine(ctx, job, s.latest, before, s.exchange, following)
		return err
	})
	if errors.Is(err, kv.ErrDiskFull) {
		p.noRoom(s.exchange, err)
		s.found, err = archive.Visit{Examined: s.found.Examined}, nil
	}
	if endsVisit(ctx, err) {
		return s, err
	}
	if err != nil {
		internal(s.exchange, p.fault("examine", job.URL, err))
		s.found = archive.Visit{Examined: s.found.Examined}
	}
	if s.exchange.ErrorClass == catalog.ErrSoft404 && job.Accept == "" && listedAsCSV(job) {
		s.job.Accept = catalog.AcceptCSV
		second, again, err := p.askForCSV(ctx, s.job, s.latest, before, following)
		if err != nil {
			return s, err
		}
		if second != nil {
			s.others = append(s.others, s.exchange)
			s.exchange, s.found = second, again
		}
	}
	return s, nil
}

// keep makes the second half of a visit: it records what the first one found.
func (p *Pipeline) keep(ctx context.Context, lease *frontier.Lease, s sight, following *campaign.Visit) (Report, error) {
	job, latest, exchange, found := s.job, s.latest, s.exchange, s.found
	if exchange.ErrorClass == catalog.ErrDiskFull && p.Refused != nil {
		p.Refused()
	}
	if found.Kept != nil && latest != nil && belong(job, *latest) &&
		frontier.SameValidators(job.ETag, job.LastModified, exchange.ETag, exchange.LastModified) {
		exchange.Why = liedAbout(exchange)
		p.Log.Warn("the server sent the validators of other bytes; they are not used any more", "url", job.URL)
	}
	if found.Kept != nil {
		defer found.Kept.Placed.Release()
	}
	p.tapeBody(exchange, found.Kept)
	report, err := p.commitReducing(ctx, lease, job, latest, exchange, found, following)
	if errors.Is(err, kv.ErrDiskFull) && exchange.Body != nil { // the body may be what takes the room
		p.noRoom(exchange, err)
		report, err = p.commitReducing(ctx, lease, job, latest, exchange, archive.Visit{Examined: found.Examined}, following)
	}
	if err != nil {
		return Report{}, fmt.Errorf("visit %s: %w", job.URL, err)
	}
	if following.Spilled() {
		report.drain = following.Drain
	}
	p.Log.Info("visit done", "url", report.URL, "outcome", report.Outcome, "error_class", report.ErrorClass,
		"status", report.Status, "size", report.Size, "type", report.DetectedType, "ms", report.Milliseconds)
	return report, nil
}

// latest returns the latest version of the job's URL, or nil if it has none or its record cannot be read.
func (p *Pipeline) latest(ctx context.Context, job frontier.Job) (*catalog.Version, error) {
	v, err := p.Archive.Newest(ctx, job.URL)
	if errors.Is(err, archive.ErrNotFound) {
		return nil, nil
	}
	if errors.Is(err, archive.ErrBadRecord) { // the URL is fetched as if it were new
		p.Log.Error("the latest version cannot be read", "url", job.URL, "error", err)
		return nil, nil
	}
	return &v, err
}

// fetch checks robots.txt, waits for the host's turn, and makes a request that is conditional on the latest version.
// The error is a *politeness.Wait if the host must not be asked for longer than wait.
func (p *Pipeline) fetch(ctx context.Context, job frontier.Job, latest *catalog.Version, before before, following *campaign.Visit,
	wait time.Duration) (*fetch.Exchange, error) {
	if forbidden, err := p.forbidden(ctx, job.URL, declaredType(job), wait); err != nil || forbidden != nil {
		return forbidden, err
	}
	pass, verdict, err := p.Gate.Visit(ctx, job.URL, wait)
	if err != nil {
		return nil, err
	}
	if !verdict.Allowed {
		return refused(job, verdict), nil
	}
	result := politeness.Result{}
	defer func() { pass.Leave(result) }()
	if err := p.noteSitemaps(ctx, job.URL, verdict.Sitemaps); err != nil {
		return nil, err
	}
	if err := p.step("fetch", job.URL); err != nil {
		return nil, err
	}
	request := fetch.Request{URL: job.URL, Accept: catalog.AcceptField(job.Accept), Check: p.redirects(pass, following),
		Answered: answeredBefore(job), Hold: true}
	limited := p.limitBody(&request, following)
	if latest != nil && before.belong(job, *latest) && !following.Fresh() && latest.ErrorPage == "" && latest.Truncated == "" &&
		(latest.Withdrawn != nil || before.stored(*latest)) {
		// what is lost or not whole is fetched again
		request.ETag, request.LastModified = validators(job, time.Now())
		request.Original = before.original(ctx, *latest)
	}
	exchange, err := p.Fetch(ctx, request)
	if err != nil {
		return nil, err
	}
	result = politeness.ResultOf(exchange)
	if limited && exchange.ErrorClass == catalog.ErrTooLarge {
		p.refuseSize(exchange, request.MaxBody+1)
	}
	exchange.Taped.End = p.ended(exchange)
	exchange.Exception = pass.Exception()
	return exchange, nil
}

// settings returns what an operator has set for a host.
func (p *Pipeline) settings(host string) hosts.Settings {
	if p.Settings == nil {
		return hosts.Settings{Parallel: 1, Retries: DefaultRetries}
	}
	return p.Settings(host)
}

// patience returns how long a visit waits for its host while it holds the lease.
func (p *Pipeline) patience(host string) time.Duration {
	if p.settings(host).Parallel > 1 { // other visits of the host may be under way
		return parallelPatience
	}
	return frontier.Moment
}

// refused returns the exchange of a visit that robots.txt forbids, or whose host could not, or must not, be reached for
// it.
func refused(job frontier.Job, v politeness.Verdict) *fetch.Exchange {
	now := time.Now()
	return &fetch.Exchange{URL: job.URL, Start: now, End: now, Outcome: v.Outcome(), ErrorClass: v.Class, Why: v.Reason}
}

// stored reports whether a version's bytes are in the content store. If the lookup fails, they count as lost.
func (p *Pipeline) stored(v catalog.Version) bool {
	_, ok, err := p.Archive.Bytes().Stat(v.Digests.SHA256)
	return ok && err == nil
}
