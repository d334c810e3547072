package crawler

import (
	"context"
	"fmt"
	"time"

	"odarchive/crawler/archive"
	"odarchive/crawler/archive/content"
	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/scope"
)

// Tombstone is a version of another archive of which only the record is left, or whose bytes this archive refuses.
type Tombstone struct {
	URL      string // of the resource, which must be registered
	FinalURL string // where redirects ended; "" if it is URL
	At       time.Time
	Status   int // of the HTTP response, 0 if there was none
	Digests  catalog.Digests
	Size     int64 // bytes
	Type     string
	Charset  string
	FileName string

	Withdrawn catalog.Withdrawal
}

// ImportTombstone makes the record of a version without its bytes, so that those after it keep their numbers. If the
// archive has the version, withdrawn or not, the outcome is Unchanged. An error wraps ErrNeverKept if a rule denies to
// keep the URL.
func (p *Pipeline) ImportTombstone(ctx context.Context, t Tombstone) (catalog.Outcome, error) {
	for _, url := range []string{t.URL, t.FinalURL} {
		if why := p.Scope.Refuses(scope.Question{Area: scope.Keep, URL: url, Type: t.Type, Size: t.Size}); url != "" && why != "" {
			return catalog.NoVersion, fmt.Errorf("%w: %s", ErrNeverKept, why)
		}
	}
	if known, _, err := p.Archive.Captured(ctx, archive.Capture{URL: t.URL, At: t.At, Digests: t.Digests}); err != nil || known {
		return catalog.Unchanged, err
	}
	older, _, err := p.Archive.Around(ctx, t.URL, t.At)
	if err != nil {
		return catalog.NoVersion, err
	}
	if older != nil && older.Digests == t.Digests {
		return catalog.Unchanged, nil
	}
	if t.FinalURL == "" {
		t.FinalURL = t.URL
	}
	visit := archive.Visit{
		Activity: catalog.Activity{URL: t.URL, FinalURL: t.FinalURL, Start: t.At, End: t.At, Outcome: catalog.Archived, Status: t.Status},
		Kept: &archive.Kept{
			Ref:  content.Ref{SHA256: t.Digests.SHA256, MD5: t.Digests.MD5, Size: t.Size},
			Type: t.Type, Charset: t.Charset, FileName: t.FileName, Because: "the archive that had the bytes says so",
			Withdrawn: &t.Withdrawn,
		},
		Past: &archive.Past{},
	}
	act, err := p.Archive.Commit(ctx, visit, nil)
	if err != nil {
		return act.Outcome, fmt.Errorf("import the record of %s of %s: %w", t.URL, t.At.UTC().Format(time.RFC3339), err)
	}
	return act.Outcome, nil
}
