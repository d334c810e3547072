package crawl

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"odarchive/crawler"
	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/crawler/preserve"
	"odarchive/triplestore/kv"
)

// Preserved is a preserve.Receiver that archives what an export holds. Each version is a transaction, so that what was
// received before a crash stays, and receiving it again adds nothing. Bytes that were withdrawn here and URLs that are never
// kept are counted, and are no error. Close must be called at the end.
type Preserved struct {
	crawl *Crawl
	seed  catalog.Seed
	Count Imported
}

// Preserved returns a receiver that puts files and their versions into the archive. The URLs are registered, but not
// crawled until they are added.
func (c *Crawl) Preserved() *Preserved { return &Preserved{crawl: c} }

var _ preserve.Receiver = (*Preserved)(nil)

// Begin implements preserve.Receiver: it registers the file.
func (p *Preserved) Begin(ctx context.Context, o preserve.Object) error {
	c := p.crawl
	if rest, is := strings.CutPrefix(o.URL, preserve.Imported); is {
		o.URL = c.store.Mint.Base + preserve.Imported + rest
	}
	seed, err := crawler.CleanSeed(catalog.Seed{URL: o.URL, Title: o.Title, Format: o.Format})
	if err != nil {
		p.Count.Faults++
		return &preserve.Bad{Err: err}
	}
	p.seed = seed
	seeds := []catalog.Seed{}
	for _, s := range o.Sources {
		one := seed
		one.Portal, one.Dataset, one.DatasetTitle = s.Portal, s.Dataset, s.DatasetTitle
		if one, err = crawler.CleanSeed(one); err == nil && s.Delisted.IsZero() {
			seeds = append(seeds, one)
		}
	}
	if len(seeds) == 0 {
		seeds = append(seeds, seed)
	}
	also := func(txn *kv.Txn) error { return c.Frontier.ImportIn(txn, seed.URL) }
	_, err = c.store.Archive.Register(ctx, c.store.Clock(), archive.Listing{Seeds: seeds}, also)
	return err
}

// Version implements preserve.Receiver.
func (p *Preserved) Version(ctx context.Context, v preserve.Version, body io.Reader) error {
	outcome, err := p.keep(ctx, v, body)
	if isRefused(err) { // an archive that must not have it has no fault
		p.Count.Withdrawn++
		return nil
	}
	if _, ofFile := errors.AsType[*captureError](err); ofFile && !ends(ctx, err) {
		err = &preserve.Bad{Err: err}
	}
	switch {
	case err != nil:
		p.Count.Faults++
		return err
	case outcome == catalog.Archived:
		p.Count.Versions++
	case outcome == catalog.Unchanged:
		p.Count.Unchanged++
	default:
		p.Count.Others++
	}
	return nil
}

func (p *Preserved) keep(ctx context.Context, v preserve.Version, in io.Reader) (outcome catalog.Outcome, err error) {
	c := p.crawl
	bad := func(err error) error { return &captureError{fmt.Errorf("version %d: %w", v.N, err)} }
	switch {
	case in == nil:
		return catalog.NoVersion, nil // it was withdrawn
	case v.Time.After(c.store.Clock().Add(maxAhead)):
		return "", bad(errors.New("its date is in the future"))
	case v.Time.Unix() < 0:
		return "", bad(errors.New("its date is before 1970"))
	}
	body := c.Spool.Create()
	defer func() { err = errors.Join(err, body.Remove()) }()
	limit := int64(c.store.Config.Fetch.MaxBody)
	n, err := io.Copy(body, io.LimitReader(&reader{ctx, in}, limit+1))
	if err == nil && n > limit {
		err = bad(fmt.Errorf("it is longer than --max-body, %s", c.store.Config.Fetch.MaxBody))
	}
	if err != nil {
		return "", err
	}
	if n == 0 {
		return catalog.NoVersion, nil
	}
	if err := body.Finish(); err != nil {
		return "", err
	}
	sum := body.Digests().SHA256
	if got := hex.EncodeToString(sum[:]); v.SHA256 != "" && got != v.SHA256 {
		return "", bad(fmt.Errorf("its SHA-256 is %s, not that of its record", got))
	}
	im := crawler.Imported{
		URL: p.seed.URL, FinalURL: v.FinalURL, At: v.Time, Status: v.Status, Header: v.HTTPHeader(), Truncated: v.Truncated,
		Format: v.Format, Exchange: v.Exchange.Catalog(), Body: body,
	}
	return c.Pipeline.Import(ctx, im)
}

// End implements preserve.Receiver.
func (p *Preserved) End(context.Context) error { return nil }

// Close finishes what was received.
func (p *Preserved) Close(ctx context.Context) error { return p.crawl.Pipeline.JoinAll(ctx) }
