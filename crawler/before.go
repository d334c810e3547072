package crawler

import (
	"context"

	"odarchive/crawler/archive"
	"odarchive/crawler/archive/content"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect/diff"
	"odarchive/crawler/inspect/examine"
	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/web/fetch"
)

// before is what the first half of a visit needs of the archive. A worker in another process has an implementation that
// answers from what it was told, and leaves the rest to the second half.
type before interface {
	// latest returns the latest version of a job's URL, nil for none.
	latest(ctx context.Context, job frontier.Job) (*catalog.Version, error)
	// belong reports whether a job's validators are those of the latest version.
	belong(job frontier.Job, latest catalog.Version) bool
	// stored reports whether the bytes of a version are stored.
	stored(v catalog.Version) bool
	// original returns the response that brought a version, for the tape; nil if there is no tape.
	original(ctx context.Context, v catalog.Version) *fetch.Original
	// refused returns an error that wraps catalog.ErrWithdrawn if bytes must not be stored.
	refused(sha256 [32]byte) error
	// sameBytes returns how many other URLs of the host gave the same bytes, at most max.
	sameBytes(ctx context.Context, url string, sha256 [32]byte, max int) (int, error)
	// change compares a new version with the latest one; nil if they cannot be compared.
	change(ctx context.Context, latest catalog.Version, kept *archive.Kept, doc *examine.Document, url string) *diff.Summary
	// place makes the bytes durable.
	place(ctx context.Context, latest *catalog.Version, ex *fetch.Exchange, mediaType string, written func()) (*content.Placed, error)
}

var _ before = (*ofArchive)(nil)

// ofArchive is the before of the process that has the archive.
type ofArchive struct{ p *Pipeline }

func (a *ofArchive) latest(ctx context.Context, job frontier.Job) (*catalog.Version, error) {
	return a.p.latest(ctx, job)
}

func (a *ofArchive) belong(job frontier.Job, latest catalog.Version) bool { return belong(job, latest) }

func (a *ofArchive) stored(v catalog.Version) bool { return a.p.stored(v) }

func (a *ofArchive) original(ctx context.Context, v catalog.Version) *fetch.Original {
	return a.p.original(ctx, v)
}

func (a *ofArchive) refused(sha256 [32]byte) error { return a.p.Archive.Refused(sha256) }

func (a *ofArchive) sameBytes(ctx context.Context, url string, sha256 [32]byte, max int) (int, error) {
	return a.p.Archive.SameBytes(ctx, url, sha256, max)
}

func (a *ofArchive) change(ctx context.Context, latest catalog.Version, kept *archive.Kept, doc *examine.Document,
	url string) *diff.Summary {
	return a.p.change(ctx, latest, kept, doc, url)
}

func (a *ofArchive) place(ctx context.Context, latest *catalog.Version, ex *fetch.Exchange, mediaType string,
	written func()) (*content.Placed, error) {
	return a.p.place(ctx, latest, ex, mediaType, written)
}
