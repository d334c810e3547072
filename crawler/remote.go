package crawler

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/politeness"
	"odarchive/crawler/web/ranges"
)

const (
	remotePatience = 15 * time.Minute // for the host's turn, before each request
	remoteTries    = 4                // of one request whose answer is cut off or comes later
)

// OpenFile opens a file that is not archived, such as one to import from, and requests its bytes from from to to. What
// else is read of it is requested then. Every request follows the rules of the crawl: robots.txt, delays, guarded
// addresses. All together transfer at most limit bytes. If the host does not answer ranges, the whole file is fetched
// at once. The caller must close the file; the context is that of all requests.
func (p *Pipeline) OpenFile(ctx context.Context, url string, from, to, limit int64) (*ranges.File, error) {
	return ranges.Open(ctx, url, from, to, limit,
		func(ctx context.Context, from, to int64, condition string, only bool) (ranges.Part, error) {
			part := &fetch.Part{From: from, To: to, If: condition, Only: only}
			for tries := 1; ; tries++ {
				ex, err := p.fetchPart(ctx, fetch.Request{URL: url, Part: part, MaxBody: limit})
				if err != nil {
					return ranges.Part{}, fmt.Errorf("fetch %s: %w", url, err)
				}
				got := ranges.Part{Body: ex.Body, From: ex.Sent.From, Total: ex.Sent.Total, Whole: ex.Status == http.StatusOK,
					ETag:         ex.ETag,
					LastModified: ex.LastModified}
				if got.Whole {
					got.Total = -1
					if n, err := strconv.ParseInt(ex.ResponseHeader.Get("Content-Length"), 10, 64); err == nil {
						got.Total = n
					}
				}
				if ex.Body != nil || got.Whole && only {
					return got, nil
				}
				if !again(ex) || tries == remoteTries {
					return ranges.Part{}, fmt.Errorf("fetch %s: %s: %s", url, ex.Outcome, ex.Why)
				}
			}
		})
}

// again reports whether a request may succeed if it is repeated. The gate waits as long as the host asks.
func again(ex *fetch.Exchange) bool {
	switch ex.ErrorClass {
	case catalog.ErrTruncated, catalog.ErrNetwork, catalog.ErrTimeout:
		return ex.Sent.Total > 0 // the host answered
	}
	return ex.Outcome == catalog.RetryLater
}

// fetchPart makes one request of OpenFile. It waits for the host's turn.
func (p *Pipeline) fetchPart(ctx context.Context, request fetch.Request) (*fetch.Exchange, error) {
	pass, verdict, err := p.Gate.Visit(ctx, request.URL, remotePatience)
	if wait, ok := errors.AsType[*politeness.Wait](err); ok {
		return nil, fmt.Errorf("the host must not be asked until %s (%s)", wait.Until.UTC().Format(time.RFC3339), wait.Why)
	}
	if err != nil {
		return nil, err
	}
	if !verdict.Allowed {
		return refused(frontier.Job{URL: request.URL}, verdict), nil
	}
	result := politeness.Result{}
	defer func() { pass.Leave(result) }()
	request.Check, request.Hold = pass.Check, true
	ex, err := p.Fetch(ctx, request)
	if err != nil {
		return nil, err
	}
	result = politeness.ResultOf(ex)
	ex.Taped.End = p.ended(ex)
	p.tapeBody(ex, nil)
	return ex, nil
}
