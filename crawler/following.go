package crawler

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/archive"
	"odarchive/crawler/archive/faults"
	"odarchive/crawler/catalog"
	"odarchive/crawler/follow/campaign"
	"odarchive/crawler/inspect/detect"
	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/queue/supervise"
	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/politeness"
	"odarchive/ns"
)

// errPutOff means that a URL was not visited because its campaign is paused or was stopped.
var errPutOff = errors.New("put off")

// putOff is how long the URLs of a paused campaign are left alone. Resuming the campaign makes them due at once.
const putOff = 24 * time.Hour

// following returns what campaigns have to do with a visit, nil for nothing. If they are paused, the job is put off and
// the error is errPutOff.
func (p *Pipeline) following(ctx context.Context, lease *frontier.Lease, job frontier.Job) (*campaign.Visit, error) {
	if p.Campaigns == nil {
		return nil, nil
	}
	key, err := address.Key(job.URL)
	if err != nil {
		return nil, nil // the fetch reports it
	}
	v, err := p.Campaigns.Begin(ctx, ns.ResourceID(key), job.URL)
	if err != nil {
		return nil, err
	}
	why, forever := v.Held()
	if why == "" {
		return v, nil
	}
	until := time.Time{}
	if !forever {
		until = p.Clock().Add(putOff)
	}
	if err := p.Frontier.Defer(ctx, lease, job, until, why); err != nil {
		return nil, err
	}
	return nil, errPutOff
}

// followTime limits how long finding the links of one document may take.
const followTime = 2 * time.Minute

// follow finds the links and statements of a fetched document for the campaigns of its URL. A fault of this program
// with the bytes costs these, and not the visit.
func (p *Pipeline) follow(ctx context.Context, following *campaign.Visit, ex *fetch.Exchange, found detect.Detection) error {
	if following == nil {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, followTime)
	defer cancel()
	err := supervise.Contain(func() error {
		if err := p.step("follow links", ex.URL); err != nil {
			return err
		}
		return following.Read(limited, ex.FinalURL, found, ex.FileName, ex.ResponseHeader, ex.Body.Size(), ex.Body)
	})
	if err == nil || faults.IsOwn(ctx, err) {
		return err
	}
	p.Log.Warn("links not followed", "url", ex.URL, "error", p.fault("follow links", ex.URL, err))
	return nil
}

// typeOf returns what the latest version of a URL was recognised as.
func typeOf(v catalog.Version) detect.Detection {
	return detect.Detection{Type: v.Type, Charset: v.Charset}
}

// listedAsCSV reports whether a URL was listed as a table of delimited text, or is named like one.
func listedAsCSV(job frontier.Job) bool {
	return slices.ContainsFunc(promises(job), func(format string) bool {
		return format == "csv" || format == "tsv" || strings.HasPrefix(format, "text/csv") || format == "text/tab-separated-values"
	})
}

// maxSecondWait is how long a visit waits for its host before it asks once more, for CSV. If that is not enough, the
// next visit asks for CSV.
const maxSecondWait = 30 * time.Second

// askForCSV asks a server that answered with a page, where a table was listed, once more for CSV. It returns nil if
// that brought nothing else.
func (p *Pipeline) askForCSV(ctx context.Context, job frontier.Job, latest *catalog.Version, before before,
	following *campaign.Visit) (ex *fetch.Exchange, found archive.Visit, err error) {
	err = supervise.Contain(func() (err error) {
		if ex, err = p.fetch(ctx, job, nil, before, following, maxSecondWait); err != nil {
			return err
		}
		found, err = p.examine(ctx, job, latest, before, ex, following)
		return err
	})
	var wait *politeness.Wait
	if endsVisit(ctx, err) && !errors.As(err, &wait) && ex == nil {
		return nil, archive.Visit{}, err
	}
	if err == nil && (found.Kept != nil || ex.Outcome == catalog.Unchanged) {
		return ex, found, nil
	}
	if ex != nil {
		p.remove(ex)
	}
	return nil, archive.Visit{}, nil
}

// variesAlways reports whether a server says that no answer serves for another request (Vary: *). Its validators are
// not used then. Requests for one URL are equal in all else that answers vary by.
func variesAlways(h http.Header) bool {
	return slices.ContainsFunc(h.Values("Vary"), func(v string) bool { return strings.TrimSpace(v) == "*" })
}
