package crawler

import (
	"context"
	"errors"

	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/crawler/frontier"
	"odarchive/crawler/schedule"
	"odarchive/ns"
)

// Recall says what the archive knows of a URL whose record in the frontier cannot be read. It fits
// frontier.Options.Recall. What the archive does not keep is lost: a score, being kept out of the crawl, validators, and
// all visits but the last one.
func (in *Intake) Recall(key string) (frontier.Recalled, bool, error) {
	r, err := in.Archive.Resource(context.Background(), ns.ResourceID(key))
	if errors.Is(err, archive.ErrNotFound) {
		return frontier.Recalled{}, false, nil
	}
	if err != nil {
		return frontier.Recalled{}, false, err
	}
	known := frontier.Recalled{
		URL: r.URL, Format: r.Format, Added: r.Added, Fetches: r.Visits, Errors: r.Errors,
	}
	if !r.LastVisit.IsZero() {
		known.History = []schedule.Visit{{At: r.LastVisit, Outcome: r.Outcome, Changed: r.Outcome == catalog.Archived}}
	}
	return known, true, nil
}

// Everything calls visit with each URL that the archive knows. It fits frontier.Options.Everything.
func (in *Intake) Everything(ctx context.Context, visit func(url string) error) error {
	var failed error
	err := in.Archive.Resources(ctx, "", func(r catalog.Resource) bool {
		failed = visit(r.URL)
		return failed == nil
	})
	return errors.Join(err, failed)
}
