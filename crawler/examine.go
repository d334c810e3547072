package crawler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"odarchive/crawler/archive"
	"odarchive/crawler/archive/content"
	"odarchive/crawler/archive/faults"
	"odarchive/crawler/catalog"
	"odarchive/crawler/follow/campaign"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/detect"
	"odarchive/crawler/inspect/diff"
	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/queue/supervise"
	"odarchive/crawler/web/fetch"
)

// examine detects the type of a fetched body, profiles it and makes its bytes durable. If there is nothing to keep,
// visit.Kept is nil and the exchange has the outcome.
func (p *Pipeline) examine(ctx context.Context, job frontier.Job, latest *catalog.Version, before before, ex *fetch.Exchange,
	following *campaign.Visit) (visit archive.Visit, err error) {
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
	if p.honour(ex) {
		return visit, nil
	}
	digests := ex.Body.Digests()
	if latest != nil && latest.Withdrawn != nil && latest.Digests == digests {
		ex.Outcome, ex.Why = catalog.Unchanged, "the same bytes as the latest version, which was withdrawn"
		return visit, nil
	}
	if err := before.refused(digests.SHA256); errors.Is(err, catalog.ErrWithdrawn) { // before any byte is stored
		ex.Outcome, ex.ErrorClass, ex.Why = catalog.NoVersion, catalog.ErrBytesWithdrawn, archive.WhyRefused
		return visit, nil
	} else if err != nil {
		return visit, fmt.Errorf("look for withdrawn bytes: %w", err)
	}
	visit.Examined = &digests.SHA256 // bytes of it may be on disk from now on
	if latest != nil && latest.Digests == digests {
		if following.Fresh() && latest.ErrorPage == "" {
			if err := p.follow(ctx, following, ex, typeOf(*latest)); err != nil {
				return visit, err
			}
		}
		return visit, p.unchanged(ctx, *latest, before, ex, leave)
	}
	found, err := p.detect(ctx, job, ex, &visit)
	if err != nil {
		return visit, fmt.Errorf("detect: %w", err)
	}
	if err := p.follow(ctx, following, ex, found); err != nil {
		// of error pages, too: hosts send one page for many resources, with another Link header
		return visit, err
	}
	why := soft404(job, found)
	if why == "" {
		if why, err = p.sameError(ctx, job, before, ex, found); err != nil && faults.IsOwn(ctx, err) {
			return visit, err
		} else if err != nil {
			p.Log.Warn("not compared with other files of the host", "url", ex.URL, "error", err)
		}
		if why != "" {
			visit.ErrorPage = &digests.SHA256
		}
	}
	if why != "" {
		ex.Outcome, ex.ErrorClass, ex.Why = catalog.NoVersion, catalog.ErrSoft404, why
		return visit, nil
	}
	if p.refuseFound(ex, found) {
		return visit, nil
	}
	err = p.describe(ctx, latest, before, ex, found, p.exchangeOf(ex), &visit, leave)
	return visit, err
}

// Limits of the time that detecting the type of one file, and profiling it, may take.
const (
	detectTime  = time.Minute
	inspectTime = 2 * time.Minute
)

// detect detects the media type. If that fails or takes too long, the file is kept as application/octet-stream.
func (p *Pipeline) detect(ctx context.Context, job frontier.Job, ex *fetch.Exchange, visit *archive.Visit) (found detect.Detection,
	err error) {
	limited, cancel := context.WithTimeout(ctx, detectTime)
	defer cancel()
	err = supervise.Contain(func() (err error) {
		if err := p.step("detect", ex.URL); err != nil {
			return err
		}
		found, err = detect.File(limited, detect.Input{Name: ex.FileName, Declared: declared(job, ex), Size: ex.Body.Size(), Body: ex.Body})
		return err
	})
	if err == nil || faults.IsOwn(ctx, err) {
		return found, err
	}
	visit.Fault = p.fault("detect", ex.URL, err)
	return detect.Detection{Type: "application/octet-stream", Because: "our recognition failed on it"}, nil
}

// unchanged gives the exchange of a body that equals the latest version its outcome. It stores the bytes again if they
// were lost.
func (p *Pipeline) unchanged(ctx context.Context, latest catalog.Version, before before, ex *fetch.Exchange, written func()) error {
	ex.Outcome, ex.Why = catalog.Unchanged, "the same bytes as the latest version"
	if latest.ErrorPage != "" {
		ex.Outcome, ex.ErrorClass, ex.Why = catalog.NoVersion, catalog.ErrSoft404, latest.ErrorPage
	}
	if before.stored(latest) {
		return nil
	}
	body := ex.Body.Open()
	defer body.Close()
	if _, err := p.Archive.Bytes().Put(ctx, body,
		content.PutOptions{Known: &latest.Digests, Written: written, Label: p.label(ex, latest.Type, latest.FileName)}); err != nil {
		return fmt.Errorf("store bytes: %w", err)
	}
	return nil
}

// describe profiles a new version's bytes, compares them with the latest version and stores them. A fault in profiling
// or comparing costs its result; the bytes are kept. wire is what is recorded of the exchange, nil if it is not known.
// written is called when storing needs no processor any more.
func (p *Pipeline) describe(ctx context.Context, latest *catalog.Version, before before, ex *fetch.Exchange, found detect.Detection,
	wire *catalog.Exchange, visit *archive.Visit, written func()) error {
	kept := &archive.Kept{
		Type: found.Type, Charset: found.Charset, Because: found.Because, FileName: ex.FileName,
		LastModified: ex.LastModified, ETag: ex.ETag, Headers: ex.ResponseHeader, Request: ex.RequestHeader,
		Exchange: wire,
	}
	err := supervise.Contain(func() (err error) {
		if err := p.step("inspect", ex.URL); err != nil {
			return err
		}
		in := inspect.Input{Found: found, Name: ex.FileName, Base: ex.FinalURL, Size: ex.Body.Size(), Body: ex.Body}
		kept.Inside, err = inspect.File(ctx, in, inspect.Limits{Time: inspectTime})
		return err
	})
	if err != nil && !faults.IsOwn(ctx, err) {
		visit.Fault = p.fault("inspect", ex.URL, err)
		kept.Inside, err = &inspect.Inside{Faults: []string{visit.Fault}}, nil
	}
	if err == nil && latest != nil {
		fault := supervise.Contain(func() error { kept.Change = before.change(ctx, *latest, kept, ex); return nil })
		if fault != nil {
			visit.Fault = p.fault("compare with the version before", ex.URL, fault)
		}
	}
	if err := errors.Join(err, ctx.Err()); err != nil {
		return err
	}
	if kept.Block, err = blockDigest(ex, wire); err != nil {
		return fmt.Errorf("read the spool: %w", err)
	}
	if kept.Placed, err = before.place(ctx, latest, ex, kept.Type, written); err == nil {
		visit.Kept = kept
	}
	return err
}

// noRoom gives the exchange the outcome of a body for which the disk has no room, and removes the body.
func (p *Pipeline) noRoom(ex *fetch.Exchange, err error) {
	ex.Outcome, ex.ErrorClass, ex.Why = catalog.NoVersion, catalog.ErrDiskFull, err.Error()
	p.remove(ex)
	ex.Body = nil
}

// declared returns the media type that the server declares, or the format that the catalog declares if the server's is
// too general.
func declared(job frontier.Job, ex *fetch.Exchange) string {
	if t := mediaType(ex.ContentType); t != "" && t != "application/octet-stream" && t != "text/plain" {
		return ex.ContentType
	}
	if job.Format != "" {
		return job.Format
	}
	return ex.ContentType
}

func mediaType(contentType string) string {
	t, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(t))
}

// place writes the bytes to the content store, as a delta to the latest version. They become part of it when a
// transaction commits the result.
func (p *Pipeline) place(ctx context.Context, latest *catalog.Version, ex *fetch.Exchange, mediaType string,
	written func()) (*content.Placed, error) {
	digests := ex.Body.Digests()
	opts := content.PutOptions{Known: &digests, Written: written}
	opts.Label = p.label(ex, mediaType, ex.FileName)
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

// label returns the JSON that a pack stores beside a file, for recovery without the database: url, time, type and name.
func (p *Pipeline) label(ex *fetch.Exchange, mediaType, name string) []byte {
	b, err := json.Marshal(struct {
		URL  string    `json:"url"`
		Time time.Time `json:"time"`
		Type string    `json:"type"`
		Name string    `json:"name"`
	}{ex.URL, p.Clock().UTC(), mediaType, name})
	if err != nil {
		return nil // the year is beyond 9999; a file needs no label
	}
	return b
}

// compareTime limits how long comparing a new version with the latest one may take.
const compareTime = time.Minute

// change returns how the new version differs from the latest, or nil, after logging the error, if they cannot be
// compared.
func (p *Pipeline) change(ctx context.Context, latest catalog.Version, kept *archive.Kept, ex *fetch.Exchange) *diff.Summary {
	limited, cancel := context.WithTimeout(ctx, compareTime)
	defer cancel()
	if err := p.step("compare", ex.URL); err != nil {
		p.Log.Warn("versions not compared", "url", ex.URL, "error", err)
		return nil
	}
	older, inside, closer, err := p.Archive.Side(limited, latest)
	if err != nil {
		p.Log.Warn("versions not compared", "url", ex.URL, "error", err)
		return nil
	}
	defer closer.Close()
	kept.Former = archive.Former{Version: latest.ID, Inside: inside}
	newer := sideOf(kept, ex)
	report, err := diff.Compare(limited, older, newer, diff.Options{List: -1, Memory: 64 << 20})
	if err != nil {
		p.Log.Warn("versions not compared", "url", ex.URL, "error", err)
		return nil
	}
	return &report.Summary
}

// sideOf returns the fetched body as one side of a comparison.
func sideOf(kept *archive.Kept, ex *fetch.Exchange) diff.Side {
	file := inspect.Input{Found: detect.Detection{Type: kept.Type, Charset: kept.Charset}, Name: kept.FileName, Size: ex.Body.Size(),
		Body: ex.Body}
	return diff.SideOf(file, kept.Inside)
}
