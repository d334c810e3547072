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
	"odarchive/crawler/inspect/apart"
	"odarchive/crawler/inspect/detect"
	"odarchive/crawler/inspect/diff"
	"odarchive/crawler/inspect/examine"
	"odarchive/crawler/inspect/packed"
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
	doc, err := p.open(ctx, ex, &visit)
	if err != nil {
		return visit, err
	}
	defer doc.Close()
	found, err := p.detect(ctx, doc, fileOf(job, ex), ex.URL, &visit)
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
	stored := func() {
		doc.Close() // before the bytes are on disk: somebody else may need its place
		leave()
	}
	err = p.describe(ctx, latest, before, doc, fileOf(job, ex), ex, found, p.exchangeOf(ex), &visit, stored)
	return visit, err
}

// open begins the examination of a fetched body. A body during whose examination the program has ended twice is set
// aside: the document is nil then, and the visit has the fault.
func (p *Pipeline) open(ctx context.Context, ex *fetch.Exchange, visit *archive.Visit) (*examine.Document, error) {
	doc, err := p.Examine.Open(ctx, examine.Crawl, examine.About{SHA256: ex.Body.Digests().SHA256, URL: ex.URL}, bodyOf(ex))
	if errors.Is(err, examine.ErrSetAside) {
		visit.Fault = p.fault("examine", ex.URL, err)
		return nil, nil
	}
	return doc, own(err)
}

// own makes an error about processes that cannot be started, or that others end, trouble of this machine: the crawl
// waits.
func own(err error) error {
	if errors.Is(err, apart.ErrOurs) {
		return &fetch.OwnTrouble{Kind: fetch.TroubleExamining, Err: err}
	}
	return err
}

func bodyOf(ex *fetch.Exchange) examine.Body { return examine.Body{Size: ex.Body.Size(), R: ex.Body} }

// fileOf returns what is known of a fetched body beside its bytes.
func fileOf(job frontier.Job, ex *fetch.Exchange) examine.File {
	return examine.File{Name: ex.FileName, Declared: declared(job, ex), Base: ex.FinalURL}
}

// detect detects the media type. If that fails or takes too long, the file is kept as application/octet-stream.
func (p *Pipeline) detect(ctx context.Context, doc *examine.Document, file examine.File, url string,
	visit *archive.Visit) (found detect.Detection, err error) {
	if doc == nil {
		return detect.Detection{Type: "application/octet-stream", Because: "it is not examined"}, nil
	}
	err = supervise.Contain(func() (err error) {
		if err := p.step("detect", url); err != nil {
			return err
		}
		found, err = doc.Detect(ctx, file)
		return own(err)
	})
	if err == nil || endsVisit(ctx, err) {
		return found, err
	}
	visit.Fault = p.fault("detect", url, err)
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
func (p *Pipeline) describe(ctx context.Context, latest *catalog.Version, before before, doc *examine.Document, file examine.File,
	ex *fetch.Exchange, found detect.Detection, wire *catalog.Exchange, visit *archive.Visit, written func()) error {
	kept := &archive.Kept{
		Type: found.Type, Charset: found.Charset, Because: found.Because, FileName: ex.FileName,
		LastModified: ex.LastModified, ETag: ex.ETag, Headers: ex.ResponseHeader, Request: ex.RequestHeader,
		Exchange: wire,
	}
	err := supervise.Contain(func() (err error) {
		if err := p.step("inspect", ex.URL); err != nil {
			return err
		}
		if doc == nil {
			return examine.ErrSetAside
		}
		file.Found = found
		inside, err := doc.Profile(ctx, file)
		kept.Packed, kept.Inside = &inside, inside.Inside
		return own(err)
	})
	if err != nil && !endsVisit(ctx, err) {
		visit.Fault = p.fault("inspect", ex.URL, err)
		kept.Inside, err = &inspect.Inside{Faults: []string{visit.Fault}}, nil
	}
	if err == nil && latest != nil && doc != nil {
		fault := supervise.Contain(func() error { kept.Change = before.change(ctx, *latest, kept, doc, ex.URL); return nil })
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
func (p *Pipeline) change(ctx context.Context, latest catalog.Version, kept *archive.Kept, doc *examine.Document,
	url string) *diff.Summary {
	if err := p.step("compare", url); err != nil {
		p.Log.Warn("versions not compared", "url", url, "error", err)
		return nil
	}
	return p.compare(ctx, latest, kept, doc, url, true)
}

// compare compares a document with another version of its URL, of which it is the newer or the older one, as change
// does.
func (p *Pipeline) compare(ctx context.Context, other catalog.Version, kept *archive.Kept, doc *examine.Document, url string,
	newer bool) *diff.Summary {
	limited, cancel := context.WithTimeout(ctx, compareTime)
	defer cancel()
	side, closer, err := p.Archive.Side(limited, other)
	if err == nil {
		defer closer.Close()
		if newer {
			kept.Former = archive.Former{Version: other.ID, Inside: side.Inside.Inside}
		}
		own := examine.Side{Type: kept.Type, Charset: kept.Charset, Name: kept.FileName}
		if own.Inside = (packed.Inside{Inside: kept.Inside}); kept.Packed != nil && kept.Packed.Inside == kept.Inside {
			own.Inside = *kept.Packed
		}
		var report *diff.Report
		report, err = doc.Compare(limited, own, side, newer, diff.Options{List: -1, Memory: 64 << 20}, compareTime)
		if err == nil {
			return &report.Summary
		}
	}
	p.Log.Warn("versions not compared", "url", url, "error", err)
	return nil
}
