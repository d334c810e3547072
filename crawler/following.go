package crawler

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/archive/faults"
	"odarchive/crawler/campaign"
	"odarchive/crawler/catalog"
	"odarchive/crawler/frontier"
	"odarchive/crawler/inspect/detect"
	"odarchive/crawler/web/fetch"
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

// follow finds the links and statements of a fetched document for the campaigns of its URL. A fault of this program with
// the bytes costs these, and not the visit.
func (p *Pipeline) follow(ctx context.Context, following *campaign.Visit, ex *fetch.Exchange, found detect.Detection) error {
	if following == nil {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, followTime)
	defer cancel()
	err := faults.Contain(func() error {
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

// variesAlways reports whether a server says that no answer serves for another request (Vary: *). Its validators are not
// used then. Requests for one URL are equal in all else that answers vary by.
func variesAlways(h http.Header) bool {
	return slices.ContainsFunc(h.Values("Vary"), func(v string) bool { return strings.TrimSpace(v) == "*" })
}
