package politeness

import (
	"math/rand/v2"
	"time"

	"odarchive/crawler/catalog"
)

// backoff is the back-off of a host that asked for one or keeps failing.
type backoff struct {
	level int       // how often in a row the back-off was doubled
	until time.Time // its end; zero for none
	last  time.Time // when it was last set
	row   int       // failures in a row that may be the host's
	why   string    // "retry-after" or "back-off"
}

// note updates the back-off after a request, to at most longest, and reports whether it changed.
func (b *backoff) note(r Result, now time.Time, longest time.Duration) bool {
	if b.level > 0 && now.Sub(b.last) > quiet && now.Sub(b.until) > quiet {
		*b = backoff{}
	}
	if !troubled(r) {
		b.row = 0
		return false
	}
	why, wait := "back-off", time.Duration(0)
	switch {
	case r.Outcome == catalog.RetryLater && r.RetryAfter > 0:
		why, wait = "retry-after", r.RetryAfter
	case r.Outcome == catalog.RetryLater:
	default:
		if b.row++; b.row < failuresInRow {
			return false
		}
	}
	if wait == 0 {
		wait = firstBackoff << min(b.level, 20)
		wait += time.Duration(rand.Int64N(int64(wait)/4 + 1)) // hosts that failed together should not be retried together
		b.level++
	}
	b.until, b.last, b.why = now.Add(min(wait, longest)), now, why
	return true
}

const (
	firstBackoff  = time.Minute
	quiet         = 30 * time.Minute // after that time without a failure, the back-off starts over
	failuresInRow = 3                // so many failures in a row count as the host's
)

// troubled reports whether a request failed in a way that may concern the host, not only the URL.
func troubled(r Result) bool {
	return r.Outcome == catalog.RetryLater || hostFault(r.Class)
}

func hostFault(c catalog.ErrorClass) bool {
	switch c {
	case catalog.ErrNetwork, catalog.ErrTimeout, catalog.ErrDNS, catalog.ErrTLS:
		return true
	}
	return false
}
