// Package schedule says when a URL is to be visited again, from what earlier visits found: pure functions of a history
// and a time, with a sentence that says why.
//
// Paper is the rule of the ODArchive paper; Adaptive estimates how often and at what hour a file changes, and shares a
// budget of fetches out among all URLs. Neither reads a clock, keeps state or does I/O; what a fetch is worth at the moment is
// kept by a Planner, or by the AdaptiveRule of a crawl, which finds it anew when it is given all URLs (Plan).
package schedule

import (
	"fmt"
	"time"

	"odarchive/crawler/catalog"
)

// Visit is one fetch of a URL, as far as it matters for the next one.
type Visit struct {
	At           time.Time
	Outcome      catalog.Outcome
	Changed      bool      // other bytes than at the visit before; true for the first version
	LastModified time.Time // as the server said, zero if it did not
}

// Known says whether the visit showed the file's content, so that Changed means something.
func (v Visit) Known() bool { return v.Outcome == catalog.Archived || v.Outcome == catalog.Unchanged }

// Limits of the time between two visits of a URL. Zero fields have defaults.
type Limits struct {
	Min   time.Duration // 6 hours
	Max   time.Duration // 90 days
	First time.Duration // after the first visit; 7 days
}

func (l Limits) withDefaults() Limits {
	if l.Min <= 0 {
		l.Min = 6 * time.Hour
	}
	if l.Max <= 0 {
		l.Max = 90 * 24 * time.Hour
	}
	if l.First <= 0 {
		l.First = 7 * 24 * time.Hour
	}
	l.Max = max(l.Max, l.Min)
	l.First = l.clamp(l.First)
	return l
}

func (l Limits) clamp(d time.Duration) time.Duration { return max(l.Min, min(d, l.Max)) }

// paperWindow is how many intervals between visits the paper's rule looks back.
const paperWindow = 5

// Paper is the rule of the ODArchive paper (listing 3): the mean time between changes over the last five intervals
// between visits, half of it after a change. A visit that failed counts as one that found no change. History is in order
// of time; without any the URL is due now.
func Paper(history []Visit, now time.Time, l Limits) (next time.Time, why string) {
	l = l.withDefaults()
	if len(history) == 0 {
		return now, "never visited"
	}
	last := history[len(history)-1]
	if len(history) == 1 {
		return last.At.Add(l.First), fmt.Sprintf("first visited; again after %s", days(l.First))
	}
	recent := history[max(0, len(history)-paperWindow-1):]
	var total time.Duration
	groups := 0 // a group of intervals ends where a change begins the next one
	for i, v := range recent[1:] {
		if i == 0 || v.Changed {
			groups++
		}
		total += v.At.Sub(recent[i].At)
	}
	interval := total / time.Duration(groups)
	why = fmt.Sprintf("mean time between changes over the last %d intervals: %s", len(recent)-1, days(interval))
	if last.Changed {
		interval /= 2
		why += ", halved after a change"
	}
	if c := l.clamp(interval); c != interval {
		why += fmt.Sprintf(", limited to %s", days(c))
		interval = c
	}
	return last.At.Add(interval), why
}

// days writes a duration the way people talk about intervals.
func days(d time.Duration) string {
	switch {
	case d >= 1000*24*time.Hour:
		return fmt.Sprintf("%.0f days", d.Hours()/24)
	case d >= 48*time.Hour:
		return fmt.Sprintf("%.3g days", d.Hours()/24)
	case d == time.Hour:
		return "1 hour"
	case d >= time.Hour:
		return fmt.Sprintf("%.3g hours", d.Hours())
	default:
		return fmt.Sprintf("%.3g minutes", d.Minutes())
	}
}
