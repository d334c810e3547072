package crawler

import (
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"slices"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/web/fetch"
)

// One visit in doubtEvery is made without validators, since a server whose entity tag or Last-Modified never changes
// hides all changes behind its answers 304.
const doubtEvery = 10

// belong reports whether a job's validators are of the bytes of the latest version: a version that was imported from
// another archive, with a later date than the visit that last found the file, has others.
func belong(job frontier.Job, latest catalog.Version) bool {
	at := lastFound(job)
	return !at.IsZero() && !latest.At.After(at.Add(sameVisit)) ||
		frontier.SameValidators(job.ETag, job.LastModified, latest.ETag, latest.LastModified)
}

// sameVisit is more than the moments of a visit and of its version differ by: an archive moves a visit by milliseconds
// if another began at its moment, and the frontier keeps no parts of one.
const sameVisit = time.Second

// lastFound returns when a visit of a job last found the file, the zero time if none of those that are remembered did.
func lastFound(job frontier.Job) time.Time {
	for _, visit := range slices.Backward(job.History) {
		if visit.Known() {
			return visit.At
		}
	}
	return time.Time{}
}

// validators returns what makes the request for a job conditional: nothing at one visit in doubtEvery, and no
// Last-Modified in the future, which a server that obeys RFC 9110 ignores and another one never leaves behind, or of
// before the web.
func validators(job frontier.Job, now time.Time) (etag, lastModified string) {
	if doubts(job) {
		return "", ""
	}
	if at, err := http.ParseTime(job.LastModified); err == nil && (at.After(now.Add(maxSkew)) || at.Before(webBegan)) {
		return job.ETag, ""
	}
	return job.ETag, job.LastModified
}

// maxSkew is how far a server's clock may be ahead.
const maxSkew = 24 * time.Hour

// webBegan is when the first page was published. An older Last-Modified is mostly no time of a change but one that all
// versions of a file share: tools that build the same bytes from the same sources set the times of files to 1970 or
// 1980.
var webBegan = time.Date(1991, time.August, 6, 0, 0, 0, 0, time.UTC)

// lastModified returns when the server says that the bytes of an exchange changed, or the zero time if it does not say
// so credibly.
func lastModified(ex *fetch.Exchange) time.Time {
	if at, err := http.ParseTime(ex.LastModified); err == nil && !at.Before(webBegan) {
		return at
	}
	return time.Time{}
}

// doubts reports whether a visit is one without validators. It depends on the URL and its number of visits only. It is
// one of the last five in ten, another one for each URL, so that files registered together are not all transferred on
// one day.
func doubts(job frontier.Job) bool {
	h := fnv.New32a()
	io.WriteString(h, job.Key)
	return job.Fetches%doubtEvery == int(doubtEvery/2+h.Sum32()%(doubtEvery/2))
}

// liedAbout returns the reason of a version whose bytes came with the validators of the version before.
func liedAbout(ex *fetch.Exchange) string {
	what := fmt.Sprintf("Last-Modified %.40q", ex.LastModified)
	if ex.ETag != "" {
		what = fmt.Sprintf("ETag %.40q", ex.ETag)
	}
	return "other bytes with the same " + what + ": requests are not conditional any more"
}
