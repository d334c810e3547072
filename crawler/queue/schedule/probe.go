package schedule

// A file that was changed at each visit may change daily or every few minutes. A visit in each of these periods has the
// same chance to find a version, but one of a daily file keeps the copy current for a day. Visits at long intervals
// cannot tell the two apart, and both would be visited alike for ever. A second visit soon after the last one can.
const (
	fastRates = 2 // rates[1] to rates[fastRates] are fast: changes every three and every six hours

	// Odds outside these bounds are as good as certain.
	minFast, maxFast = 0.1, 0.9

	// Each probe that is made in time at least doubles the odds. If visits come later than planned, as in a crawl that
	// is behind, they tell nothing, so their number is bounded.
	maxProbes = 8
	nearVisit = 4 * dayS // a visit so soon after the one before counts as a probe
)

// probe returns the wait, in seconds, after which a visit tells whether the file changes all the time. ok is false if
// that is known or makes no difference, if a visit is planned about as early, or if it is too late for a probe.
func (b *Belief) probe(price, now, planned float64, l Limits) (wait float64, ok bool) {
	slowest := rates[fastRates]
	wait = 1 / slowest
	if b.inTime < 2 || b.near >= maxProbes || l.Min.Seconds() > wait || planned < 3*wait || now-b.last > 1.5*wait {
		return 0, false
	}
	if worth(slowest)/slowest > 0.9*price { // fast files are worth their visits
		return 0, false
	}
	fast := 0.0
	for _, p := range b.rates[1 : fastRates+1] {
		fast += p
	}
	return wait, fast > minFast && fast < maxFast
}
