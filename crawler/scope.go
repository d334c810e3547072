package crawler

import (
	"cmp"
	"context"
	"slices"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/catalog"
	"odarchive/crawler/follow/campaign"
	"odarchive/crawler/inspect/detect"
	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/queue/scope"
	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/politeness"
)

// general are declared media types that may be anything, or that servers send for want of another.
var general = []string{"application/octet-stream", "text/plain", "binary/octet-stream", "application/unknown", "application/download",
	"application/force-download"}

// specific returns a declared media type, or format, as a media type; "" if it says nothing about the content.
func specific(declared string) string {
	t := detect.Declared(declared)
	if slices.Contains(general, t) {
		return ""
	}
	return t
}

// declaredType returns the media type that the sources of a URL declare, "" if they do not.
func declaredType(job frontier.Job) string {
	return cmp.Or(specific(job.MediaType), specific(job.Format))
}

// RefusedBy returns frontier.Options.Refuses for a scope.
func RefusedBy(s *scope.Scope) func(u *frontier.URL, count bool) string {
	return func(u *frontier.URL, count bool) string {
		if s.Empty() {
			return ""
		}
		ask := s.Test
		if count {
			ask = s.Refuses
		}
		return ask(scope.Question{Area: scope.Crawl, URL: u.URL, Type: cmp.Or(specific(u.MediaType), specific(u.Format)), Size: -1})
	}
}

// forbidden returns the exchange of a request that is not made, since the scope or the reservations of the host forbid
// it; nil if it may be made. The error is a *politeness.Wait if the host must not be asked for its reservations for
// longer than wait.
func (p *Pipeline) forbidden(ctx context.Context, link, declared string, wait time.Duration) (*fetch.Exchange, error) {
	outcome, class := catalog.Blocked, catalog.ErrForbiddenTarget
	why := p.Scope.Refuses(scope.Question{Area: scope.Crawl, URL: link, Type: declared, Size: -1})
	if why == "" {
		var err error
		if why, err = p.reservedFor(ctx, link, wait); err != nil || why == "" {
			return nil, err
		}
		outcome, class = catalog.RobotsDenied, ""
	}
	now := time.Now()
	return &fetch.Exchange{URL: link, Start: now, End: now, Outcome: outcome, ErrorClass: class, Why: why}, nil
}

// redirects returns fetch.Request.Check for a request that has a pass: it holds the targets of redirects to the scope,
// and to those of the campaigns that follow, which may be nil.
func (p *Pipeline) redirects(pass *politeness.Pass, following *campaign.Visit) func(target string) error {
	return func(target string) error {
		if err := following.Check(target); err != nil {
			return err
		}
		if why := p.Scope.Refuses(scope.Question{Area: scope.Crawl, URL: target, Size: -1}); why != "" {
			return &fetch.Refused{Outcome: catalog.Blocked, Class: catalog.ErrForbiddenTarget, Why: "redirect to " + target + ": " + why}
		}
		return pass.Check(target)
	}
}

// limitBody makes a request end before or within a body that is out of scope. It reports whether it has set MaxBody:
// only if the scope's limit is smaller than that of the host, or else of the program, because MaxBody replaces both. If
// campaigns read the links of the document, its media type is no reason to end: links lead on from what is not kept.
func (p *Pipeline) limitBody(r *fetch.Request, following *campaign.Visit) (limited bool) {
	if p.Scope.Empty() {
		return false
	}
	r.CheckBody = func(mediaType string, length int64) error {
		q := scope.Question{Area: scope.Crawl, URL: r.URL, Type: specific(mediaType), Size: length, Declared: true}
		if following != nil {
			q.Type = ""
		}
		if why := p.Scope.Refuses(q); why != "" {
			return &fetch.Refused{Outcome: catalog.Blocked, Class: catalog.ErrForbiddenTarget, Why: why}
		}
		return nil
	}
	limit := p.Scope.SizeLimit(scope.Crawl, r.URL)
	if limit < 1 {
		return false
	}
	other := p.MaxBody
	if host, err := address.Host(r.URL); err == nil {
		other = cmp.Or(p.settings(host).MaxBody, other)
	}
	if other > 0 && limit >= other {
		return false
	}
	r.MaxBody = limit
	return true
}

// refuseSize gives the exchange of a file that is larger than the scope allows its outcome.
func (p *Pipeline) refuseSize(ex *fetch.Exchange, size int64) {
	if why := p.Scope.Refuses(scope.Question{Area: scope.Crawl, URL: ex.URL, Size: size}); why != "" {
		ex.Outcome, ex.ErrorClass, ex.Why = catalog.Blocked, catalog.ErrForbiddenTarget, why
	}
}

// refuseFound gives the exchange of a file that is not to be kept, by what it was found to be, its outcome.
func (p *Pipeline) refuseFound(ex *fetch.Exchange, found detect.Detection) (refused bool) {
	why := p.Scope.Refuses(scope.Question{Area: scope.Crawl, URL: ex.URL, Type: found.Type, Size: ex.Body.Size()})
	if why == "" {
		return false
	}
	ex.Outcome, ex.ErrorClass, ex.Why = catalog.Blocked, catalog.ErrForbiddenTarget, why+", and it is "+found.Type
	return true
}
