package crawler

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/queue/scope"
	"odarchive/crawler/queue/supervise"
	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/spool"
	"odarchive/triplestore/kv"
)

// Imported is a file that another archive fetched.
type Imported struct {
	URL       string // of the resource, which must be registered
	FinalURL  string // where redirects ended; "" if it is URL
	At        time.Time
	Status    int               // of the HTTP response, 0 if there was none
	Header    http.Header       // of the response
	Truncated string            // why the body is not the whole file, as WARC-Truncated has it; "" if it is
	Format    string            // as a catalog declares it, "" if unknown
	Exchange  *catalog.Exchange // what was on the wire; nil if that is not known
	Body      *spool.File       // finished; the caller removes it
}

// Import archives what another archive fetched, as the version of that time (archive.Past). It makes no version if one
// of that time has these bytes, or if the version before has them: then the outcome is Unchanged, and it is a visit.
// Bytes that look like an error page are kept, since the other archive kept them.
func (p *Pipeline) Import(ctx context.Context, im Imported) (catalog.Outcome, error) {
	outcome, err := p.importOne(ctx, im)
	if err != nil {
		return outcome, fmt.Errorf("import %s of %s: %w", im.URL, im.At.UTC().Format(time.RFC3339), err)
	}
	return outcome, nil
}

func (p *Pipeline) importOne(ctx context.Context, im Imported) (catalog.Outcome, error) {
	link, err := address.Parse(im.URL)
	if err != nil {
		return "", err
	}
	if im.FinalURL == "" {
		im.FinalURL = im.URL
	}
	final, err := address.Parse(im.FinalURL)
	if err != nil {
		final, im.FinalURL = link, im.URL
	}
	if err := p.neverKept(im, ""); err != nil {
		return catalog.NoVersion, err
	}
	digests := im.Body.Digests()
	if err := p.Archive.Refused(digests.SHA256); err != nil { // before any byte is stored
		return catalog.NoVersion, err
	}
	known, perhaps, err := p.Archive.Captured(ctx, archive.Capture{URL: im.URL, At: im.At, Digests: digests})
	if err != nil || known {
		return catalog.Unchanged, err
	}
	older, newer, err := p.Archive.Around(ctx, im.URL, im.At)
	if err != nil {
		return "", err
	}
	if older != nil && older.Digests == digests {
		if perhaps || im.At.Sub(older.At) < archive.SameMoment {
			return catalog.Unchanged, nil
		}
		return catalog.Unchanged, p.confirm(ctx, im, *older)
	}
	ex := &fetch.Exchange{
		URL: im.URL, FinalURL: im.FinalURL, Status: im.Status, ResponseHeader: im.Header, Body: im.Body, Start: im.At, End: im.At,
		ContentType: im.Header.Get("Content-Type"), LastModified: im.Header.Get("Last-Modified"), ETag: im.Header.Get("ETag"),
		FileName: fetch.FileName(im.Header.Get("Content-Disposition"), final),
	}
	job := frontier.Job{URL: im.URL, Format: im.Format}
	// The labels of its bytes have the time of the capture.
	then := &Pipeline{Archive: p.Archive, Clock: func() time.Time { return im.At }, Log: p.Log, Processors: p.Processors,
		Examine: p.Examine, Scope: p.Scope, trip: p.trip}
	visit, err := then.examineImported(ctx, job, older, newer, ex, im)
	p.faults.Add(then.faults.Load())
	if err != nil {
		return catalog.NoVersion, err
	}
	defer visit.Kept.Placed.Release()
	visit.Activity = catalog.Activity{URL: im.URL, FinalURL: im.FinalURL, Start: im.At, End: im.At, Outcome: catalog.Archived,
		Status: im.Status}
	act, err := p.Archive.Commit(ctx, visit, nil)
	if errors.Is(err, kv.ErrTooBig) && visit.Kept.Inside != nil { // keep the bytes at least
		visit.Kept.Inside, visit.Kept.Change, visit.Past = nil, nil, &archive.Past{}
		visit.Fault = p.fault("commit", im.URL, err)
		act, err = p.Archive.Commit(ctx, visit, nil)
	}
	return act.Outcome, err
}

// confirm records that another archive found the bytes of a version once more. Otherwise bytes that turn out to have
// been there in between would be the latest ones, or not, by the order of imports.
func (p *Pipeline) confirm(ctx context.Context, im Imported, v catalog.Version) error {
	_, err := p.Archive.Commit(ctx, archive.Visit{
		Activity: catalog.Activity{URL: im.URL, FinalURL: im.FinalURL, Start: im.At, End: im.At, Outcome: catalog.Unchanged,
			Status: im.Status},
		Confirms: v.ID, Past: &archive.Past{},
	}, nil)
	return err
}

// examineImported is examine for an imported file. older and newer are the versions around it; either may be nil.
func (p *Pipeline) examineImported(ctx context.Context, job frontier.Job, older, newer *catalog.Version, ex *fetch.Exchange,
	im Imported) (visit archive.Visit, err error) {
	select {
	case p.Processors <- struct{}{}:
	case <-ctx.Done():
		return visit, ctx.Err()
	}
	leave := sync.OnceFunc(func() { <-p.Processors })
	defer leave()
	doc, err := p.open(ctx, ex, &visit)
	if err != nil {
		return visit, err
	}
	defer doc.Close()
	found, err := p.detect(ctx, doc, fileOf(job, ex), ex.URL, &visit)
	if err != nil {
		return visit, fmt.Errorf("detect: %w", err)
	}
	if err := p.neverKept(im, found.Type); err != nil {
		return visit, err
	}
	if err := p.describe(ctx, older, &ofArchive{p}, doc, fileOf(job, ex), ex, found, im.Exchange, &visit, leave); err != nil {
		return visit, err
	}
	visit.Kept.Truncated = im.Truncated
	visit.Past = &archive.Past{}
	if newer == nil {
		return visit, nil
	}
	if visit.Past.Next = newer.ID; doc == nil {
		return visit, nil
	}
	fault := supervise.Contain(func() error {
		visit.Past.Change = p.compare(ctx, *newer, visit.Kept, doc, ex.URL, false)
		return nil
	})
	if fault != nil {
		visit.Fault = p.fault("compare with the version after", ex.URL, fault)
	}
	return visit, nil
}

// ErrNeverKept is wrapped by the error of importing a file that a rule of the scope denies to keep.
var ErrNeverKept = errors.New("never kept")

// neverKept returns an error if a rule of the scope denies to keep an imported file: by its address, that of a
// redirect's target, its size, and its media type, "" if that is not known yet.
func (p *Pipeline) neverKept(im Imported, mediaType string) error {
	for _, url := range []string{im.URL, im.FinalURL} {
		if why := p.Scope.Refuses(scope.Question{Area: scope.Keep, URL: url, Type: mediaType, Size: im.Body.Size()}); why != "" {
			return fmt.Errorf("%w: %s", ErrNeverKept, why)
		}
	}
	return nil
}

// JoinAll indexes the columns of the versions that wait for it, as a crawl does at its end.
func (p *Pipeline) JoinAll(ctx context.Context) error { return p.joinAll(ctx, nil) }
