package crawler

import (
	"fmt"
	"hash/fnv"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/web/hosts"
)

// quickRetries are the waits before retries of a transient failure, which come before the schedule's own back-off. No
// worker waits for them: the URL becomes due again in the frontier.
var quickRetries = [hosts.MaxRetries]time.Duration{40 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 6 * time.Hour}

// DefaultRetries is how often a transient failure is retried, unless the operator sets something else.
const DefaultRetries = 2

// askedToWait returns how often in a row a URL is retried as soon as its host may be asked again, after the host
// answered 429 or 503, which are about the host, not the URL: once more than after other failures. After that, the
// schedule decides.
func askedToWait(retries int) int {
	if retries == 0 {
		return 0
	}
	return retries + 1
}

// quickRetry returns the wait before a failed fetch is retried, and the reason, or 0 if the schedule decides. Transient
// failures are retried so many times. The host must not be asked for the duration held. Waits differ between URLs by up
// to a quarter to either side, so that files that failed together are not retried together; they are the same each time
// for one URL and number of failures.
func quickRetry(job frontier.Job, act catalog.Activity, held time.Duration, retries int) (wait time.Duration, why string) {
	if act.Outcome == catalog.RetryLater && job.Errors < askedToWait(retries) {
		return max(held, time.Second),
			fmt.Sprintf("the host asked to be left alone: retry %d of %d when it may be asked again", job.Errors+1, askedToWait(retries))
	}
	if act.Outcome != catalog.NoVersion || job.Errors >= min(retries, len(quickRetries)) || !isTransient(act) {
		return 0, ""
	}
	h := fnv.New64a()
	fmt.Fprint(h, job.Key, job.Errors)
	base := quickRetries[job.Errors]
	wait = base*3/4 + time.Duration(h.Sum64()%uint64(base/2))
	return wait, fmt.Sprintf("failed (%s), which may pass: retry %d of %d", act.ErrorClass, job.Errors+1, retries)
}

// isTransient reports whether a fetch soon after may succeed: the failure is one of the network, or inside the server.
func isTransient(act catalog.Activity) bool {
	switch act.ErrorClass {
	case catalog.ErrNetwork, catalog.ErrTimeout, catalog.ErrTruncated, catalog.ErrDNS:
		return true
	case catalog.ErrHTTPStatus:
		return act.Status >= 500 && act.Status != 501 && act.Status != 505 || act.Status == 408 || act.Status == 425
	}
	return false
}
