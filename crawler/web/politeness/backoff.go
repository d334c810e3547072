package politeness

import (
	"math/rand/v2"
	"time"

	"odarchive/crawler/catalog"
)

// backoff of a host that asked to be left alone or keeps failing.
type backoff struct {
	level int       // how often in a row the pause was doubled
	until time.Time // zero: none
	last  time.Time // when it was last set
	row   int       // failures of the host in a row
	why   string    // "retry-after" or "back-off"
}

// note takes a result in; true if the back-off changed.
func (b *backoff) note(r Result, now time.Time, most time.Duration) bool {
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
		if b.row++; b.row < patienceRow {
			return false
		}
	}
	if wait == 0 {
		wait = firstBackoff << min(b.level, 20)
		wait += time.Duration(rand.Int64N(int64(wait)/4 + 1)) // hosts that failed together shall not come back together
		b.level++
	}
	b.until, b.last, b.why = now.Add(min(wait, most)), now, why
	return true
}

const (
	firstBackoff = time.Minute
	quiet        = 30 * time.Minute // without trouble, and earlier trouble is forgiven
	patienceRow  = 3                // failures in a row that are not yet taken for the host's
)

// troubled says whether a request failed in a way that may be the host's trouble, not the URL's.
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
