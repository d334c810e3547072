package crawler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"odarchive/crawler/address"
	"odarchive/crawler/archive"
	"odarchive/crawler/archive/content"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/crawler/copies/dispatch"
	"odarchive/crawler/inspect/packed"
	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/web/hosts"
	"odarchive/crawler/web/spool"
	"odarchive/ns"
)

// Office is the writer's side of visits whose first half workers make.
type Office struct {
	Pipeline *Pipeline
	Spool    *spool.Spool            // for files that are compared with the version before
	Welcome  func() dispatch.Welcome // the settings
}

var _ dispatch.Office = (*Office)(nil)

// Settings implements dispatch.Office.
func (o *Office) Settings() dispatch.Welcome { return o.Welcome() }

// Pick implements dispatch.Office: workers do not do what only the writer can.
func (o *Office) Pick(group string, jobs []frontier.Job) (theirs []frontier.Job) {
	if !o.Pipeline.forWorkers(group) || o.Welcome().TooMany {
		return nil
	}
	for _, job := range jobs {
		if !o.Pipeline.isOwn(job) {
			theirs = append(theirs, job)
		}
	}
	return theirs
}

// forWorkers reports whether workers may ask a host: not if its settings have a secret, say where it is, or are kept by
// the writer, as its counts of the day are. With a tape, the writer fetches all files itself.
func (p *Pipeline) forWorkers(host string) bool {
	s := p.settings(host)
	return p.Tape == nil && s.Parallel <= 1 && s.Group == "" && s.Daily == (hosts.Daily{}) && len(s.Headers) == 0 && s.Secret == nil &&
		s.UserAgent == "" &&
		!s.Unverified && s.Robots == nil && s.Paused == "" && (s.Proxy == nil || s.Proxy.Global) && s.Resolve.IsZero()
}

// isOwn reports whether only the writer can visit a URL: of campaigns, over FTP, and those whose bytes are lost, or
// whose record cannot be read.
func (p *Pipeline) isOwn(job frontier.Job) bool {
	if !strings.HasPrefix(job.URL, "http") {
		return true
	}
	if p.Campaigns != nil {
		key, err := address.Key(job.URL)
		if err != nil {
			return true
		}
		in, err := p.Campaigns.Has(ns.ResourceID(key))
		if err != nil || in {
			return true
		}
	}
	return false
}

// OwnOnly returns what selects the jobs that only the writer can do, for Pipeline.Pick of a writer that leaves the
// others to the workers of a desk.
func (p *Pipeline) OwnOnly(desk *dispatch.Desk) func(group string, jobs []frontier.Job) []frontier.Job {
	return func(group string, jobs []frontier.Job) (own []frontier.Job) {
		if !p.forWorkers(group) || desk.Welcome().TooMany {
			return jobs
		}
		for _, job := range jobs {
			if p.isOwn(job) || desk.IsOwn(job.Key) {
				own = append(own, job)
			}
		}
		return own
	}
}

// Host implements dispatch.Office.
func (o *Office) Host(host string) (h dispatch.Host, ok bool) {
	s := o.Pipeline.settings(host)
	return dispatch.Host{Delay: s.Delay, MaxCrawlDelay: s.MaxCrawlDelay, MaxBody: s.MaxBody}, o.Pipeline.forWorkers(host)
}

// Describe implements dispatch.Office.
func (o *Office) Describe(ctx context.Context, job frontier.Job) (dispatch.Job, error) {
	d := dispatch.Job{URL: job.URL, Key: job.Key, Format: job.Format, MediaType: job.MediaType, Accept: job.Accept, ETag: job.ETag,
		LastModified: job.LastModified,
		Fetches:      job.Fetches, Errors: job.Errors}
	latest, err := o.Pipeline.latest(ctx, job)
	if err != nil || latest == nil {
		return d, err
	}
	if latest.Withdrawn == nil && !o.Pipeline.stored(*latest) { // the whole file is wanted again
		return d, nil
	}
	if !belong(job, *latest) {
		d.ETag, d.LastModified = "", ""
	}
	d.Latest = &dispatch.Latest{Digests: latest.Digests, ErrorPage: latest.ErrorPage, Truncated: latest.Truncated,
		Withdrawn: latest.Withdrawn != nil}
	return d, nil
}

// Postpone implements dispatch.Office.
func (o *Office) Postpone(ctx context.Context, lease *frontier.Lease, job frontier.Job, why string) {
	if err := o.Pipeline.Frontier.Postpone(ctx, lease, job, records.Cut(why, 300)); err != nil && !errors.Is(err, frontier.ErrLeaseLost) {
		o.Pipeline.Log.Error("a URL was not put off", "url", job.URL, "error", err)
	}
}

// Announce implements dispatch.Office.
func (o *Office) Announce(ctx context.Context) (context.Context, func()) {
	return o.Pipeline.Archive.Announce(ctx)
}

// Commit implements dispatch.Office: it makes the second half of a visit.
func (o *Office) Commit(ctx context.Context, lease *frontier.Lease, job frontier.Job, r *dispatch.Result, open dispatch.Parcel) error {
	p := o.Pipeline
	if !p.Frontier.IsHeld(lease) { // before bytes are stored
		return frontier.ErrLeaseLost
	}
	s, err := o.sight(ctx, job, r, open)
	defer p.release(s)
	if errors.Is(err, content.ErrParcel) || errors.Is(err, content.ErrDigest) {
		return fmt.Errorf("%w: %w", dispatch.ErrMalformed, err)
	}
	if err != nil {
		return err
	}
	if p.Hints != nil {
		if err := p.noteSitemaps(ctx, s.job.URL, p.Gate.Robots.Sitemaps(s.job.URL)); err != nil {
			return err
		}
	}
	report, err := p.keep(ctx, lease, s, nil)
	if err == nil {
		p.progress.add(report)
	}
	return err
}

// sight returns what a worker found as if this process had found it.
func (o *Office) sight(ctx context.Context, job frontier.Job, r *dispatch.Result, open dispatch.Parcel) (s sight, err error) {
	p, f := o.Pipeline, &r.Finding
	s.job, s.exchange = job, exchangeOfWorker(job.URL, r, p.Clock())
	s.job.Accept = cmp.Or(f.Accept, job.Accept)
	ex := s.exchange
	s.found.Fault = f.Fault
	if ex.Outcome == catalog.Unchanged {
		s.latest, err = p.asked(ctx, job)
		return s, err
	}
	if ex.Body == nil {
		return s, nil
	}
	digests := ex.Body.Digests()
	if err := p.Archive.Refused(digests.SHA256); errors.Is(err, catalog.ErrWithdrawn) && ex.Outcome == "" {
		ex.Outcome, ex.ErrorClass, ex.Why = catalog.NoVersion, catalog.ErrBytesWithdrawn, archive.WhyRefused
		return s, nil
	} else if err != nil && !errors.Is(err, catalog.ErrWithdrawn) {
		return s, fmt.Errorf("look for withdrawn bytes: %w", err)
	}
	if f.Kept == nil {
		return s, nil // nor is the version before looked up, with which there is nothing to compare
	}
	if s.latest, err = p.latest(ctx, job); err != nil {
		return s, err
	}
	if f.Compare {
		others, err := p.Archive.SameBytes(ctx, job.URL, digests.SHA256, sameURLs-1)
		if err != nil {
			p.Log.Warn("not compared with other files of the host", "url", job.URL, "error", err)
		} else if others >= sameURLs-1 {
			ex.Outcome, ex.ErrorClass, ex.Why = catalog.NoVersion, catalog.ErrSoft404, sameErrorWhy(f.Kept.Type)
			s.found.ErrorPage = &digests.SHA256
			if job.Accept == "" && listedAsCSV(job) { // the next visit asks for it
				s.job.Accept = catalog.AcceptCSV
			}
			return s, nil
		}
	}
	s.found.Examined = &digests.SHA256 // parts of it may be on disk from now on
	s.found.Kept, err = o.kept(ctx, &s, r, open)
	return s, err
}

// asked returns the version on which the request of a worker was conditional, which may no longer be the latest; nil if
// that is not known.
func (p *Pipeline) asked(ctx context.Context, job frontier.Job) (*catalog.Version, error) {
	latest, err := p.latest(ctx, job)
	if err != nil || latest == nil || belong(job, *latest) {
		return latest, err
	}
	at := lastFound(job).Add(sameVisit)
	v, err := p.Archive.At(ctx, job.URL, at)
	if err != nil || v.At.After(at) {
		return nil, err
	}
	return &v, nil
}

// kept makes the bytes of a parcel durable, and compares them with the latest version.
func (o *Office) kept(ctx context.Context, s *sight, r *dispatch.Result, open dispatch.Parcel) (*archive.Kept, error) {
	p, ex, told := o.Pipeline, s.exchange, r.Finding.Kept
	ex.FileName = told.FileName
	kept := &archive.Kept{
		Type: told.Type, Charset: told.Charset, Because: told.Because, FileName: told.FileName, LastModified: ex.LastModified,
		ETag:    ex.ETag,
		Headers: ex.ResponseHeader, Request: ex.RequestHeader, Exchange: p.exchangeOf(ex),
	}
	copy(kept.Block.Head[:], told.Head)
	copy(kept.Block.SHA256[:], told.Block)
	if len(r.Inside) > 0 {
		inside, err := packed.Read(r.Inside)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", dispatch.ErrMalformed, err)
		}
		kept.Packed, kept.Inside = &inside, inside.Inside
	}
	body, err := open(ctx)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	digests := ex.Body.Digests()
	if s.latest == nil || s.latest.Withdrawn != nil || !p.stored(*s.latest) {
		kept.Placed, err = p.Archive.Bytes().PlaceParcel(ctx, body,
			content.PutOptions{Known: &digests, Label: p.label(ex, kept.Type, kept.FileName)})
		return kept, err
	}
	file := o.Spool.Create()
	s.exchange.Body = file // is removed with s
	if _, err := content.Unwrap(ctx, body, file); err != nil {
		return nil, err
	}
	if err := file.Finish(); err != nil {
		return nil, err
	}
	if file.Digests() != digests {
		return nil, fmt.Errorf("%w: a parcel of other bytes", dispatch.ErrMalformed)
	}
	select {
	case p.Processors <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-p.Processors }()
	doc, err := p.open(ctx, ex, &s.found)
	if err != nil {
		return nil, err
	}
	defer doc.Close()
	if doc != nil {
		kept.Change = p.change(ctx, *s.latest, kept, doc, ex.URL)
	}
	kept.Placed, err = p.place(ctx, s.latest, ex, kept.Type, func() {})
	return kept, err
}

// StartElsewhere is the moment from which the figures of a crawl that only workers make are counted.
func (p *Pipeline) StartElsewhere() { p.progress.begin() }
