package politeness

import (
	"time"

	"odarchive/crawler/catalog"
)

// backoff is the back-off of a host that asked for one, with the status 429 or 503. It holds for all doors of the host.
type backoff struct {
	level int       // how often in a row it was doubled
	until time.Time // its end; zero for none
	last  time.Time // when it was last set
	why   string    // "retry-after" or "back-off"
}

// note updates the back-off after a request, to at most longest, and reports whether it changed.
func (b *backoff) note(r Result, now time.Time, longest time.Duration) bool {
	if b.level > 0 && now.Sub(b.last) > quiet && now.Sub(b.until) > quiet {
		*b = backoff{}
	}
	if r.Outcome != catalog.RetryLater {
		return false
	}
	why, wait := "retry-after", r.RetryAfter
	if wait <= 0 {
		why, wait = "back-off", backoffTime(b.level)
		b.level++
	}
	b.until, b.last, b.why = now.Add(min(wait, longest)), now, why
	return true
}
