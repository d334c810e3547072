package crawler

import (
	"fmt"
	"sync"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/frontier"
)

// What is taken for an outage, and how long the crawl then stands still: the second pause is twice the first, and so on.
const (
	outageHosts = 20
	outagePause = 30 * time.Second
	outageMost  = 10 * time.Minute
)

// outage notices when it is our own connection that fails, not the hosts: so many in a row cannot be reached, each by a
// URL that had been answered the last time, and nobody answers in between. Hosts that are gone for good do not count.
// The zero value is ready.
type outage struct {
	mu     sync.Mutex          // guards what follows
	failed map[string]struct{} // hosts in a row
	pause  time.Duration
	until  time.Time
}

// note an ended visit. The times are real ones.
func (o *outage) note(host string, job frontier.Job, act catalog.Activity, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case !unreachable(act):
		o.failed, o.pause, o.until = nil, 0, time.Time{}
		return
	case job.Fetches == 0 || job.Errors > 0 || now.Before(o.until):
		return
	case o.failed == nil:
		o.failed = map[string]struct{}{}
	}
	if o.failed[host] = struct{}{}; len(o.failed) < outageHosts {
		return
	}
	o.failed = nil
	o.pause = min(max(2*o.pause, outagePause), outageMost)
	o.until = now.Add(o.pause)
}

// why the crawl stands still; "" where it does not.
func (o *outage) why(now time.Time) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !now.Before(o.until) {
		return ""
	}
	return fmt.Sprintf("the network may be down: %d hosts in a row that answered before cannot be reached; tried again at %s", outageHosts, o.until.UTC().Format(time.TimeOnly))
}

// unreachable tells whether a visit never came to an answer.
func unreachable(act catalog.Activity) bool {
	if act.Status != 0 {
		return false
	}
	return act.ErrorClass == catalog.ErrDNS || act.ErrorClass == catalog.ErrNetwork || act.ErrorClass == catalog.ErrTimeout
}

// Outage says why nothing should be fetched for now; "" while the network seems to work. It fits frontier.Options.Hold.
func (p *Pipeline) Outage() string { return p.outage.why(time.Now()) }
