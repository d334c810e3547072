// Package schedule decides when to visit a URL again, from what earlier visits found. Its rules are pure functions of a
// history and a time, and also return a sentence with the reason.
//
// Paper is the rule of the ODArchive paper. Believe and Belief.Decide estimate how often and at what hour a file
// changes, and distribute a budget of fetches over all URLs by a price. None of them reads a clock, keeps state or does
// I/O. A Planner keeps the price, and so does the AdaptiveRule of a crawl, whose Plan computes it from all URLs.
package schedule

import (
	"fmt"
	"time"

	"odarchive/crawler/catalog"
)

// Visit is what the schedule needs of one visit.
type Visit struct {
	At           time.Time
	Outcome      catalog.Outcome
	Changed      bool      // the bytes differ from those of the visit before; true for the first version
	LastModified time.Time // as the server sent it; zero if it did not
}

// Known reports whether the visit found the file's content, so that Changed is valid.
func (v Visit) Known() bool { return v.Outcome == catalog.Archived || v.Outcome == catalog.Unchanged }

// Limits of the time between two visits of a URL. Zero fields have defaults.
type Limits struct {
	Min   time.Duration // default 6 hours
	Max   time.Duration // default 90 days
	First time.Duration // for Paper, after the first visit; default 7 days
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

// paperWindow is the number of intervals between visits that the paper's rule considers.
const paperWindow = 5

// Paper is the rule of the ODArchive paper (listing 3). The next visit follows after the mean time between changes over
// the last five intervals between visits, or after half of it if the last visit found a change. A failed visit counts
// as one that found no change. history must be sorted by time. If it is empty, the URL is due now.
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

// days formats a duration in days, hours or minutes.
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
