package ui

import (
	"context"
	"fmt"
	"time"

	"odarchive/crawler/catalog"
)

// lost says since when a file cannot be fetched from its source.
type lost struct {
	Since  time.Time
	Before bool // it began before Since, which is the oldest visit that was read
	Gone   bool // the answers say that the file is gone; otherwise its visits only fail
	Why    string
}

const (
	lostVisits = 50 // how many visits are read to find the first of those that failed
	lostAfter  = 3  // failures in a row after which a file counts as gone although no answer said so
)

// lost returns since when the visits of a file have failed; nil if the last one has not.
func (u *UI) lost(ctx context.Context, r catalog.Resource) (*lost, error) {
	if r.Outcome != catalog.NoVersion || r.Errors == 0 || r.Versions == 0 || r.ErrorClass == catalog.ErrInternal {
		return nil, nil
	}
	visits, err := u.archive.Activities(ctx, catalog.ActivityQuery{URL: r.URL, Limit: lostVisits})
	if err != nil {
		return nil, err
	}
	l := &lost{Since: r.LastVisit, Why: r.Why, Gone: r.Errors >= lostAfter, Before: len(visits) == lostVisits}
	for i, v := range visits { // newest first
		if v.Outcome == catalog.Archived || v.Outcome == catalog.Unchanged {
			l.Before = false
			break
		}
		if v.Outcome != catalog.NoVersion {
			continue
		}
		l.Since = v.Start
		if i == 0 {
			switch v.Status {
			case 404, 410, 451:
				l.Gone = true
			}
			if v.Status >= 400 && l.Why == "" {
				l.Why = fmt.Sprintf("the server answered %d", v.Status)
			}
		}
		if v.ErrorClass == catalog.ErrSoft404 {
			l.Gone = true
		}
	}
	return l, nil
}

// Words returns the sentence about a lost file, without its end.
func (l *lost) Words() string {
	what, since := "failing", "since "
	if l.Gone {
		what = "gone at the source"
	}
	if l.Before {
		since = "since before "
	}
	return what + " " + since + l.Since.UTC().Format("2 January 2006")
}
