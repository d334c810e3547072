package crawler

import (
	"context"
	"errors"

	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/queue/schedule"
	"odarchive/ns"
)

// Recall returns what the archive has on a URL whose record in the frontier is damaged, for frontier.Options.Recall. ok
// is false if the archive does not have the URL. What only the frontier kept is lost: the score, whether it is
// blacklisted, the validators, and all visits but the last one.
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

// Everything calls visit with each registered URL until it fails, for frontier.Options.Everything.
func (in *Intake) Everything(ctx context.Context, visit func(url string) error) error {
	var failed error
	err := in.Archive.Resources(ctx, "", func(r catalog.Resource) bool {
		failed = visit(r.URL)
		return failed == nil
	})
	return errors.Join(err, failed)
}
