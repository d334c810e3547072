package crawler

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/crawler/content"
	"odarchive/crawler/detect"
	"odarchive/crawler/diff"
	"odarchive/crawler/fetch"
	"odarchive/crawler/frontier"
	"odarchive/crawler/inspect"
)

// examine finds out what was fetched and makes its bytes durable. Where there is nothing to keep, the exchange holds the
// outcome.
func (p *Pipeline) examine(ctx context.Context, job frontier.Job, latest *catalog.Version, ex *fetch.Exchange) (visit archive.Visit, err error) {
	if ex.Body == nil {
		return visit, nil
	}
	select {
	case p.Processors <- struct{}{}:
	case <-ctx.Done():
		return visit, ctx.Err()
	}
	leave := sync.OnceFunc(func() { <-p.Processors })
	defer leave()
	digests := ex.Body.Digests()
	if latest != nil && latest.Digests == digests {
		return visit, p.again(ctx, *latest, ex, leave)
	}
	found := detect.Detection{Type: "application/octet-stream", Because: "our recognition failed on it"}
	p.contain("detect", ex.URL, func() {
		found, err = detect.File(ctx, detect.Input{Name: ex.FileName, Declared: declared(job, ex), Size: ex.Body.Size(), Body: ex.Body})
	})
	if err != nil {
		return visit, fmt.Errorf("detect: %w", err)
	}
	why := soft404(job, found)
	if why == "" {
		if why, err = p.sameError(ctx, job, ex, found); err != nil {
			return visit, err
		}
		if why != "" {
			visit.ErrorPage = &digests.SHA256
		}
	}
	if why != "" {
		ex.Outcome, ex.ErrorClass, ex.Why = catalog.NoVersion, catalog.ErrSoft404, why
		return visit, nil
	}
	visit.Kept, err = p.keep(ctx, latest, ex, found, leave)
	return visit, err
}

// contain runs what looks into a stranger's bytes. A panic there is a fault of ours that one file has found: the log gets
// its stack, the file is kept without what was looked for, and the crawl goes on; it would meet the file again after every restart.
func (p *Pipeline) contain(doing, url string, look func()) {
	defer func() {
		if fault := recover(); fault != nil {
			p.Log.Error("a fault of this program: please report it with the file", "doing", doing, "url", url, "panic", fault, "stack", string(debug.Stack()))
		}
	}()
	look()
}

// again takes in the bytes of the latest version once more.
func (p *Pipeline) again(ctx context.Context, latest catalog.Version, ex *fetch.Exchange, written func()) error {
	ex.Outcome, ex.Why = catalog.Unchanged, "the same bytes as the latest version"
	if latest.ErrorPage != "" {
		ex.Outcome, ex.ErrorClass, ex.Why = catalog.NoVersion, catalog.ErrSoft404, latest.ErrorPage
	}
	if p.stored(latest) {
		return nil
	}
	body := ex.Body.Open()
	defer body.Close()
	if _, err := p.Archive.Bytes().Put(ctx, body, content.PutOptions{Known: &latest.Digests, Written: written}); err != nil {
		return fmt.Errorf("store bytes: %w", err)
	}
	return nil
}

// keep looks into a new version's bytes and puts them on the disk. The processor is left to others while that waits for it.
func (p *Pipeline) keep(ctx context.Context, latest *catalog.Version, ex *fetch.Exchange, found detect.Detection, written func()) (kept *archive.Kept, err error) {
	kept = &archive.Kept{
		Type: found.Type, Charset: found.Charset, Because: found.Because, FileName: ex.FileName,
		LastModified: ex.LastModified, ETag: ex.ETag, Headers: ex.ResponseHeader, Request: ex.RequestHeader,
	}
	p.contain("inspect", ex.URL, func() {
		kept.Inside, err = inspect.File(ctx, inspect.Input{Found: found, Name: ex.FileName, Base: ex.FinalURL, Size: ex.Body.Size(), Body: ex.Body}, inspect.Limits{})
	})
	if err == nil && latest != nil {
		kept.Change = p.change(ctx, *latest, kept, ex)
	}
	if err := errors.Join(err, ctx.Err()); err != nil {
		return nil, err
	}
	kept.Placed, err = p.place(ctx, latest, ex, written)
	return kept, err
}

// noRoom makes a fetch that failed of one whose bytes the disk had no room for.
func noRoom(ex *fetch.Exchange, err error) {
	ex.Outcome, ex.ErrorClass, ex.Why = catalog.NoVersion, catalog.ErrDiskFull, err.Error()
}

// declared is what the server says the file is, or else the catalog.
func declared(job frontier.Job, ex *fetch.Exchange) string {
	if t := mediaType(ex.ContentType); t != "" && t != "application/octet-stream" && t != "text/plain" {
		return ex.ContentType
	}
	if job.Seed.Format != "" {
		return job.Seed.Format
	}
	return ex.ContentType
}

func mediaType(contentType string) string {
	t, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(t))
}

// place gives the bytes to the content store, beside the version before them; a transaction makes them part of it.
func (p *Pipeline) place(ctx context.Context, latest *catalog.Version, ex *fetch.Exchange, written func()) (*content.Placed, error) {
	digests := ex.Body.Digests()
	opts := content.PutOptions{Known: &digests, Written: written}
	if latest != nil {
		opts.Previous = latest.Digests.SHA256
	}
	body := ex.Body.Open()
	defer body.Close()
	placed, err := p.Archive.Bytes().Place(ctx, body, opts)
	if err != nil {
		return nil, fmt.Errorf("store bytes: %w", err)
	}
	return placed, nil
}

// compareTime bounds how long a new version may be compared with the one before.
const compareTime = time.Minute

// change sums up how the new version differs from the latest; nil where that cannot be told, which the log says.
func (p *Pipeline) change(ctx context.Context, latest catalog.Version, kept *archive.Kept, ex *fetch.Exchange) *diff.Summary {
	limited, cancel := context.WithTimeout(ctx, compareTime)
	defer cancel()
	older, inside, closer, err := p.Archive.Side(limited, latest)
	if err != nil {
		p.Log.Warn("versions not compared", "url", ex.URL, "error", err)
		return nil
	}
	defer closer.Close()
	kept.Former = archive.Former{Version: latest.ID, Inside: inside}
	newer := diff.Side{R: ex.Body, Size: ex.Body.Size(), Type: kept.Type, Charset: kept.Charset}
	if kept.Inside != nil && len(kept.Inside.Tables) > 0 {
		newer.Dialect, newer.Schema = archive.DiffDialect(kept.Inside.Tables[0]), archive.DiffSchema(kept.Inside.Tables[0])
	}
	report, err := diff.Compare(limited, older, newer, diff.Options{List: -1, Memory: 64 << 20})
	if err != nil {
		p.Log.Warn("versions not compared", "url", ex.URL, "error", err)
		return nil
	}
	return &report.Summary
}
