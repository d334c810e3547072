package crawler

import (
	"fmt"
	"hash/fnv"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/frontier"
)

// quickRetries are the waits before a fetch that failed for a reason that may pass is tried once more, ahead of the
// schedule's own back-off. They hold no worker: the URL is due again, and goes through the frontier like any other.
var quickRetries = [...]time.Duration{40 * time.Second, 5 * time.Minute}

// askedToWait is how often in a row a URL is tried again as soon as its host may be, after the host asked to be left alone:
// a 429 is about the host, not about the URL. One that is always answered so is the schedule's after that.
const askedToWait = 3

// quickRetry says after how long a failed fetch is tried again, as long as few in a row have failed; 0 where that is the
// schedule's to say. The host may not be asked for as long as held. The waits are spread by a quarter to either side, by URL, so that files that failed together do not
// come back together, and one that is told again says the same.
func quickRetry(job frontier.Job, act catalog.Activity, held time.Duration) (wait time.Duration, why string) {
	if act.Outcome == catalog.RetryLater && job.Errors < askedToWait {
		return max(held, time.Second), fmt.Sprintf("the host asked to be left alone: retry %d of %d when it may be asked again", job.Errors+1, askedToWait)
	}
	if act.Outcome != catalog.NoVersion || job.Errors >= len(quickRetries) || !mayPass(act) {
		return 0, ""
	}
	h := fnv.New64a()
	fmt.Fprint(h, job.Key, job.Errors)
	base := quickRetries[job.Errors]
	wait = base*3/4 + time.Duration(h.Sum64()%uint64(base/2))
	return wait, fmt.Sprintf("failed (%s), which may pass: retry %d of %d", act.ErrorClass, job.Errors+1, len(quickRetries))
}

// mayPass tells whether another fetch soon may end otherwise: trouble on the way, or inside the server.
func mayPass(act catalog.Activity) bool {
	switch act.ErrorClass {
	case catalog.ErrNetwork, catalog.ErrTimeout, catalog.ErrTruncated, catalog.ErrDNS:
		return true
	case catalog.ErrHTTPStatus:
		return act.Status >= 500 && act.Status != 501 && act.Status != 505 || act.Status == 408 || act.Status == 425
	}
	return false
}
